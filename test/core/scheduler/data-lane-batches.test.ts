// What the data lane counts and tells, and how much of a batch it takes.
import { beforeEach, describe, expect, test } from 'vitest'
import { EVENT_DRAINED } from '../../../src/core/stream-state.ts'
import { pattern } from '../../fixtures/frames.ts'
import { createDataLanes, createStream, fillBatch, shares, WINDOW_BYTES } from '../fixtures/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../fixtures/frames.ts'

const LOW_WATER_MARK_BYTES = 1000

let lane: ReturnType<typeof createDataLanes>
let news: Array<[id: number, news: number]>
let finsInBatch: number[]

function createLane (): void {
  news = []
  finsInBatch = []
  lane = createDataLanes({
    lowWaterMarkBytes: LOW_WATER_MARK_BYTES,
    emit: (stream, event) => { news.push([stream.id, event]) },
    onFinWritten: stream => { finsInBatch.push(stream.id) }
  })
}

function enlist (...streams: StreamState[]): void {
  streams.forEach(stream => { lane.enlist(stream, stream.sendQueue.byteLength) })
}

function fill (maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { lane.fill(batch, maxFrames, 0, 0) }, maxBytes)
}

beforeEach(() => { createLane() })

describe('the owner of a stream', () => {
  test('is told when all was taken', () => {
    enlist(createStream(1, { queued: [20_000] }))

    fill(10_000)
    expect(news).toEqual([])

    fill()
    expect(news).toEqual([[1, EVENT_DRAINED]])
  })

  test('is told at the low mark when a writer waits', () => {
    const stream = createStream(1, { queued: [17_384] })
    stream.awaitsDrain = true
    enlist(stream)

    fill(65_519, 1)
    expect(stream.sendQueue.byteLength).toBe(LOW_WATER_MARK_BYTES)
    expect(news).toEqual([[1, EVENT_DRAINED]])
  })

  test('is not told above the low mark', () => {
    const stream = createStream(1, { queued: [17_385] })
    stream.awaitsDrain = true
    enlist(stream)
    fill(65_519, 1)

    expect(news).toEqual([])
  })

  test('is named when its FIN is in a batch', () => {
    const stream = createStream(1, { queued: [5] })
    stream.isClosing = true
    enlist(stream)
    fill()

    expect(news).toEqual([[1, EVENT_DRAINED]])
    expect(finsInBatch).toEqual([1])
  })
})

describe('the bytes of the lane', () => {
  test('are counted while they can be sent', () => {
    const stream = createStream(1, { queued: [100] })
    enlist(stream, createStream(3, { queued: [50] }))
    expect(lane.queuedBytes).toBe(150)
    expect(lane.streamCount).toBe(2)

    stream.sendQueue.push(pattern(30))
    lane.enlist(stream, 30)
    expect(lane.queuedBytes).toBe(180)
    expect(lane.streamCount).toBe(2)

    fill()
    expect(lane.queuedBytes).toBe(0)
    expect(lane.streamCount).toBe(0)
  })

  test('are not counted while the peer gives no credit', () => {
    const stream = createStream(1, { queued: [1000] })
    stream.creditBytes -= WINDOW_BYTES - 400
    enlist(stream)
    fill()
    expect(lane.queuedBytes).toBe(0)

    stream.creditBytes += 1
    lane.enlist(stream, 0)
    expect(lane.queuedBytes).toBe(600)
  })

  test('of a stream that is discarded are gone at once, and are never sent', () => {
    const discarded = createStream(1, { queued: [500] })
    enlist(discarded, createStream(3, { queued: [50] }))
    lane.discard(discarded)

    expect(lane.queuedBytes).toBe(50)
    expect(shares(fill())).toEqual([[3, 50]])
    expect(lane.queuedBytes).toBe(0)
    expect(lane.streamCount).toBe(0)
  })

  test('of a blocked stream that is discarded are not subtracted again', () => {
    const blocked = createStream(1, { queued: [500] })
    blocked.creditBytes -= WINDOW_BYTES
    enlist(blocked, createStream(3, { queued: [50] }))
    lane.discard(blocked)

    expect(lane.queuedBytes).toBe(50)
    expect(blocked.sendQueue.byteLength).toBe(0)
  })
})

describe('a batch', () => {
  test('is filled up to its last byte', () => {
    enlist(createStream(1, { queued: [100_000] }))

    expect(shares(fill(20_000))).toEqual([[1, 16_384], [1, 3592]])
  })

  test('ends after its last frame', () => {
    enlist(createStream(1, { queued: [100_000] }))

    expect(shares(fill(65_519, 2))).toEqual([[1, 16_384], [1, 16_384]])
  })

  test('cuts no frame to less than 1,024 bytes at its end', () => {
    enlist(createStream(1, { queued: [16_384] }), createStream(3, { queued: [16_384] }))

    expect(shares(fill(12 + 16_384 + 12 + 1023))).toEqual([[1, 16_384]])
    expect(shares(fill(12 + 1024))).toEqual([[3, 1024]])
  })

  test('that is smaller than that takes what it can: there will be no larger one', () => {
    enlist(createStream(1, { queued: [16_384] }))

    expect(shares(fill(112))).toEqual([[1, 100]])
  })

  test('does not cut a message that is to stay one frame', () => {
    enlist(createStream(1, { queued: [10_000, 10_000], maxWholeBytes: 16_384 }))

    expect(shares(fill(12 + 10_000 + 12 + 9999))).toEqual([[1, 10_000]])
    expect(shares(fill(12 + 10_000))).toEqual([[1, 10_000]])
  })

  test('is longer than it may be where one message needs that, however much is reserved, but holds no other data then', () => {
    enlist(createStream(1, { queued: [10_000, 10_000], maxWholeBytes: 16_384 }), createStream(3, { queued: [5000], maxWholeBytes: 16_384 }))

    expect(shares(fill(2048))).toEqual([[1, 10_000]])
    expect(shares(fillBatch(batch => { lane.fill(batch, Infinity, 1024, 0) }, 2048))).toEqual([[3, 5000]])
    expect(shares(fill(2048))).toEqual([[1, 10_000]])
    expect(fill(2048)).toEqual([])
  })

  test('takes a small frame into a small room', () => {
    enlist(createStream(1, { queued: [16_384] }), createStream(3, { queued: [10] }))

    expect(shares(fill(12 + 16_384 + 12 + 10))).toEqual([[1, 16_384], [3, 10]])
  })

  test('without room for a header stays as it is', () => {
    enlist(createStream(1, { queued: [1] }))

    expect(fill(12)).toEqual([])
    expect(shares(fill(13))).toEqual([[1, 1]])
  })
})
