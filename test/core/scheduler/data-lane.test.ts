// How one stream's bytes become frames: what a frame holds, which flags ride on it, how much of a batch it takes, what its owner is told.
import { beforeEach, describe, expect, test } from 'vitest'
import { HIGH_WATERMARK_BYTES, LOW_WATERMARK_PART } from '../../../src/core/scheduler/watermarks.ts'
import { EVENT_DRAINED, PENDING_ACK, PENDING_UPDATE } from '../../../src/core/stream-state.ts'
import { ACK } from '../../../testing/protocol/frames.ts'
import { createDataLanes, createStream, fillBatch, shares, WINDOW_BYTES } from '../../../testing/core/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

const LOW_WATER_MARK_BYTES = LOW_WATERMARK_PART * HIGH_WATERMARK_BYTES
const NOW_MS = 77

let lane: ReturnType<typeof createDataLanes>
let news: Array<[id: number, news: number]>
/** The streams whose FIN found no room */
let finsDue: number[]

function createLane (): void {
  news = []
  finsDue = []
  lane = createDataLanes({
    emit: (stream, event) => { news.push([stream.id, event]) },
    onFinDue: stream => { finsDue.push(stream.id) }
  })
}

function enlist (...streams: StreamState[]): void {
  streams.forEach(stream => { lane.onQueued(stream, stream.sendQueue.byteLength) })
}

function fill (maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { lane.fill(batch, 0, NOW_MS, false, false) }, maxBytes, maxFrames)
}

beforeEach(() => { createLane() })

describe('a data frame', () => {
  test('holds a message whole where messages are not merged: it waits for credit for all of it', () => {
    const stream = createStream(1, { queued: [1000], maxWholeBytes: 16_384 })
    stream.creditBytes -= WINDOW_BYTES - 999
    enlist(stream)
    expect(fill()).toEqual([])

    stream.creditBytes += 1
    lane.enlist(stream)
    expect(shares(fill())).toEqual([[1, 1000]])
  })

  test('tells the stream when bytes last moved', () => {
    const stream = createStream(1, { queued: [1] })
    enlist(stream)
    fill()

    expect(stream.lastActiveMs).toBe(NOW_MS)
  })

  test('leaves to the control lane what it cannot carry', () => {
    const stream = createStream(1, { pending: PENDING_ACK | PENDING_UPDATE, queued: [1] })
    enlist(stream)

    expect(fill()[0].flags).toBe(ACK)
    expect(stream.pending).toBe(PENDING_UPDATE)
  })
})

describe('a FIN', () => {
  test.each([
    ['bytes', 12 + 5 + 11, Infinity],
    ['frames', 65_519, 1]
  ])('that finds no room in a batch full of %s is left to others, and is not news yet', (_, maxBytes, maxFrames) => {
    const stream = createStream(1, { queued: [5] })
    stream.become('close')
    enlist(stream)

    expect(shares(fill(maxBytes, maxFrames))).toEqual([[1, 5]])
    expect(finsDue).toEqual([1])
    expect(news).toEqual([])
  })
})

describe('a batch', () => {
  test('cuts no frame to less than 1,024 bytes at its end', () => {
    enlist(createStream(1, { queued: [16_384] }), createStream(3, { queued: [16_384] }))

    expect(shares(fill(12 + 16_384 + 12 + 1023))).toEqual([[1, 16_384]])
    expect(shares(fill(12 + 1024))).toEqual([[3, 1024]])
  })

  test('takes a message that must not be cut where it has room for just that', () => {
    enlist(createStream(1, { queued: [5000], maxWholeBytes: 16_384 }), createStream(3, { queued: [3000], maxWholeBytes: 16_384 }))

    expect(shares(fill(12 + 5000 + 12 + 3000))).toEqual([[1, 5000], [3, 3000]])
  })

  test('that is smaller than that takes what it can: there will be no larger one', () => {
    enlist(createStream(1, { queued: [16_384] }))

    expect(shares(fill(112))).toEqual([[1, 100]])
  })

  test('is longer than it may be where one message needs that, however much is reserved, but holds no other data then', () => {
    enlist(createStream(1, { queued: [8000, 8000], maxWholeBytes: 16_384 }), createStream(3, { queued: [5000], maxWholeBytes: 16_384 }))

    expect(shares(fill(2048))).toEqual([[1, 8000]])
    expect(shares(fillBatch(batch => { lane.fill(batch, 1024, 0, false, false) }, 2048))).toEqual([[1, 8000]])
    expect(shares(fill(2048))).toEqual([[3, 5000]])
    expect(fill(2048)).toEqual([])
  })

  test.each([
    ['cuts a message that is longer', 16_384, [4096, 4096, 1808]],
    ['is as long as a message where it is small for a slow path', 4096, [10_000]]
  ])('%s', (_, shareBytes, frames) => {
    lane.setQuantum(shareBytes)
    enlist(createStream(1, { queued: [10_000], maxWholeBytes: 16_384, mergeFromBytes: 16_384 }))
    const sent = frames.flatMap(() => shares(fill(12 + 4096)))

    expect(sent).toEqual(frames.map(length => [1, length]))
  })
})

describe('a writer that waits', () => {
  test.each([
    ['is told at the low mark', LOW_WATER_MARK_BYTES, [[1, EVENT_DRAINED]]],
    ['is not told above it', LOW_WATER_MARK_BYTES + 1, []],
    ['is told above it by what goes ahead', LOW_WATER_MARK_BYTES + 50_000, [[1, EVENT_DRAINED]], 50_000],
    ['is not told above that', LOW_WATER_MARK_BYTES + 50_001, [], 50_000],
    ['is not told above it when the peer gives no credit for more', LOW_WATER_MARK_BYTES + 50_000, [], 50_000, 16_384 + 49_999]
  ])('%s', (_, leftBytes, told, extraQueueBytes = 0, creditBytes = WINDOW_BYTES) => {
    lane.extraQueueBytes = extraQueueBytes
    const stream = createStream(1, { queued: [16_384 + leftBytes] })
    stream.awaitsDrain = true
    stream.creditBytes = creditBytes
    enlist(stream)
    fill(65_519, 1)

    expect(stream.sendQueue.byteLength).toBe(leftBytes)
    expect(news).toEqual(told)
  })
})
