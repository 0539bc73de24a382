// How one stream's bytes become frames: what a frame holds, which flags ride on it, how much of a batch it takes, what its owner is told.
import { beforeEach, describe, expect, test } from 'vitest'
import { LOW_WATER_MARK_BYTES } from '../../../src/core/scheduler/lanes.ts'
import { EVENT_DRAINED, PENDING_ACK, PENDING_SYN, PENDING_UPDATE } from '../../../src/core/stream-state.ts'
import { ACK, concat, DATA, FIN, pattern, SYN, WINDOW_UPDATE } from '../../../testing/protocol/frames.ts'
import { createDataLanes, createStream, fillBatch, shares, WINDOW_BYTES } from '../../../testing/core/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

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
  streams.forEach(stream => { lane.enlist(stream, stream.sendQueue.byteLength) })
}

function fill (maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { lane.fill(batch, maxFrames, 0, NOW_MS) }, maxBytes)
}

beforeEach(() => { createLane() })

describe('a data frame', () => {
  test('holds all small messages of a stream, in order', () => {
    const stream = createStream(1, { queued: [10, 20, 30] })
    enlist(stream)
    const [frame, ...others] = fill()

    expect(others).toEqual([])
    expect(frame).toMatchObject({ type: 0, flags: 0, id: 1, length: 60 })
    expect(frame.payload).toEqual(concat(pattern(10, 1), pattern(20, 1), pattern(30, 1)))
  })

  test('is no longer than the largest frame; a long message becomes several', () => {
    enlist(createStream(1, { queued: [40_000] }))
    const frames = fill()

    expect(shares(frames)).toEqual([[1, 16_384], [1, 16_384], [1, 7232]])
    expect(concat(...frames.map(({ payload }) => payload))).toEqual(pattern(40_000, 1))
  })

  test('holds one message only where messages are not merged', () => {
    enlist(createStream(1, { queued: [20_000, 10, 30], maxWholeBytes: 16_384 }))

    expect(shares(fill())).toEqual([[1, 16_384], [1, 3616], [1, 10], [1, 30]])
  })

  test('holds a message whole where messages are not merged: it waits for credit for all of it', () => {
    const stream = createStream(1, { queued: [1000], maxWholeBytes: 16_384 })
    stream.creditBytes -= WINDOW_BYTES - 999
    enlist(stream)
    expect(fill()).toEqual([])

    stream.creditBytes += 1
    lane.enlist(stream, 0)
    expect(shares(fill())).toEqual([[1, 1000]])
  })

  test('holds no more than the peer gives credit for', () => {
    const stream = createStream(1, { queued: [1000] })
    stream.creditBytes -= WINDOW_BYTES - 600
    enlist(stream)

    expect(shares(fill())).toEqual([[1, 600]])
    expect(stream.creditBytes).toBe(0)
  })

  test('tells the stream when bytes last moved', () => {
    const stream = createStream(1, { queued: [1] })
    enlist(stream)
    fill()

    expect(stream.lastActiveMs).toBe(NOW_MS)
  })

  test.each([
    ['SYN', PENDING_SYN, SYN],
    ['ACK', PENDING_ACK, ACK]
  ])('carries the %s if it is the first of its stream, once', (_, pending, flag) => {
    const stream = createStream(1, { pending, queued: [20_000] })
    enlist(stream)

    expect(fill().map(({ flags }) => flags)).toEqual([flag, 0])
    expect(stream.pending).toBe(0)
  })

  test('leaves to the control lane what it cannot carry', () => {
    const stream = createStream(1, { pending: PENDING_ACK | PENDING_UPDATE, queued: [1] })
    enlist(stream)

    expect(fill()[0].flags).toBe(ACK)
    expect(stream.pending).toBe(PENDING_UPDATE)
  })
})

