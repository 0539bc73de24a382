// What is under way, and when the peer is asked. The times are those that the caller brings.
import { beforeEach, describe, expect, test } from 'vitest'
import { BytesUnderWay, FIRST_MARK_VALUE } from '../../../src/core/path/bytes-under-way.ts'
import { FIRST_BYTES } from '../../../src/core/path/path-estimate.ts'
import { HEADER_BYTES } from '../../../src/core/wire/frame.ts'

const WRITE_BYTES = 65_519
const ROUND_TRIP_MS = 20
/** 7/8 of 16 KiB */
const SPACE_BYTES = 14_336

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

/** Until data is held back, with marks where they are due; returns their values */
function fill (nowMs: number): number[] {
  const values: number[] = []

  while (!underWay.isHeld) {
    if (underWay.handDown(4096, nowMs, false)) {
      values.push(underWay.mark(nowMs))
    }
  }

  if (underWay.isMarkOwed) {
    values.push(underWay.mark(nowMs))
  }

  return values
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

  test('that jumps by an hour measures no round trip, and what has arrived has arrived', () => {
    const value = mark(20_000, 0)
    expect(underWay.acknowledge(value, 3_600_020)).toBe(true)

    expect(underWay.acknowledgedBytes).toBe(20_000)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back measures no round trip, and what has arrived has arrived', () => {
    underWay = createAsked(3_600_000)
    const value = mark(20_000, 3_600_000)
    expect(underWay.acknowledge(value, 0)).toBe(true)

    expect(underWay.acknowledgedBytes).toBe(20_000)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back does not put marks off', () => {
    underWay = createAsked(3_600_000)
    underWay.handDown(SPACE_BYTES, 3_600_000, false)
    underWay.mark(3_600_000)

    expect(underWay.handDown(SPACE_BYTES, 0, false)).toBe(true)
  })

  test('that was set back while data was held leaves no negative time', () => {
    underWay = createAsked(3_600_000)
    const value = fill(3_600_000).at(-1) as number
    underWay.acknowledge(value, 0)

    expect(underWay.isHeld).toBe(false)
    expect(underWay.heldMs).toBe(0)
  })
})

describe('what is under way', () => {
  test('is what was handed down, marks among it, less what is in front of a mark that was answered', () => {
    const value = mark(1000, 0)
    underWay.handDown(500, 1, false)
    expect(underWay.handedDownBytes).toBe(1500 + HEADER_BYTES)
    expect(underWay.byteLength).toBe(1500 + HEADER_BYTES)

    underWay.acknowledge(value, 20)
    expect(underWay.acknowledgedBytes).toBe(1000)
    expect(underWay.byteLength).toBe(500 + HEADER_BYTES)
  })

  test('is less by what was in front of an ordinary ping too', () => {
    underWay.handDown(1000, 0, false)
    underWay.handDown(500, 0, false)
    underWay.onPong(1000, ROUND_TRIP_MS, 20)

    expect(underWay.byteLength).toBe(500)
  })

  test('is not more when an ordinary ping is answered that was in front of a mark', () => {
    const value = mark(1000, 0)
    underWay.acknowledge(value, 20)
    underWay.onPong(300, ROUND_TRIP_MS, 21)

    expect(underWay.acknowledgedBytes).toBe(1000)
  })

  test('holds data back from 256 KiB on until something is known, and no longer when it has arrived', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES)
    underWay.handDown(FIRST_BYTES - 1, 5, false)
    expect(underWay.isHeld).toBe(false)

    underWay.handDown(1, 5, false)
    expect(underWay.isHeld).toBe(true)

    underWay.onPong(FIRST_BYTES, ROUND_TRIP_MS, 25)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.heldMs).toBe(20)
  })

  test('is not bounded when the peer may queue for ever: nothing is marked, held or learnt', () => {
    underWay = new BytesUnderWay(Infinity, WRITE_BYTES)
    underWay.onPong(0, ROUND_TRIP_MS, 0)

    for (let nowMs = 0; nowMs < 1000; nowMs++) {
      expect(underWay.handDown(1_000_000, nowMs, false)).toBe(false)
    }

    underWay.onTransportFull(1000)
    underWay.look(10_000)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.isMarkOwed).toBe(false)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.writeBytes).toBe(WRITE_BYTES)
  })

  test('can be asked about although it is not bounded', () => {
    underWay = new BytesUnderWay(Infinity, WRITE_BYTES)
    underWay.isMarkOwed = true
    expect(underWay.handDown(1000, 0, false)).toBe(true)

    expect(underWay.acknowledge(underWay.mark(0), 20)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(1000)
    expect(underWay.handDown(1000, 20, false)).toBe(false)
  })
})

