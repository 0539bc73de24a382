// Urgent before normal before bulk: who leads a batch, what is left to whom, and that nobody waits for ever.
import { beforeEach, describe, expect, test } from 'vitest'
import { MAX_OVERTAKEN_BYTES } from '../../../src/core/scheduler/lanes.ts'
import { LANES } from '../../../src/core/scheduler/lane.ts'
import { pattern } from '../../../testing/protocol/frames.ts'
import { createDataLanes, createStream, fillBatch, FRAME_BYTES, shares } from '../../../testing/core/lanes.ts'
import type { Lane } from '../../../src/core/scheduler/lane.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

let lanes: ReturnType<typeof createDataLanes>

function enlist (id: number, lane: Lane, ...queued: number[]): StreamState {
  const stream = createStream(id, { queued })
  stream.lane = LANES.indexOf(lane)
  stream.creditBytes += 100_000_000
  lanes.enlist(stream)

  return stream
}

function fill (maxBytes = 1_000_000, { reservedBytes = 0, maxFrames = Infinity } = {}): Frame[] {
  return fillBatch(batch => { lanes.fill(batch, reservedBytes, 0, false, false) }, maxBytes, maxFrames)
}

function ids (frames: Frame[]): number[] {
  return frames.map(({ id }) => id)
}

beforeEach(() => { lanes = createDataLanes() })

describe('a batch', () => {
  test('is led by urgent data that comes while bulk is in the middle of a message', () => {
    enlist(1, 'bulk', 50_000)
    fill(16_396)
    enlist(3, 'urgent', 10)

    expect(ids(fill())).toEqual([3, 1, 1, 1])
  })
})

describe('frames', () => {
  test('are small while a stream waits in another lane, and large when nobody does', () => {
    lanes = createDataLanes({ loneFrameBytes: 65_507 })
    enlist(1, 'bulk', 200_000)
    expect(shares(fill(65_519))).toEqual([[1, 65_507]])

    enlist(3, 'normal', 20_000)
    expect(shares(fill(65_519, { maxFrames: 3 }))).toEqual([[3, 16_384], [3, 3616], [1, 45_483]])
    enlist(5, 'normal', 40_000)
    expect(shares(fill(65_519, { maxFrames: 1 }))).toEqual([[5, 16_384]])
  })
})

describe('what is reserved', () => {
  test('is left free by normal and bulk data', () => {
    enlist(1, 'bulk', 60_000)
    enlist(3, 'normal', 100_000)

    expect(shares(fill(40_000, { reservedBytes: 10_000 }))).toEqual([[3, 16_384], [3, 13_592]])
    expect(fill(40_000).reduce((sum, { length }) => sum + 12 + length, 0)).toBe(40_000)
  })

  test('is there for urgent data, which may take all of the batch', () => {
    enlist(1, 'bulk', 100_000)
    enlist(3, 'urgent', 100_000)

    expect(ids(fill(40_000, { reservedBytes: 30_000 }))).toEqual([3, 3, 3])
  })

  test('keeps a lane that waited too long from more than the rest', () => {
    enlist(1, 'bulk', 500_000)
    enlist(3, 'urgent', 1_000_000)
    fill(MAX_OVERTAKEN_BYTES + 8 * 12)

    expect(shares(fill(30_000, { reservedBytes: 20_000 }))).toEqual([[1, 9988], [3, 16_384], [3, 3592]])
  })

  test('does not end a batch in which the rest is too little for a frame of the others', () => {
    enlist(1, 'bulk', 500_000)
    enlist(3, 'urgent', 1_000_000)
    const frames = fill(MAX_OVERTAKEN_BYTES + 8 * 12 + 20_512, { reservedBytes: 20_000 })

    expect(shares(frames.slice(8))).toEqual([[3, 16_384], [3, 4104]])
    expect(ids(fill(40_000, { reservedBytes: 20_000 }))[0]).toBe(1)
  })
})

describe('a lane that others go before', () => {
  test.each([
    ['urgent', 'normal'],
    ['urgent', 'bulk'],
    ['normal', 'bulk']
  ] as const)('sends a frame after 128 KiB of them (%s before %s)', (ahead, behind) => {
    enlist(1, behind, 500_000)
    enlist(3, ahead, 500_000)
    const order = ids(fill(400_000))

    expect(order.slice(0, 9)).toEqual([...Array(8).fill(3), 1])
    expect(order.slice(9, 18)).toEqual([...Array(8).fill(3), 1])
  })

  test('waits for one frame more when the lane between has waited as long', () => {
    enlist(1, 'bulk', 500_000)
    enlist(3, 'normal', 500_000)
    enlist(5, 'urgent', 500_000)

    expect(ids(fill(200_000)).slice(0, 11)).toEqual([...Array(8).fill(5), 3, 1, 5])
  })

  test('counts only what went before it while it waited', () => {
    enlist(3, 'urgent', 500_000)
    fill(MAX_OVERTAKEN_BYTES + 8 * 12)
    enlist(1, 'bulk', 500_000)

    expect(ids(fill(20_000))).toEqual([3, 3])
  })

  test('counts anew when it has been empty', () => {
    const first = enlist(1, 'bulk', 500_000)
    enlist(3, 'urgent', 1_000_000)
    fill(7 * (12 + FRAME_BYTES))
    lanes.discard(first)
    enlist(5, 'bulk', 500_000)

    expect(ids(fill(200_000)).slice(0, 9)).toEqual([...Array(8).fill(3), 5])
  })
})

describe('a stream that changes lane', () => {
  test('does so too when it has nothing queued, or no credit', () => {
    const idle = enlist(1, 'bulk')
    lanes.move(idle, LANES.indexOf('urgent'))
    expect([lanes.streamCount, lanes.hasUrgent]).toEqual([0, false])

    idle.sendQueue.push(pattern(10))
    lanes.onQueued(idle, 10)
    expect([lanes.streamCount, lanes.hasUrgent, lanes.queuedBytes]).toEqual([1, true, 10])
  })
})