describe('a FIN', () => {
  test('is a frame of its own behind the last data: stock yamux discards data that comes with it', () => {
    const stream = createStream(1, { queued: [40_000] })
    stream.become('close')
    enlist(stream)

    expect(fill(20_000).map(({ type, flags }) => [type, flags])).toEqual([[DATA, 0], [DATA, 0]])
    expect(fill().map(({ type, flags, length }) => [type, flags, length])).toEqual([[DATA, 0, 16_384], [DATA, 0, 3640], [WINDOW_UPDATE, FIN, 0]])
  })

  test('does not go when credit ends before the data does', () => {
    const stream = createStream(1, { queued: [100] })
    stream.become('close')
    stream.creditBytes -= WINDOW_BYTES - 99
    enlist(stream)

    expect(fill().map(({ flags }) => flags)).toEqual([0])
    expect(news).toEqual([])
    expect(finsDue).toEqual([])
  })

  test('goes with the same batch as the SYN if the data is short', () => {
    const stream = createStream(1, { pending: PENDING_SYN, queued: [5] })
    stream.become('close')
    enlist(stream)

    expect(fill().map(({ type, flags }) => [type, flags])).toEqual([[DATA, SYN], [WINDOW_UPDATE, FIN]])
  })

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

  test('that is smaller than that takes what it can: there will be no larger one', () => {
    enlist(createStream(1, { queued: [16_384] }))

    expect(shares(fill(112))).toEqual([[1, 100]])
  })

  test('is longer than it may be where one message needs that, however much is reserved, but holds no other data then', () => {
    enlist(createStream(1, { queued: [8000, 8000], maxWholeBytes: 16_384 }), createStream(3, { queued: [5000], maxWholeBytes: 16_384 }))

    expect(shares(fill(2048))).toEqual([[1, 8000]])
    expect(shares(fillBatch(batch => { lane.fill(batch, Infinity, 1024, 0) }, 2048))).toEqual([[1, 8000]])
    expect(shares(fill(2048))).toEqual([[3, 5000]])
    expect(fill(2048)).toEqual([])
  })

  test.each([
    ['cuts a message that is longer', 16_384, [4096, 4096, 1808]],
    ['is as long as a message where it is small for a slow path', 4096, [10_000]]
  ])('%s', (_, shareBytes, frames) => {
    lane.shareBytes = shareBytes
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
  ])('%s', (_, leftBytes, told, aheadBytes = 0, creditBytes = WINDOW_BYTES) => {
    lane.aheadBytes = aheadBytes
    const stream = createStream(1, { queued: [16_384 + leftBytes] })
    stream.awaitsDrain = true
    stream.creditBytes = creditBytes
    enlist(stream)
    fill(65_519, 1)

    expect(stream.sendQueue.byteLength).toBe(leftBytes)
    expect(news).toEqual(told)
  })
})

describe('bytes that were changed while they waited', () => {
  function lose (change: (buffer: ArrayBuffer) => void, byteLength: number): { stream: StreamState, lost: Array<[id: number, err: Error]>, frames: Frame[] } {
    const lost: Array<[id: number, err: Error]> = []
    lane = createDataLanes({
      onBytesLost: (stream, err) => {
        lost.push([stream.id, err])
        lane.discard(stream)
      }
    })
    const stream = createStream(1, { queued: [10] })
    const buffer = new ArrayBuffer(byteLength, { maxByteLength: 2 * byteLength })
    stream.sendQueue.push(new Uint8Array(buffer))
    enlist(createStream(3, { queued: [20] }), stream, createStream(5, { queued: [30] }))
    change(buffer)

    return { stream, lost, frames: fill() }
  }

  test.each<[string, (buffer: ArrayBuffer) => void, number]>([
    ['shrunk', buffer => { buffer.resize(7) }, 7],
    ['transferred', buffer => { buffer.transfer() }, 0]
  ])('take their stream out of the lane, and leave nothing of it in the batch: %s', (_, change, bytesNow) => {
    const { stream, lost, frames } = lose(change, 100)

    expect(shares(frames)).toEqual([[3, 20], [5, 30]])
    expect(lost).toEqual([[1, expect.objectContaining({ code: 'ERR_SENT_BYTES_CHANGED', message: expect.stringMatching(new RegExp(`\\b100 bytes.*\\b${bytesNow} were left`)) })]])
    expect([stream.isInDataLane, stream.sendQueue.byteLength, lane.queuedBytes, lane.streamCount]).toEqual([false, 0, 0, 0])
  })
})
