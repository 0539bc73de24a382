// What is under way, and when the peer is asked. The times are those that the caller brings.
import { beforeEach, describe, expect, test } from 'vitest'
import { BytesUnderWay } from '../../../src/core/path/bytes-under-way.ts'
import { FIRST_BYTES } from '../../../src/core/path/path-estimate.ts'

const WRITE_BYTES = 65_519
const ROUND_TRIP_MS = 20

let underWay: BytesUnderWay

/** A ping was answered before there was data */
function createAsked (nowMs = 0): BytesUnderWay {
  const created = new BytesUnderWay(10, WRITE_BYTES)
  created.onPong(0, ROUND_TRIP_MS, nowMs)

  return created
}

/** Hands down and marks at once; returns the mark's value */
function mark (bytes: number, nowMs: number): number {
  underWay.handDown(bytes, nowMs, false)

  return underWay.mark(nowMs)
}

beforeEach(() => {
  underWay = createAsked()
})

describe('data that is held back', () => {
  test('is followed by another mark when the last was answered and stood in front of too much', () => {
    const first = mark(4096, 0)

    while (!underWay.isHeld) {
      underWay.handDown(16_384, 1, false)
    }
    underWay.isMarkOwed = false

    expect(underWay.acknowledge(first, ROUND_TRIP_MS)).toBe(true)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(true)
  })

  test('is followed by a mark when the first ping is answered behind it', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES)
    underWay.handDown(FIRST_BYTES, 0, false)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(false)

    underWay.onPong(0, ROUND_TRIP_MS, ROUND_TRIP_MS)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(true)
  })
})

describe('a clock', () => {
  test('that was set back between two pongs shows no rate', () => {
    underWay = createAsked(1_000_000)
    let value = mark(30_000, 1_000_000)

    for (let nowMs = 1_000_010; nowMs < 1_000_200; nowMs += 10) {
      underWay.acknowledge(value, nowMs)
      value = mark(30_000, nowMs)
    }

    const { bytesPerMs } = underWay.estimate
    underWay.acknowledge(value, 1_000_210)

    for (let nowMs = 0; nowMs < 200; nowMs += 10) {
      value = mark(30_000, nowMs)
      underWay.acknowledge(value, nowMs + 10)
      expect(underWay.estimate.bytesPerMs).toBeLessThan(1.5 * bytesPerMs)
    }
  })
})
