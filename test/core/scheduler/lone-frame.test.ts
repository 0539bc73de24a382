// The frame of a message that waits alone: the same bytes and the same accounts as through a batch, or none.
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BULK, NORMAL, URGENT } from '../../../src/core/scheduler/lane.ts'
import { parseFrames } from '../../../testing/protocol/frames.ts'
import { createSession, pullAll } from '../../../testing/core/sessions.ts'
import { createDataLanes, createStream, fillBatch, FRAME_BYTES, WINDOW_BYTES } from '../../../testing/core/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

const NOW_MS = 77
const MAX_BYTES = 4096

interface Setup {
  queued: number[]
  maxWholeBytes?: number
  creditBytes: number
  lane: number
  /** What the stream has sent before */
  sentBefore: number
  isClosing: boolean
  awaitsDrain: boolean
  awaitsIdle: boolean
}

function prepare ({ queued, maxWholeBytes, creditBytes, lane, sentBefore, isClosing, awaitsDrain, awaitsIdle }: Setup) {
  const news: number[] = []
  const lanes = createDataLanes({ emit: (_, event) => { news.push(event) }, onFinBatched: () => { news.push(0) } })
  const stream = createStream(1, { queued: sentBefore > 0 ? [sentBefore] : [], maxWholeBytes })
  lanes.move(stream, lane)
  fillBatch(batch => { lanes.fill(batch, 0, 0, false, false) }, 65_519, Infinity)

  queued.forEach(size => { stream.sendQueue.add(new Uint8Array(size).fill(size), size) })
  stream.creditBytes = creditBytes
  Object.assign(stream, { awaitsDrain, awaitsIdle })

  if (isClosing) {
    stream.become('close')
  }

  lanes.enlist(stream)

  return { lanes, stream, news }
}

function fill (lanes: ReturnType<typeof createDataLanes>): Frame[] {
  return fillBatch(batch => { lanes.fill(batch, 0, NOW_MS, false, false) }, MAX_BYTES, Infinity)
}

function accountsOf (lanes: ReturnType<typeof createDataLanes>, stream: StreamState): unknown[] {
  const { queuedBytes, streamCount, hasUrgent } = lanes
  const { creditBytes, roundBytes, deficitBytes, dataFramesSent, lastActiveMs, isInDataLane, sendQueue } = stream

  return [queuedBytes, streamCount, hasUrgent, creditBytes, roundBytes, deficitBytes, dataFramesSent, lastActiveMs, isInDataLane, sendQueue.byteLength]
}

const rarely = fc.integer({ min: 0, max: 4 }).map(n => n === 0)

const setups: fc.Arbitrary<Setup> = fc.record({
  queued: fc.array(fc.integer({ min: 1, max: 4200 }), { minLength: 1, maxLength: 2 }),
  maxWholeBytes: fc.constantFrom(undefined, 1024, FRAME_BYTES),
  creditBytes: fc.constantFrom(0, 1, 50, 4000, WINDOW_BYTES, WINDOW_BYTES),
  lane: fc.constantFrom(URGENT, NORMAL, BULK),
  sentBefore: fc.constantFrom(0, 100),
  isClosing: rarely,
  awaitsDrain: rarely,
  awaitsIdle: rarely
})

test('is what a batch would hold, leaves all as the batch does, and tells nobody of anything; else nothing has changed', () => {
  let taken = 0

  fc.assert(fc.property(setups, setup => {
    const lone = prepare(setup)
    const batched = prepare(setup)
    const frame = lone.lanes.takeLone(MAX_BYTES, NOW_MS)
    const frames = fill(batched.lanes)

    if (frame === undefined) {
      expect(fill(lone.lanes)).toEqual(frames)
      expect(lone.news).toEqual(batched.news)
    } else {
      taken++
      expect(parseFrames(frame)).toEqual(frames)
      expect(batched.news).toEqual([])
    }

    expect(accountsOf(lone.lanes, lone.stream)).toEqual(accountsOf(batched.lanes, batched.stream))
  }), { numRuns: 2000 })

  expect(taken).toBeGreaterThan(100)
})

test('is not made of one stream while another waits, in whatever lane', () => {
  for (const lane of [URGENT, NORMAL, BULK]) {
    const { lanes } = prepare({ queued: [10], creditBytes: WINDOW_BYTES, lane: NORMAL, sentBefore: 0, isClosing: false, awaitsDrain: false, awaitsIdle: false })
    const other = createStream(3, { queued: [10] })
    lanes.move(other, lane)

    expect(lanes.takeLone(MAX_BYTES, NOW_MS)).toBeUndefined()
    expect(fill(lanes)).toHaveLength(2)
  }
})

test('leaves free what is reserved for urgent data, where the transport was full and there are urgent streams', () => {
  const session = createSession()
  const [urgent, normal] = [session.open(0), session.open(0)]
  session.setLane(urgent, URGENT)
  pullAll(session)
  session.send(normal, new Uint8Array(4000))

  expect(session.sender.pull(MAX_BYTES, Infinity, NOW_MS, 3072)?.byteLength).toBeLessThanOrEqual(MAX_BYTES - 3072)
})
