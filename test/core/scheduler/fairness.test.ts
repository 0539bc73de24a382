// Whose bytes go next: equal shares in bytes, nobody jumps the queue and nobody waits for ever.
import { beforeEach, describe, expect, test } from 'vitest'
import { pattern } from '../../../testing/protocol/frames.ts'
import { createDataLanes, createStream, fillBatch, shares, WINDOW_BYTES } from '../../../testing/core/lanes.ts'
import type { StreamState } from '../../../src/core/stream-state.ts'
import type { Frame } from '../../../testing/protocol/frames.ts'

const QUANTUM_BYTES = 16_384

let lane: ReturnType<typeof createDataLanes>

function createLane (): void {
  lane = createDataLanes({ frameBytes: QUANTUM_BYTES })
}

function enlist (...streams: StreamState[]): void {
  streams.forEach(stream => { lane.onQueued(stream, stream.sendQueue.byteLength) })
}

function fill (maxBytes: number, maxFrames = Infinity): Frame[] {
  return fillBatch(batch => { lane.fill(batch, 0, 0, false, false) }, maxBytes, maxFrames)
}

function ids (frames: Frame[]): number[] {
  return frames.map(({ id }) => id)
}

/** A stream that always has messages of `size` bytes to send, and credit */
function busyStream (id: number, size: number, maxWholeBytes: number): StreamState {
  const stream = createStream(id, { maxWholeBytes })
  stream.creditBytes += 100_000_000
  stream.sendQueue.push(pattern(size))
  refill(stream, size)

  return stream
}

function refill (stream: StreamState, size: number): void {
  const message = pattern(size)

  while (stream.sendQueue.byteLength < 200_000) {
    stream.sendQueue.push(message)
    lane.onQueued(stream, size)
  }
}

beforeEach(() => { createLane() })

describe('turns', () => {
  test('that a full batch cut short are finished first in the next', () => {
    enlist(createStream(1, { queued: [40_000] }), createStream(3, { queued: [40_000] }))

    expect(shares(fill(20_024))).toEqual([[1, 16_384], [3, 3616]])
    expect(shares(fill(12 + 12_768 + 12 + 16_384))).toEqual([[3, 12_768], [1, 16_384]])
  })

  test('that leave too little for another message are made up for later', () => {
    // a turn of 16,384 bytes has room for one message of 10,000, the 6,384 that are left give every third turn a second one
    enlist(createStream(1, { queued: Array(7).fill(10_000), maxWholeBytes: QUANTUM_BYTES }), createStream(3, { queued: Array(5).fill(16_384), maxWholeBytes: QUANTUM_BYTES }))

    expect(ids(fill(1_000_000))).toEqual([1, 3, 1, 1, 3, 1, 3, 1, 1, 3, 1, 3])
  })
})

test('messages longer than a share, which are kept whole, are paid for in the rounds behind', () => {
  lane = createDataLanes({ frameBytes: 65_536 })
  lane.setQuantum(4096)
  const sizes = [1000, 4096, 16_384, 65_536]
  const streams = sizes.map((size, i) => createStream(1 + 2 * i, { queued: Array(Math.ceil(1_000_000 / size)).fill(size), maxWholeBytes: 65_536 }))
  streams.forEach(stream => { stream.creditBytes = 1_100_000 })
  enlist(...streams)
  const sentBytes = new Map<number, number>()

  // small writes, as on a slow path: a message longer than one has it for itself
  for (let bytes = 0; bytes < 1_000_000;) {
    for (const [id, length] of shares(fill(4096))) {
      sentBytes.set(id, (sentBytes.get(id) ?? 0) + length)
      bytes += length
    }
  }

  for (const bytes of sentBytes.values()) {
    // within a message and a share of what is fair
    expect(Math.abs(bytes - 250_000)).toBeLessThan(70_000)
  }
})

test('so are those of a stream that sends its next when nothing of it waits any more', () => {
  lane = createDataLanes({ frameBytes: 16_384 })
  lane.setQuantum(4096)
  const busy = [1, 3, 5].map(id => busyStream(id, 1000, 16_384))
  const long = createStream(7, { maxWholeBytes: 16_384 })
  long.creditBytes = 10_000_000
  enlist(...busy)
  let longBytes = 0

  for (let bytes = 0; bytes < 1_000_000;) {
    if (long.sendQueue.byteLength === 0) {
      long.sendQueue.push(pattern(16_384))
      enlist(long)
    }

    for (const [id, length] of shares(fill(4096))) {
      longBytes += id === 7 ? length : 0
      bytes += length
    }

    busy.forEach(stream => { refill(stream, 1000) })
  }

  expect(Math.abs(longBytes - 250_000)).toBeLessThan(30_000)
})

