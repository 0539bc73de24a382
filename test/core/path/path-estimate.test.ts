// How many bytes may be under way, from what marks have shown.
import { beforeEach, describe, expect, test } from 'vitest'
import { PathEstimate } from '../../../src/core/path/path-estimate.ts'
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
    isAppLimited: false,
    isBoundLimited: true,
    isNewRound: true,
    underWayBytes: bytesPerMs * roundTripMs,
    ...init
  })
}

function settle (bytesPerMs: number, roundTripMs: number): void {
  for (let round = 0; round < 6; round++) {
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
