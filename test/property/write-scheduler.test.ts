// Law: a batch with room for everything is, frame by frame, what lists and loops would write.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LANES } from '../../src/core/scheduler/lane.ts'
import { PENDING_ACK, PENDING_FIN, PENDING_RST, PENDING_SYN, PENDING_UPDATE } from '../../src/core/stream-state.ts'
import { createScheduler, createStream, fillBatch, FRAME_BYTES } from '../../testing/core/lanes.ts'
import { ACK, DATA, FIN, GO_AWAY, PING, RST, SYN, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'

const LONE_FRAME_BYTES = 40_000
const READ_BYTES = 200_000
/** All that the lanes in front can send: less than what lets a lane behind go in between */
const MAX_BYTES = 130_000
const BATCH_BYTES = 1_000_000

type Line = [type: number, flags: number, id: number, length: number]

interface Intent {
  pending: number
  lane: number
  /** Of which it may send `creditBytes` */
  queuedBytes: number
  creditBytes: number
}

const bytes = fc.oneof(fc.constant(0), fc.nat(300), fc.nat(20_000), fc.nat(100_000))
const intents = fc.array(fc.record<Intent>({
  pending: fc.constantFrom(0, 0, PENDING_SYN, PENDING_ACK, PENDING_UPDATE, PENDING_ACK | PENDING_UPDATE, PENDING_SYN | PENDING_FIN, PENDING_ACK | PENDING_FIN, PENDING_RST),
  lane: fc.nat(LANES.length - 1),
  queuedBytes: bytes,
  creditBytes: bytes
}), { maxLength: 8, size: 'max' })
  // what is queued comes before a FIN, and is discarded with a RST
  .map(streams => streams.map(stream => (stream.pending & (PENDING_FIN | PENDING_RST)) === 0 ? stream : { ...stream, queuedBytes: 0 }))
  .filter(streams => streams.reduce((sum, { queuedBytes }) => sum + queuedBytes, 0) < MAX_BYTES)

const replies = fc.record({
  pongs: fc.array(fc.nat(1000), { maxLength: 3 }),
  refusedIds: fc.array(fc.integer({ min: 100, max: 200 }), { maxLength: 3 }),
  ping: fc.option(fc.nat(1000), { nil: undefined }),
  goAwayCode: fc.option(fc.nat(2), { nil: undefined })
})

type Replies = typeof replies extends fc.Arbitrary<infer T> ? T : never

/** Replies, then what streams owe, the FIN of one that is just opened last, then go away; SYN and ACK ride on data if there is nothing else to say */
function controlOf ({ pongs, refusedIds, ping, goAwayCode }: Replies, streams: Intent[]): Line[] {
  const owed = streams.flatMap(({ pending, ...stream }, id): Line[] => {
    const ridesOnData = sendableBytes(stream) > 0 && (pending & PENDING_UPDATE) === 0

    return pending === 0 || ridesOnData ? [] : [[WINDOW_UPDATE, pending & (SYN | ACK | RST), id, (pending & PENDING_UPDATE) === 0 ? 0 : READ_BYTES]]
  })
  const fins = streams.flatMap(({ pending }, id): Line[] => (pending & PENDING_FIN) === 0 ? [] : [[WINDOW_UPDATE, FIN, id, 0]])

  return [
    ...pongs.map((value): Line => [PING, ACK, 0, value]),
    ...refusedIds.map((id): Line => [WINDOW_UPDATE, RST, id, 0]),
    ...(ping == null ? [] : [[PING, SYN, 0, ping] satisfies Line]),
    ...owed,
    ...fins,
    ...(goAwayCode == null ? [] : [[GO_AWAY, 0, 0, goAwayCode] satisfies Line])
  ]
}

/** Lane by lane, who has little first, then in turns of a frame; who has nobody beside it sends larger ones */
function dataOf (streams: Intent[]): Line[] {
  const lines: Line[] = []
  const left = streams.map(sendableBytes)
  const first = streams.map(({ pending }) => (pending & PENDING_UPDATE) === 0 ? pending & (SYN | ACK) : 0)

  for (const lane of LANES.keys()) {
    const ids = [...streams.keys()].filter(id => streams[id].lane === lane && left[id] > 0)
    const turns = [...ids.filter(id => hasLittle(streams[id])), ...ids.filter(id => !hasLittle(streams[id]))]

    for (let id = turns.shift(); id != null; id = turns.shift()) {
      const isAlone = left.filter(bytes => bytes > 0).length === 1
      const length = Math.min(left[id], isAlone ? LONE_FRAME_BYTES : FRAME_BYTES)
      left[id] -= length
      lines.push([DATA, first[id], id, length])
      first[id] = 0

      if (left[id] > 0) {
        turns.push(id)
      }
    }
  }

  return lines
}

function hasLittle ({ queuedBytes }: Intent): boolean {
  return queuedBytes <= FRAME_BYTES
}

function sendableBytes ({ queuedBytes, creditBytes }: Pick<Intent, 'queuedBytes' | 'creditBytes'>): number {
  return Math.min(queuedBytes, creditBytes)
}

test('replies come first, then what streams owe, then their data by lane and in turns', () => {
  fc.assert(fc.property(intents, replies, (intents, replies) => {
    const scheduler = createScheduler({ loneFrameBytes: LONE_FRAME_BYTES })
    replies.pongs.forEach(value => { scheduler.control.pong(value) })
    replies.refusedIds.forEach(id => { scheduler.control.refuse(id) })

    if (replies.ping != null) {
      scheduler.control.ping(replies.ping)
    }

    if (replies.goAwayCode != null) {
      scheduler.control.goAway(replies.goAwayCode)
    }

    for (const [id, { pending, lane, queuedBytes, creditBytes }] of intents.entries()) {
      const stream = createStream(id, { pending, queued: queuedBytes > 0 ? [queuedBytes] : [] })
      stream.lane = lane
      stream.creditBytes -= stream.creditBytes - creditBytes
      stream.receiveWindow.receive(READ_BYTES, id)
      stream.receiveWindow.read(READ_BYTES, 0)

      if (pending !== 0) {
        scheduler.control.enlist(stream)
      }

      scheduler.data.onQueued(stream, queuedBytes)
    }

    const frames = fillBatch(batch => { scheduler.fill(batch, 0, 0) }, BATCH_BYTES)
    expect(frames.map(({ type, flags, id, length }): Line => [type, flags, id, length])).toEqual([...controlOf(replies, intents), ...dataOf(intents)])
  }), { numRuns: 300 })
})