test('and are forgotten when the others have had as much meanwhile', () => {
  lane = createDataLanes({ frameBytes: 16_384 })
  lane.setQuantum(4096)
  const busy = busyStream(1, 1000, 16_384)
  const long = createStream(3, { queued: [16_384], maxWholeBytes: 16_384 })
  enlist(busy, long)
  fill(40_000)
  refill(busy, 1000)
  fill(60_000)
  long.sendQueue.push(pattern(16_384))
  enlist(long)

  const sent = ids(fill(30_000))

  // one turn of the busy one is before it, as ever
  expect(sent).toContain(3)
  expect(sent.indexOf(3)).toBeLessThan(6)
})

test('leave whole bytes to what is cut behind them', () => {
  lane = createDataLanes({ frameBytes: 16_384 })
  lane.setQuantum(4096)
  const long = createStream(7, { queued: [16_384], maxWholeBytes: 16_384 })
  enlist(...[1, 3].map(id => busyStream(id, 1000, 16_384)), long)
  fill(30_001)
  // what is longer than a frame is cut to shares
  long.sendQueue.push(pattern(50_000))
  enlist(long)
  const lengths = shares(fill(150_000)).filter(([id]) => id === 7).map(([, length]) => length)

  expect(lengths.length).toBeGreaterThan(2)
  expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(50_000 - long.sendQueue.byteLength)
})

describe('a newcomer', () => {
  test('does not jump ahead of those who wait, and comes once they had their turn', () => {
    enlist(createStream(1, { queued: [100_000] }), createStream(3, { queued: [100_000] }))
    expect(ids(fill(99_999, 1))).toEqual([1])

    enlist(createStream(5, { queued: [100_000] }))
    expect(ids(fill(99_999, 5))).toEqual([3, 1, 5, 3, 1])
  })

  test('with much waits for one turn of each of 100 busy streams, not for their data', () => {
    enlist(...Array.from({ length: 100 }, (_, i) => createStream(1 + 2 * i, { queued: [200_000] })))
    fill(99_999, 1)
    enlist(createStream(999, { queued: [16_385] }))

    expect(ids(fill(10_000_000, 101)).indexOf(999)).toBe(100)
  })

  test('with little goes ahead of 100 busy streams', () => {
    enlist(...Array.from({ length: 100 }, (_, i) => createStream(1 + 2 * i, { queued: [200_000] })))
    fill(99_999, 1)
    enlist(createStream(999, { queued: [16_384] }))

    expect(ids(fill(99_999, 2))).toEqual([999, 3])
  })

  test('with little goes behind others that have little, in the order in which they came', () => {
    enlist(createStream(1, { queued: [200_000] }), createStream(3, { queued: [200_000] }))
    fill(99_999, 1)
    enlist(...[5, 7, 9].map(id => createStream(id, { queued: [10] })))

    expect(ids(fill(99_999, 4))).toEqual([5, 7, 9, 3])
  })

  test('with little that has had its share goes ahead again when all others have had theirs', () => {
    enlist(createStream(1, { queued: [200_000] }), createStream(3, { queued: [200_000] }))
    fill(99_999, 1)
    const chatty = createStream(5, { queued: [16_384] })
    enlist(chatty)
    expect(ids(fill(99_999, 1))).toEqual([5])

    const says = (): void => {
      chatty.sendQueue.push(pattern(10))
      lane.onQueued(chatty, 10)
    }
    says()
    expect(ids(fill(99_999, 3))).toEqual([3, 1, 5])
    says()
    expect(ids(fill(99_999, 1))).toEqual([5])
  })

  test.each([
    ['lone messages', () => {
      const chatty = createStream(1)

      for (let i = 0; i < 100; i++) {
        chatty.sendQueue.push(pattern(10_000))
        lane.onQueued(chatty, 10_000)
        fill(99_999)
      }
    }],
    ['a stream that was alone, and began with little', () => {
      const growing = createStream(1, { queued: [10] })
      growing.creditBytes += 100_000_000
      enlist(growing)
      growing.sendQueue.push(pattern(1_000_000))
      lane.onQueued(growing, 1_000_000)
      fill(2_000_000)
    }]
  ])('with little goes ahead behind megabytes of %s: those went ahead of nobody', (_, sendAlone) => {
    sendAlone()
    enlist(createStream(3, { queued: [200_000] }), createStream(5, { queued: [200_000] }))
    fill(99_999, 1)
    enlist(createStream(7, { queued: [10] }))

    expect(ids(fill(99_999, 2))).toEqual([7, 5])
  })

  test('with little does not interrupt the message of one that is in the middle of it for long', () => {
    enlist(createStream(1, { queued: [40_000] }), createStream(3, { queued: [40_000] }))
    fill(20_024)
    enlist(createStream(5, { queued: [10] }))

    // what the last batch has cut off comes next
    expect(shares(fill(12 + 10 + 12 + 12_768))).toEqual([[5, 10], [3, 12_768]])
  })
})

