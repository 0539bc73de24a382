// How many bytes may be under way, from what marks have shown.
import { beforeEach, describe, expect, test } from 'vitest'
import { FIRST_BYTES, MIN_WRITE_BYTES, PathEstimate } from '../../../src/core/path/path-estimate.ts'
import type { PathSample } from '../../../src/core/path/path-estimate.ts'

const WRITE_BYTES = 65_519
const QUEUE_MS = 10

let estimate: PathEstimate
let nowMs: number

/** A path that carries so much, in a round trip of so many milliseconds, with nothing else to say */
function sample (bytesPerMs: number, roundTripMs: number, init: Partial<PathSample> = {}): void {
  const intervalMs = init.intervalMs ?? roundTripMs
  nowMs += intervalMs
  estimate.onSample({
    nowMs,
    roundTripMs,
    intervalMs,
    deliveredBytes: bytesPerMs * intervalMs,
    markedBytes: bytesPerMs * roundTripMs,
    arrivedBytes: 0,
    silentMs: 400,
    isAppLimited: false,
    isBoundLimited: true,
    isNewRound: true,
    underWayBytes: bytesPerMs * roundTripMs,
    ...init
  })
}

/** Until both halves of the time that a rate counts have seen it */
function settle (bytesPerMs: number, roundTripMs: number): void {
  const untilMs = nowMs + Math.max(1000, 20 * roundTripMs)

  while (nowMs < untilMs) {
    sample(bytesPerMs, roundTripMs)
  }
}

beforeEach(() => {
  estimate = new PathEstimate(QUEUE_MS, WRITE_BYTES)
  nowMs = 0
})

describe('the rate of a path', () => {
  test('is kept while samples are far apart, although a mark has found the path empty', () => {
    settle(32, 640)
    sample(32, 640, { intervalMs: 1200 })
    sample(20, 2, { intervalMs: 1200, markedBytes: 100 })

    expect(estimate.bytesPerMs).toBe(32)
  })
})

describe('the bound', () => {
  test('is 256 KiB before anything is known, and leaves room for whole writes', () => {
    expect(estimate.boundBytes).toBe(FIRST_BYTES)
    expect(estimate.writeBytes).toBe(WRITE_BYTES)
    expect(estimate.holdsFromBytes).toBe(FIRST_BYTES)
  })

  test('is none after a transport that said "wait" before anything was measured, and stays when it says so later', () => {
    estimate.onTransportFull()
    expect(estimate.boundBytes).toBe(Infinity)
    expect(estimate.writeBytes).toBe(WRITE_BYTES)

    settle(1000, 50)
    const { boundBytes } = estimate
    estimate.onTransportFull()
    expect(estimate.boundBytes).toBe(boundBytes)
  })

  test('is what the path carries in a round trip and a quarter and in the time that it may wait, a mark\'s space, and a write', () => {
    settle(1000, 50)

    const carriedBytes = 1000 * (1.25 * 50 + QUEUE_MS)
    expect(estimate.boundBytes).toBe(carriedBytes + 16_384 + MIN_WRITE_BYTES)
    expect(estimate.holdsFromBytes).toBe(estimate.boundBytes - estimate.writeBytes / 2)
  })

  test('is twice as much and more while the rate is looked for', () => {
    sample(1000, 50)

    expect(estimate.boundBytes).toBe(1000 * (2.89 * 50 + QUEUE_MS))
  })

  test('has room for a quarter more than what pongs bring that come together, beside a round trip', () => {
    settle(100, 1)

    for (let round = 0; round < 20; round++) {
      sample(100, 30)
      sample(100, 30, { intervalMs: 0.001, isNewRound: false, arrivedBytes: 40_000 })
    }

    expect(estimate.boundBytes).toBeCloseTo(1.25 * (100 * 1 + 40_000) + 16_384 + MIN_WRITE_BYTES, -1)
  })

  test('is none when no pong comes, until one does', () => {
    settle(1000, 50)
    estimate.lift()
    expect(estimate.boundBytes).toBe(Infinity)

    sample(1000, 50)
    expect(Number.isFinite(estimate.boundBytes)).toBe(true)
  })

  test('is two writes when the rate of a short path has fallen, until a mark finds it empty', () => {
    settle(5000, 2)

    for (let round = 0; round < 300; round++) {
      sample(2500, 2.1, { markedBytes: 80_000, isNewRound: false })
    }

    expect(estimate.boundBytes).toBe(2 * MIN_WRITE_BYTES)
    sample(2500, 5, { markedBytes: 2 * (MIN_WRITE_BYTES + 12) })
    expect(estimate.boundBytes).toBeGreaterThan(2500 * QUEUE_MS)
  })
})

test('one sample that is too high, as of a clump of pongs, does not make the rate that follows look fallen', () => {
  settle(1000, 50)
  sample(2000, 50)

  for (let round = 0; round < 40; round++) {
    sample(1000, 50)
    expect(estimate.boundBytes).toBeGreaterThan(1000 * 50)
  }
})

test('a probe that never finds the path empty, for others fill it, ends after three rounds', () => {
  settle(5000, 50)

  for (let round = 0; round < 30; round++) {
    sample(1250, 200, { markedBytes: 340_000 })
  }

  expect(estimate.boundBytes).toBeGreaterThan(1250 * 50)
})

describe('a write', () => {
  test('is an eighth of the bound, between 4 KiB and what was asked for', () => {
    settle(20, 50)
    expect(estimate.writeBytes).toBe(MIN_WRITE_BYTES)

    settle(1000, 50)
    expect(estimate.writeBytes).toBe(Math.floor(estimate.boundBytes / 8))

    settle(100_000, 50)
    expect(estimate.writeBytes).toBe(WRITE_BYTES)
  })
})

describe('the round trip of a path', () => {
  test('is the first that was measured, and a quarter of what a shorter one is shorter by less', () => {
    sample(1000, 50)
    expect(estimate.roundTripMs).toBe(50)

    sample(1000, 30)
    expect(estimate.roundTripMs).toBe(45)
  })

  test('is not that of marks that waited in a queue', () => {
    settle(1000, 50)
    sample(1000, 400)

    expect(estimate.roundTripMs).toBe(50)
  })

  test('is that of an ordinary ping too, if it is shorter', () => {
    estimate.onRoundTrip(40)
    estimate.onRoundTrip(400)

    expect(estimate.roundTripMs).toBe(40)
  })

  test('is longer when the rate has fallen and a mark that found the path empty took longer', () => {
    settle(5000, 50)

    for (let round = 0; round < 20; round++) {
      sample(1250, 200, { markedBytes: 340_000, isNewRound: false })
    }

    sample(1250, 200, { markedBytes: 40_000 })
    expect(estimate.roundTripMs).toBeCloseTo(200 - 2 * MIN_WRITE_BYTES / 5000)
  })
})

test('the round trip behind the queue of a peer that bounds it too is not taken for a longer path', () => {
  estimate.isPeerBounded = true
  settle(1250, 1)

  for (let round = 0; round < 20; round++) {
    sample(300, 400, { markedBytes: 340_000, isNewRound: false })
  }

  sample(300, 400, { markedBytes: 4000 })
  expect(estimate.roundTripMs).toBeLessThan(80)
})

test('what an application did not ask for is no measure of the path', () => {
  settle(1000, 50)

  for (let round = 0; round < 100; round++) {
    sample(10, 50, { isAppLimited: true, isBoundLimited: false })
  }

  expect(estimate.bytesPerMs).toBe(1000)
})