describe('marks', () => {
  test('have values of their own, from the middle of all values on', () => {
    expect([mark(1, 0), mark(1, 0), mark(1, 0)]).toEqual([FIRST_MARK_VALUE, FIRST_MARK_VALUE + 1, FIRST_MARK_VALUE + 2])
    expect(FIRST_MARK_VALUE).toBe(2 ** 31)
  })

  test('are at least 14,336 bytes apart', () => {
    expect(underWay.handDown(SPACE_BYTES - 1, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
    underWay.mark(0)

    expect(underWay.handDown(SPACE_BYTES - HEADER_BYTES - 1, 0, false)).toBe(false)
  })

  test('are eight at once, then one in 5 ms', () => {
    const marksAt = (nowMs: number, writes: number): number => {
      let marks = 0

      for (let i = 0; i < writes; i++) {
        if (underWay.handDown(16_384, nowMs, false)) {
          underWay.mark(nowMs)
          marks++
        }
      }

      return marks
    }

    expect(marksAt(0, 12)).toBe(8)
    expect(marksAt(4, 1)).toBe(0)
    expect(marksAt(5, 1)).toBe(1)
    expect(marksAt(5, 1)).toBe(0)
  })

  test('that are owed go with the next write, however small, and once', () => {
    underWay.isMarkOwed = true
    expect(underWay.handDown(0, 0, true)).toBe(true)
    underWay.mark(0)

    expect(underWay.isMarkOwed).toBe(false)
    expect(underWay.handDown(0, 0, true)).toBe(false)
  })

  test('are not asked for while nobody has answered a ping, but for the ping itself behind 128 KiB', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES)

    expect(underWay.canMark).toBe(false)
    expect(underWay.handDown(FIRST_BYTES / 2 - 1, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('follow data that is held back, so that there is a pong to wait for', () => {
    const values = fill(0)

    expect(values.length).toBeGreaterThan(0)
    expect(underWay.acknowledge(values.at(-1) as number, 20)).toBe(true)
    expect(underWay.isHeld).toBe(false)
  })

  test('are 64 at most: the oldest is forgotten, and a later one says the same', () => {
    const values = Array.from({ length: 65 }, (_, i) => mark(100, i))

    expect(underWay.acknowledge(values[0], 100)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(0)
    expect(underWay.acknowledge(values[1], 100)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(200 + HEADER_BYTES)
  })
})

describe('a pong', () => {
  test('to a mark that nobody has written says nothing', () => {
    mark(1000, 0)

    expect(underWay.acknowledge(FIRST_MARK_VALUE + 1, 10)).toBe(false)
    expect(underWay.acknowledge(0, 10)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(0)
  })

  test('that comes again says nothing', () => {
    const value = mark(1000, 0)
    underWay.acknowledge(value, 20)
    const { bytesPerMs } = underWay.estimate

    expect(underWay.acknowledge(value, 21)).toBe(false)
    expect(underWay.estimate.bytesPerMs).toBe(bytesPerMs)
    expect(underWay.acknowledgedBytes).toBe(1000)
  })

  test('to a later mark answers all in front of it, whose own say nothing then', () => {
    const [first, second, third] = [mark(1000, 0), mark(1000, 1), mark(1000, 2)]

    expect(underWay.acknowledge(second, 20)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(underWay.acknowledge(first, 21)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(underWay.acknowledge(third, 22)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(3000 + 2 * HEADER_BYTES)
  })

  test('to an ordinary ping answers the marks in front of it, and none behind', () => {
    const first = mark(1000, 0)
    const pingedBytes = underWay.handedDownBytes
    const second = mark(1000, 1)
    underWay.onPong(pingedBytes, ROUND_TRIP_MS, 20)

    expect(underWay.acknowledge(first, 21)).toBe(false)
    expect(underWay.acknowledge(second, 21)).toBe(true)
  })
})

describe('a look', () => {
  test('does nothing while no data is held back', () => {
    mark(1000, 0)
    underWay.look(60_000)

    expect(underWay.isMarkOwed).toBe(false)
    expect(underWay.handDown(100_000, 60_000, false)).toBe(true)
    expect(underWay.isHeld).toBe(false)
  })

  test('asks again after two round trips, then at half the pace each time, once a second at least', () => {
    underWay.acknowledge(mark(1000, 0), ROUND_TRIP_MS)
    mark(FIRST_BYTES, ROUND_TRIP_MS)
    const delaysMs: number[] = []

    for (let nowMs = ROUND_TRIP_MS; delaysMs.length < 7; nowMs += delaysMs.at(-1) as number) {
      delaysMs.push(underWay.lookDelayMs)
      underWay.look(nowMs)
      expect(underWay.isMarkOwed).toBe(true)
      underWay.mark(nowMs)
    }

    expect(delaysMs).toEqual([40, 80, 160, 320, 640, 1000, 1000])
  })

  test('begins anew with each pong', () => {
    underWay.acknowledge(mark(1000, 0), ROUND_TRIP_MS)
    const values = fill(ROUND_TRIP_MS)
    underWay.look(60)
    underWay.mark(60)
    expect(underWay.lookDelayMs).toBe(80)

    underWay.acknowledge(values[0], ROUND_TRIP_MS + 20)
    expect(underWay.lookDelayMs).toBeLessThanOrEqual(40)
  })

  test('comes soon when marks were due that were too many at once', () => {
    while (!underWay.isHeld) {
      if (underWay.handDown(16_384, 0, false)) {
        underWay.mark(0)
      }
    }

    expect(underWay.lookDelayMs).toBe(5)
  })

  test('lifts the bound when no pong came for 5 s, until one does', () => {
    const values = fill(0)
    underWay.look(4999)
    expect(underWay.isHeld).toBe(true)

    underWay.look(5000)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.heldMs).toBe(5000)
    underWay.handDown(100_000_000, 5000, false)
    expect(underWay.isHeld).toBe(false)

    underWay.acknowledge(values[0], 6000)
    expect(underWay.isHeld).toBe(true)
  })

  test('lifts the bound after 2 s when no ping was ever answered, and asks nothing until then', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES)
    underWay.handDown(FIRST_BYTES, 0, false)
    underWay.look(1999)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(false)

    underWay.look(2000)
    expect(underWay.isHeld).toBe(false)
  })

  test('counts from the last pong', () => {
    const first = mark(1000, 0)
    mark(2 * FIRST_BYTES, 0)
    underWay.acknowledge(first, 4000)
    underWay.look(8999)
    expect(underWay.isHeld).toBe(true)

    underWay.look(4000 + 4 * 4000)
    expect(underWay.isHeld).toBe(false)
  })
})