describe('a stream that comes again and again with little', () => {
  function sentBeside (busy: StreamState, chatty: StreamState[], size: number): Map<number, number> {
    const sentBytes = new Map<number, number>()
    enlist(busy, ...chatty)

    for (let i = 0; i < 1000; i++) {
      for (const { id, length } of fill(99_999, 1)) {
        sentBytes.set(id, (sentBytes.get(id) ?? 0) + length)
      }

      refill(busy, 100_000)

      for (const stream of chatty.filter(({ sendQueue }) => sendQueue.byteLength === 0)) {
        stream.sendQueue.push(pattern(size))
        lane.onQueued(stream, size)
      }
    }

    return sentBytes
  }

  test.each([100, 1000, 5000, 16_384])('gets no more than a busy one: %i bytes each time', size => {
    const chatty = createStream(3)
    chatty.creditBytes += 100_000_000
    const sentBytes = sentBeside(busyStream(1, 100_000, 0), [chatty], size)

    expect(sentBytes.get(3)).toBeGreaterThan(0)
    expect(sentBytes.get(3)).toBeLessThanOrEqual(sentBytes.get(1)! + QUANTUM_BYTES)
  })
})

test('however many streams come with little, a busy one has its turn', () => {
  const busy = busyStream(1, 100_000, 0)
  let busyBytes = 0
  let allBytes = 0

  for (let i = 0; i < 2000; i++) {
    enlist(createStream(3 + 2 * i, { queued: [1000] }))

    for (const { id, length } of fill(99_999, 1)) {
      busyBytes += id === 1 ? length : 0
      allBytes += length
    }

    refill(busy, 100_000)
  }

  expect(busyBytes / allBytes).toBeGreaterThan(0.2)
})

describe('a stream that is alone', () => {
  const LONE_BYTES = 65_507

  beforeEach(() => { lane = createDataLanes({ loneFrameBytes: LONE_BYTES }) })

  test('sends small ones again, in turn, as soon as another has data', () => {
    enlist(createStream(1, { queued: [200_000] }))
    fill(65_519)
    enlist(createStream(3, { queued: [40_000] }))

    expect(shares(fill(65_519))).toEqual([[1, 16_384], [3, 16_384], [1, 16_384], [3, 16_319]])
  })

  test('has no advantage nor debt from what it sent alone when another comes', () => {
    const first = createStream(1, { queued: [400_000] })
    const second = createStream(3, { queued: [400_000] })
    enlist(first)
    fill(300)
    fill(65_519)
    enlist(second)
    fill(65_519, 2)

    expect(shares(fill(200_000, 4))).toEqual([[1, 16_384], [3, 16_384], [1, 16_384], [3, 16_384]])
  })

  test('sends large ones when the others have no credit', () => {
    const blocked = createStream(3, { queued: [1000] })
    blocked.creditBytes -= WINDOW_BYTES
    enlist(createStream(1, { queued: [200_000] }), blocked)

    expect(shares(fill(65_519))).toEqual([[1, LONE_BYTES]])
  })
})

describe('a stream without credit', () => {
  test('comes back behind the others when it has some', () => {
    const blocked = createStream(1, { queued: [20_000] })
    blocked.creditBytes -= WINDOW_BYTES - 100
    enlist(blocked, createStream(3, { queued: [50_000] }))
    fill(65_519, 1)
    blocked.creditBytes += 5000
    lane.enlist(blocked)

    expect(shares(fill(65_519, 3))).toEqual([[3, 16_384], [1, 5000], [3, 16_384]])
  })

  test('is dropped when its turn comes if its bytes were discarded, and may come back', () => {
    const stream = createStream(1, { queued: [1000] })
    enlist(stream, createStream(3, { queued: [10] }))
    lane.discard(stream)
    expect(shares(fill(65_519))).toEqual([[3, 10]])

    stream.sendQueue.push(pattern(7))
    lane.onQueued(stream, 7)
    expect(shares(fill(65_519))).toEqual([[1, 7]])
  })
})
