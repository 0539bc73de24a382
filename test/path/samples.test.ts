// Samples of the rate when pongs wait with the peer's own data.
import { beforeEach, describe, expect, test } from 'vitest'
import { Samples } from '../../src/path/samples.ts'
import type { Mark } from '../../src/path/marks.ts'
import type { PathSample } from '../../src/path/samples.ts'

const OWN_ROUND_TRIP_MS = 20

let samples: Samples

/** The pong to a mark that was written at `sentMs` */
function pong (init: Partial<Mark> & Pick<Mark, 'sentMs' | 'positionBytes'>, nowMs: number, peersDelayMs = 0, unacknowledgedBytes = 0): PathSample {
  const mark = { value: 0, acknowledgedBytes: 0, arrivedBytes: 0, acknowledgedMs: 1000, receivedBytes: 0, isAppLimited: false, lostMarks: 0, ...init }

  return samples.onPong(mark, OWN_ROUND_TRIP_MS, peersDelayMs, 0, unacknowledgedBytes, false, nowMs) as PathSample
}

beforeEach(() => {
  samples = new Samples()
  samples.onWrite(0, 100_000, false, true, 1000)
})

describe('a pong that has waited with the peer\'s data', () => {
  test('shows the round trip without that delay', () => {
    expect(pong({ sentMs: 1000, positionBytes: 10_000 }, 1100, 70)).toMatchObject({ roundTripMs: 30, peersDelayMs: 70, intervalMs: 30 })
  })

  test('shows what its mark had in front of it, without what had probably arrived', () => {
    const mark = { sentMs: 1000, positionBytes: 40_000, acknowledgedBytes: 10_000, arrivedBytes: 18_000 }

    expect(pong(mark, 1100, 70, 50_000)).toMatchObject({ inFlightBytes: 12_000, latestBytesPerMs: 12_000 / 30, unacknowledgedBytes: 50_000 })
  })

  test('has come no sooner than the one before, as pongs come in the order in which they were written', () => {
    pong({ sentMs: 1000, positionBytes: 10_000 }, 1100, 60)

    // 1040, and not 1030
    expect(pong({ sentMs: 1010, positionBytes: 20_000 }, 1101, 71)).toMatchObject({ roundTripMs: 30, peersDelayMs: 61 })
  })
})

describe('pongs in a clump', () => {
  /** Eight marks 10 ms and 10,000 bytes apart, whose pongs come together when the last does; returns the highest rate that they show */
  function clump (peersDelayMs: (mark: number) => number): number {
    pong({ sentMs: 1000, positionBytes: 10_000 }, 1020)
    const rates = Array.from({ length: 8 }, (_, mark) => {
      const { deliveredBytes, intervalMs } = pong({ sentMs: 1010 + 10 * mark, positionBytes: 20_000 + 10_000 * mark, acknowledgedBytes: 10_000 }, 1100, peersDelayMs(mark))

      return deliveredBytes / intervalMs
    })

    return Math.max(...rates)
  }

  test('show the rate of the path if each is known to have waited until the last came', () => {
    expect(clump(mark => 70 - 10 * mark)).toBe(1000)
  })

  test('show no higher rate because all seem to have waited as long', () => {
    expect(clump(() => 70)).toBeLessThanOrEqual(1000)
  })
})
