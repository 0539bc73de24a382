// What is in flight, and when the peer is asked. The times are those that the caller brings.
import { beforeEach, describe, expect, test } from 'vitest'
import { DrivenPath } from '../../testing/core/driven-path.ts'
import { FIRST_MARK_VALUE, HEADER_BYTES } from '../../src/core/wire/frame.ts'
import { UNITS_PER_MS } from '../../src/path/marks.ts'
import { NodePaths } from '../../src/path/node-paths.ts'

const WRITE_BYTES = 65_519
const ROUND_TRIP_MS = 20
/** A path is far from 20 ms on */
const NEAR_MS = 19.9
/** Before anything is known: 64 KiB, less half of a write of 16 KiB */
const HOLDS_FROM_BYTES = 57_344
/** A quarter of that */
const MARKS_FROM_BYTES = 14_336
/** Over a far path: 7/8 of half a write */
const FAR_MARKS_FROM_BYTES = 7168
/** Between two marks, 7/8 of 4 KiB, without the mark itself */
const SPACE_BYTES = 3572

let inFlight: DrivenPath

/** A ping was answered before there was data, and the first mark was written, which goes beside the pong to any ping. Neither counts among the positions. */
function createAsked (nowMs = 0, roundTripMs = ROUND_TRIP_MS): DrivenPath {
  const created = new DrivenPath(10)
  created.requestMark(true)
  created.mark(nowMs)
  created.onRoundTrip(0, roundTripMs, nowMs)

  return created
}

/** Hands down and marks at once; returns the mark's value */
function mark (bytes: number, nowMs: number): number {
  inFlight.write(bytes, nowMs, false)

  return inFlight.writeMark(nowMs)
}

/** Until data is held back, with marks where they are due; returns their values */
function fill (nowMs: number): number[] {
  const values: number[] = []

  while (!inFlight.isHeld) {
    if (inFlight.write(4096, nowMs, false)) {
      values.push(inFlight.writeMark(nowMs))
    }
  }

  if (inFlight.isMarkDue) {
    values.push(inFlight.writeMark(nowMs))
  }

  return values
}

/** The pongs come in one chunk */
function answer (values: number[], nowMs: number): void {
  inFlight.onChunk(HEADER_BYTES * values.length, nowMs)

  for (const value of values) {
    inFlight.onPong(value, nowMs)
  }
}

beforeEach(() => {
  inFlight = createAsked()
})

describe('data that is held back', () => {
  test('is followed by another mark when the last was answered and stood in front of too much', () => {
    const first = mark(4096, 0)

    while (!inFlight.isHeld) {
      inFlight.write(16_384, 1, false)
    }
    inFlight.isMarkDue = false

    expect(inFlight.onPong(first, ROUND_TRIP_MS)).toBe(true)
    expect(inFlight.isHeld).toBe(true)
    expect(inFlight.isMarkDue).toBe(true)
  })

  test('is followed by a mark when the first ping is answered behind it', () => {
    inFlight = new DrivenPath(10)
    inFlight.write(HOLDS_FROM_BYTES, 0, false)
    expect(inFlight.isHeld).toBe(true)
    expect(inFlight.isMarkDue).toBe(false)

    inFlight.onRoundTrip(0, ROUND_TRIP_MS, ROUND_TRIP_MS)
    expect(inFlight.isHeld).toBe(true)
    expect(inFlight.isMarkDue).toBe(true)
  })
})

test('a clock that jumps by an hour measures no round trip, and what has arrived has arrived', () => {
  inFlight = createAsked(0)
  const value = mark(20_000, 0)
  expect(inFlight.onPong(value, 3_600_020)).toBe(true)

  expect(inFlight.acknowledgedBytes).toBe(20_000)
  expect(inFlight.estimate.bytesPerMs).toBe(0)
  expect(inFlight.estimate.learned.own.ms).toBe(ROUND_TRIP_MS)
})

describe('what is in flight', () => {
  test('is what was handed down, marks among it, less what is in front of a mark that was answered', () => {
    const value = mark(1000, 0)
    inFlight.write(500, 1, false)
    expect(inFlight.writtenBytes).toBe(1500 + HEADER_BYTES)
    expect(inFlight.unacknowledgedBytes).toBe(1500 + HEADER_BYTES)

    inFlight.onPong(value, 20)
    expect(inFlight.acknowledgedBytes).toBe(1000)
    expect(inFlight.unacknowledgedBytes).toBe(500 + HEADER_BYTES)
  })

  test('is less by what was in front of an ordinary ping too', () => {
    inFlight.write(1000, 0, false)
    inFlight.write(500, 0, false)
    inFlight.onRoundTrip(1000, ROUND_TRIP_MS, 20)

    expect(inFlight.unacknowledgedBytes).toBe(500)
  })

  test('is not more when an ordinary ping is answered that was in front of a mark', () => {
    const value = mark(1000, 0)
    inFlight.onPong(value, 20)
    inFlight.onRoundTrip(300, ROUND_TRIP_MS, 21)

    expect(inFlight.acknowledgedBytes).toBe(1000)
  })

  test('holds data back when a write more would be as likely above 64 KiB as below until something is known, and no longer when it has arrived', () => {
    inFlight = new DrivenPath(10)
    inFlight.write(HOLDS_FROM_BYTES - 1, 5, false)
    expect(inFlight.isHeld).toBe(false)

    inFlight.write(1, 5, false)
    expect(inFlight.isHeld).toBe(true)

    expect(inFlight.figures(20)).toMatchObject({ heldMs: 15, heldSinceMs: 5 })
    inFlight.onRoundTrip(HOLDS_FROM_BYTES, ROUND_TRIP_MS, 25)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.figures(30)).toMatchObject({ heldMs: 20, heldSinceMs: undefined })
  })

  test('the time that data was held for stays the same to the last digit while nothing is held', () => {
    inFlight = new DrivenPath(10)
    inFlight.write(HOLDS_FROM_BYTES, 5.1, false)
    inFlight.onRoundTrip(HOLDS_FROM_BYTES, ROUND_TRIP_MS, 16_909.234)
    const heldMs = Array.from({ length: 1000 }, (_, i) => inFlight.figures(17_000 + i * 10.037).heldMs)

    expect(new Set(heldMs)).toEqual(new Set([inFlight.heldMs]))
  })

  test('is not bounded when the peer may queue for ever: nothing is marked, held or learnt', () => {
    inFlight = new DrivenPath(Infinity)
    inFlight.onRoundTrip(0, ROUND_TRIP_MS, 0)

    for (let nowMs = 0; nowMs < 1000; nowMs++) {
      expect(inFlight.write(1_000_000, nowMs, false)).toBe(false)
    }

    inFlight.onTransportFull(1000)
    inFlight.look(10_000)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.isMarkDue).toBe(false)
    expect(inFlight.urgent.isSpent).toBe(false)
    expect(inFlight.estimate.bytesPerMs).toBe(0)
    expect(inFlight.estimate.bound.writeBytes).toBe(WRITE_BYTES)
  })

  test('can be asked about although it is not bounded', () => {
    inFlight = new DrivenPath(Infinity)
    inFlight.isMarkDue = true
    expect(inFlight.write(1000, 0, false)).toBe(true)

    expect(inFlight.onPong(inFlight.writeMark(0), 20)).toBe(true)
    expect(inFlight.acknowledgedBytes).toBe(1000)
    expect(inFlight.write(1000, 20, false)).toBe(false)
  })
})

describe('what can still be in flight', () => {
  test('is nothing a second after the last mark was answered and the last data was handed down', () => {
    const value = mark(1000, 0)
    inFlight.write(100, 10, true)
    inFlight.onPong(value, ROUND_TRIP_MS)

    expect(inFlight.inFlightBytes(1009)).toBe(100 + HEADER_BYTES)
    expect(inFlight.inFlightBytes(1010)).toBe(0)
  })

  test('is nothing four round trips after it, if they are longer', () => {
    const value = mark(4096, 0)
    inFlight.write(100, 100, true)
    inFlight.onPong(value, 400)

    expect(inFlight.inFlightBytes(1699)).toBe(100 + HEADER_BYTES)
    expect(inFlight.inFlightBytes(1700)).toBe(0)
  })

  test('is nothing four round trips after it where only a ping has told how long they are', () => {
    inFlight = createAsked(0, 600)
    inFlight.write(100, 0, true)

    expect(inFlight.inFlightBytes(2399)).toBe(100)
    expect(inFlight.inFlightBytes(2400)).toBe(0)
  })

  test('is no more than what was handed down last when the rest has arrived', () => {
    inFlight = createAsked(0, NEAR_MS)
    inFlight.write(16_000, 0, true)
    inFlight.write(10_000, 1000, true)

    expect(inFlight.unacknowledgedBytes).toBe(10_000)
    expect(inFlight.isHeld).toBe(false)
  })

  test('is asked for by a mark when 14 KiB in all have no pong, however long the pauses were', () => {
    inFlight = createAsked(0, NEAR_MS)

    expect([0, 1000, 2000].map(nowMs => inFlight.write(5000, nowMs, true))).toEqual([false, false, true])
  })

  test('is all that was handed down since 32 KiB in all had no pong, if no mark could be written', () => {
    inFlight = createAsked(0, NEAR_MS)
    ;[0, 1000, 2000, 3000].forEach(nowMs => { inFlight.write(16_000, nowMs, true) })

    expect(inFlight.inFlightBytes(60_000)).toBe(32_000)
  })

  test('counts when less than a second has passed, as the peer may not have it yet', () => {
    inFlight = createAsked(0, NEAR_MS)
    inFlight.write(20_000, 0, true)
    expect(inFlight.write(20_000, 999, true)).toBe(true)

    expect(inFlight.unacknowledgedBytes).toBe(40_000)
  })

  test('is all of it while a mark was not answered', () => {
    inFlight.onPong(mark(1000, 0), ROUND_TRIP_MS)
    mark(500, 30)

    expect(inFlight.inFlightBytes(60_000)).toBe(500 + 2 * HEADER_BYTES)
  })
})

describe('marks', () => {
  const WRAPS_MS = FIRST_MARK_VALUE / UNITS_PER_MS

  /** The value of one that is written then: eighths of a millisecond, of which every second one counts */
  function valueAt (nowMs: number): number {
    return FIRST_MARK_VALUE + UNITS_PER_MS * nowMs
  }

  test.each<[string, number[], number[]]>([
    ['tell when they were written, in values from the middle of all on', [1, 2, 1000.25, 2000.49], [1, 2, 1000.25, 2000.25].map(valueAt)],
    ['have values of their own: of those that are written at once each is a quarter of a millisecond later', [50, 50, 50, 50.3], [50, 50.25, 50.5, 50.75].map(valueAt)],
    ['begin anew with the first value after 2^31 units', [WRAPS_MS - 0.25, WRAPS_MS, WRAPS_MS + 1], [2 ** 32 - 2, FIRST_MARK_VALUE, valueAt(1)]]
  ])('%s', (_, timesMs, values) => {
    expect(timesMs.map(nowMs => mark(1, nowMs))).toEqual(values)
    expect([UNITS_PER_MS, FIRST_MARK_VALUE]).toEqual([8, 2 ** 31])
  })

  test('count from the first one, so that no peer learns how long this process runs', () => {
    expect([4000, 4_000_000].map(firstMs => {
      inFlight = createAsked(firstMs)

      return mark(1, firstMs + 1000)
    })).toEqual([valueAt(1000), valueAt(1000)])
  })

  test.each([0, FIRST_MARK_VALUE + 1])('begin beside the pong to the first ping of the peer, before there is data that could queue: a ping %d', value => {
    inFlight = new DrivenPath(10)
    inFlight.onPing(value, 50)
    expect(inFlight.isMarkDue).toBe(true)
    // it is no reply, and times are counted from it
    expect(inFlight.writeMark(50)).toBe(FIRST_MARK_VALUE)

    inFlight.onPing(value, 100)
    expect(inFlight.isMarkDue).toBe(false)
  })

  test('are not written by themselves when a pong comes: they could meet a socket that the peer has closed', () => {
    inFlight = new DrivenPath(10)
    inFlight.onRoundTrip(0, ROUND_TRIP_MS, 0)

    expect(inFlight.isMarkDue).toBe(false)
  })

  test('do not begin without a bound', () => {
    inFlight = new DrivenPath(Infinity)
    inFlight.onPing(0, 0)

    expect(inFlight.isMarkDue).toBe(false)
  })

  /** A quarter of what is allowed, without a mark that is in flight */
  const quarterBytes = (): number => inFlight.estimate.bound.holdsFromBytes / 4 - HEADER_BYTES

  test.each<[when: string, prepare: () => void, fromBytes: () => number]>([
    ['go on when a quarter of what is allowed is in flight', () => { inFlight = createAsked(0, NEAR_MS) }, () => MARKS_FROM_BYTES],
    ['begin behind 7 KiB over a far path of which nothing is known, which is among what TCP sends at once', () => {}, () => FAR_MARKS_FROM_BYTES],
    ['begin behind a quarter of what is allowed over a far path, when a rate is known', () => { inFlight.onPong(mark(FAR_MARKS_FROM_BYTES, 0), ROUND_TRIP_MS) }, quarterBytes],
    ['begin again when a quarter of what is allowed has gathered behind what was answered', () => { inFlight.onPong(mark(MARKS_FROM_BYTES, 0), ROUND_TRIP_MS) }, quarterBytes],
    ['are seven eighths of 4 KiB apart from there on, themselves included', () => { mark(MARKS_FROM_BYTES, 0) }, () => SPACE_BYTES],
    // of 80,000 and the mark itself: 8751.3 bytes, of which the mark is 12
    ['are seven eighths of an eighth of what is in flight apart when that is more', () => { mark(80_000, 0) }, () => 8740],
    ['are not asked for while nobody has answered a ping, but for the ping itself behind 32 KiB', () => { inFlight = new DrivenPath(10) }, () => 32_768]
  ])('%s', (_, prepare, fromBytes) => {
    prepare()

    expect(inFlight.write(fromBytes() - 1, ROUND_TRIP_MS, false)).toBe(false)
    expect(inFlight.write(1, ROUND_TRIP_MS, false)).toBe(true)
  })

  test('are none behind requests of which less than a quarter of what is allowed is in flight', () => {
    inFlight = createAsked(0, NEAR_MS)

    for (let nowMs = 0; nowMs < 1430; nowMs += 10) {
      expect(inFlight.write(100, nowMs, true)).toBe(false)
    }

    // 143 of 100 bytes
    expect(inFlight.write(100, 1430, true)).toBe(true)
  })

  test('are eight at once, then one in 5 ms', () => {
    const marksAt = (nowMs: number, writes: number): number => {
      let marks = 0

      for (let i = 0; i < writes; i++) {
        if (inFlight.write(16_384, nowMs, false)) {
          inFlight.writeMark(nowMs)
          marks++
        }
      }

      return marks
    }

    expect(marksAt(0, 12)).toBe(8)
    expect(marksAt(4, 1)).toBe(0)
    expect(marksAt(5, 1)).toBe(1)
    expect(marksAt(5, 1)).toBe(0)
    // 32 ms are six times 5 ms
    expect(marksAt(37, 200)).toBe(6)
    expect(marksAt(1000, 600)).toBe(8)
  })

  test('that are owed go with the next write, however small, and once', () => {
    inFlight.isMarkDue = true
    expect(inFlight.write(0, 0, true)).toBe(true)
    inFlight.writeMark(0)

    expect(inFlight.isMarkDue).toBe(false)
    expect(inFlight.write(0, 0, true)).toBe(false)
  })

  test('follow data that is held back, so that there is a pong to wait for', () => {
    const values = fill(0)

    expect(values.length).toBeGreaterThan(0)
    expect(inFlight.onPong(values.at(-1) as number, 20)).toBe(true)
    expect(inFlight.isHeld).toBe(false)
  })

  test('are 64 at most: the oldest is forgotten, and a later one says the same', () => {
    const values = Array.from({ length: 65 }, (_, i) => mark(100, i))

    expect(inFlight.onPong(values[0], 100)).toBe(false)
    expect(inFlight.acknowledgedBytes).toBe(0)
    expect(inFlight.onPong(values[1], 100)).toBe(true)
    expect(inFlight.acknowledgedBytes).toBe(200 + HEADER_BYTES)
  })
})

describe('a pong', () => {
  test('to a mark that nobody has written says nothing', () => {
    mark(1000, 0)

    expect(inFlight.onPong(FIRST_MARK_VALUE + 1, 10)).toBe(false)
    expect(inFlight.onPong(0, 10)).toBe(false)
    expect(inFlight.acknowledgedBytes).toBe(0)
  })

  test('that comes again says nothing', () => {
    const value = mark(1000, 0)
    inFlight.onPong(value, 20)
    const { bytesPerMs } = inFlight.estimate

    expect(inFlight.onPong(value, 21)).toBe(false)
    expect(inFlight.estimate.bytesPerMs).toBe(bytesPerMs)
    expect(inFlight.acknowledgedBytes).toBe(1000)
  })

  test('to a later mark answers all in front of it, whose own say nothing then', () => {
    const [first, second, third] = [mark(1000, 0), mark(1000, 1), mark(1000, 2)]

    expect(inFlight.onPong(second, 20)).toBe(true)
    expect(inFlight.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(inFlight.onPong(first, 21)).toBe(false)
    expect(inFlight.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(inFlight.onPong(third, 22)).toBe(true)
    expect(inFlight.acknowledgedBytes).toBe(3000 + 2 * HEADER_BYTES)
  })

  test('to an ordinary ping answers the marks in front of it, and none behind', () => {
    const first = mark(1000, 0)
    const pingedBytes = inFlight.writtenBytes
    const second = mark(1000, 1)
    inFlight.onRoundTrip(pingedBytes, ROUND_TRIP_MS, 20)

    expect(inFlight.onPong(first, 21)).toBe(false)
    expect(inFlight.onPong(second, 21)).toBe(true)
  })
})

describe('a look', () => {
  test('does nothing while no data is held back', () => {
    mark(1000, 0)
    inFlight.look(60_000)

    expect(inFlight.isMarkDue).toBe(false)
    // the bound was not lifted either
    inFlight.write(100_000, 60_000, false)
    expect(inFlight.isHeld).toBe(true)
  })

  test('asks again after half a round trip, and three times as soon, then at half the pace each time, once a second at least', () => {
    inFlight.onPong(mark(4096, 0), ROUND_TRIP_MS)
    mark(HOLDS_FROM_BYTES, ROUND_TRIP_MS)
    const delaysMs: number[] = []

    for (let nowMs = ROUND_TRIP_MS; delaysMs.length < 12; nowMs += delaysMs.at(-1) as number) {
      delaysMs.push(inFlight.lookDelayMs)
      inFlight.look(nowMs)
      expect(inFlight.isMarkDue).toBe(true)
      inFlight.writeMark(nowMs)
    }

    expect(delaysMs).toEqual([10, 10, 10, 10, 20, 40, 80, 160, 320, 640, 1000, 1000])
  })

  test('begins anew with each pong', () => {
    inFlight.onPong(mark(4096, 0), ROUND_TRIP_MS)
    const value = mark(1000, ROUND_TRIP_MS)
    mark(400_000, ROUND_TRIP_MS)

    for (const nowMs of [30, 40, 50, 60, 80]) {
      inFlight.look(nowMs)
      inFlight.writeMark(nowMs)
    }
    expect(inFlight.lookDelayMs).toBe(40)

    inFlight.onPong(value, 80)
    expect(inFlight.isHeld).toBe(true)
    // half of 60 ms
    expect(inFlight.lookDelayMs).toBe(30)
  })

  test('comes soon when marks were due that were too many at once', () => {
    while (!inFlight.isHeld) {
      if (inFlight.write(16_384, 0, false)) {
        inFlight.writeMark(0)
      }
    }

    expect(inFlight.lookDelayMs).toBe(5)
  })

  test('lifts the bound when no pong came for 5 s, until one does', () => {
    const values = fill(0)
    inFlight.look(4999)
    expect(inFlight.isHeld).toBe(true)

    inFlight.look(5000)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.heldMs).toBe(5000)
    inFlight.write(100_000_000, 5000, false)
    expect(inFlight.isHeld).toBe(false)

    inFlight.onPong(values[0], 6000)
    expect(inFlight.isHeld).toBe(true)
  })

  test('lifts the bound when no mark was answered for 5 s, also where other pings are', () => {
    fill(0)

    for (let nowMs = 500; nowMs < 5000; nowMs += 500) {
      inFlight.onRoundTrip(inFlight.writtenBytes, ROUND_TRIP_MS, nowMs)
      fill(nowMs)
    }

    inFlight.look(4999)
    expect(inFlight.isHeld).toBe(true)

    inFlight.look(5000)
    expect(inFlight.isHeld).toBe(false)
  })

  test('counts from the last pong', () => {
    const first = mark(1000, 0)
    mark(2 * HOLDS_FROM_BYTES, 0)
    inFlight.onPong(first, 4000)
    inFlight.look(8999)
    expect(inFlight.isHeld).toBe(true)

    inFlight.look(4000 + 4 * 4000)
    expect(inFlight.isHeld).toBe(false)
  })
})

describe('on a fast path', () => {
  /** It carries so much in each millisecond, which is what is asked of it, and takes one for each way; returns when there were marks */
  function run (bytesPerMs: number, fromMs: number, forMs: number): number[] {
    const markedMs: number[] = []
    let values: number[] = []

    for (let nowMs = fromMs; nowMs < fromMs + forMs; nowMs++) {
      answer(values, nowMs)
      values = []

      if (inFlight.write(bytesPerMs, nowMs, false)) {
        values.push(inFlight.writeMark(nowMs))
        markedMs.push(nowMs)
      }
    }

    return markedMs
  }

  test('nothing is held back, and a mark stands behind seven eighths of what it carries in 100 ms', () => {
    run(500_000, 0, 100)
    expect(inFlight.bound.bytes).toBe(Infinity)
    const { heldMs } = inFlight
    const markedMs = run(500_000, 100, 1000)

    expect(markedMs.length).toBe(11)
    // 87.5 ms, in steps of one
    expect(markedMs.slice(1).map((ms, i) => ms - markedMs[i])).toEqual(Array.from({ length: 10 }, () => 88))
    expect(inFlight.heldMs).toBe(heldMs)
    expect(inFlight.isHeld).toBe(false)
  })

  test('marks are no closer however much is handed down at once', () => {
    run(500_000, 0, 100)
    let marks = 0

    // 131 MB, and 6 MB behind the last mark: a mark stands behind 43.75 MB
    for (let i = 0; i < 2000; i++) {
      if (inFlight.write(WRITE_BYTES, 100, false)) {
        inFlight.writeMark(100)
        marks++
      }
    }

    expect(marks).toBe(3)
    expect(inFlight.isHeld).toBe(false)
  })
})

describe('urgent data', () => {
  test('is not counted while nothing is held back', () => {
    inFlight.write(20_000, 0, false, 20_000)

    expect(inFlight.urgent.isSpent).toBe(false)
  })

  test('is what is urgent of what is handed down', () => {
    fill(0)
    inFlight.write(60_000, 1, false, 16_383)

    expect(inFlight.urgent.isSpent).toBe(false)
  })

  test('passes when the bound is lifted, as of a peer that answers no ping', () => {
    inFlight = new DrivenPath(10)
    inFlight.write(HOLDS_FROM_BYTES, 0, false)
    inFlight.write(16_384, 1, false, 16_384)
    expect(inFlight.isUrgentSpent).toBe(true)

    inFlight.look(500)
    expect(inFlight.isUrgentSpent).toBe(false)
  })

  test('passes when nothing was held back any more', () => {
    const values = fill(0)
    inFlight.write(1_000_000, 1, false, 1_000_000)
    answer([...values, mark(0, 1)], ROUND_TRIP_MS)
    expect(inFlight.isHeld).toBe(false)
    inFlight.onPong(mark(1000, 2 * ROUND_TRIP_MS), 3 * ROUND_TRIP_MS)

    expect(inFlight.urgent.isSpent).toBe(false)
  })
})

describe('a silence', () => {
  test('behind which all comes back at once raises the bound to 4 times what was in flight, during start-up', () => {
    const values = fill(0)
    // 14 writes of 4096 bytes, with marks behind the second to the eighth and the last
    expect(inFlight.unacknowledgedBytes).toBe(57_440)
    answer(values, 200)

    expect(inFlight.estimate.bound.bytes).toBe(4 * 57_440)
  })

  test('while nothing was held back does not', () => {
    inFlight.write(40_000, 0, false)
    answer([inFlight.writeMark(0)], 200)

    expect(inFlight.estimate.bound.bytes).toBe(65_536)
  })
})

test.each(['ping', 'mark'])('a connection that is dialled into the queue of others does not double what it has in flight, whether a %s is answered first', first => {
  const nodePaths = new NodePaths()
  const other = new DrivenPath(10, undefined, nodePaths)
  other.onRoundTrip(0, 40, 0)

  for (let nowMs = 0; nowMs < 5000; nowMs += 500) {
    other.write(16_384, nowMs, false)
    other.onPong(other.writeMark(nowMs), nowMs + 500)
  }

  inFlight = new DrivenPath(10, undefined, nodePaths)
  inFlight.onPing(0, 5000)
  const value = inFlight.writeMark(5000)

  if (first === 'ping') {
    inFlight.onRoundTrip(0, 500, 5500)
  }

  inFlight.onPong(value, 5500)

  for (let nowMs = 5500; nowMs < 7000; nowMs += 500) {
    const values = Array.from({ length: 4 }, () => mark(16_384, nowMs))
    answer(values, nowMs + 500)
  }

  expect(inFlight.estimate.bound.bytes).toBeLessThan(200_000)
})

describe('a mark of the peer', () => {
  /** It comes with the time 100 ms, and is a reply itself or not; returns the value of the mark that is due then */
  function answerTo (value: number): number | undefined {
    inFlight.onPing(value, 100)

    return inFlight.isMarkDue ? inFlight.writeMark(100) : undefined
  }

  const PEERS_VALUE = FIRST_MARK_VALUE + 1000
  const OWN_VALUE = FIRST_MARK_VALUE + 100 * UNITS_PER_MS

  test('is answered by a mark that says it is a reply while 4 KiB are in flight', () => {
    inFlight.write(4095, 90, true)
    expect(answerTo(PEERS_VALUE)).toBeUndefined()

    inFlight.write(1, 90, true)
    expect(answerTo(PEERS_VALUE)).toBe(OWN_VALUE + 1)
  })

  test('that is a reply is answered by none, or replies would follow each other without end', () => {
    inFlight.write(4096, 90, true)

    expect(answerTo(PEERS_VALUE + 1)).toBeUndefined()
  })

  test('is answered by none if its ping is no mark', () => {
    inFlight.write(4096, 90, true)

    expect(answerTo(1000)).toBeUndefined()
  })

  test('is answered by none if nothing is bounded, or the peer has answered no ping yet', () => {
    for (const maxQueueDelayMs of [Infinity, 10]) {
      inFlight = new DrivenPath(maxQueueDelayMs)
      // the first mark, which goes beside any pong
      answerTo(0)
      inFlight.write(10_000, 90, true)

      expect(answerTo(PEERS_VALUE)).toBeUndefined()
    }
  })

  test('is answered by none if a mark is due anyway, which is no reply: the peer writes one beside the pong to it', () => {
    inFlight.write(4096, 90, true)
    inFlight.requestMark()

    expect(answerTo(PEERS_VALUE)).toBe(OWN_VALUE)
  })

  test('is answered by a mark that is no reply if one becomes due for another reason before it is written', () => {
    inFlight.write(4096, 90, true)
    inFlight.onPing(PEERS_VALUE, 100)
    inFlight.requestMark()

    expect(inFlight.writeMark(100)).toBe(OWN_VALUE)
  })

  test('is answered once: the next mark of this side is no reply', () => {
    inFlight.write(4096, 90, true)
    answerTo(PEERS_VALUE)

    expect(inFlight.writeMark(101)).toBe(FIRST_MARK_VALUE + 101 * UNITS_PER_MS)
  })
})
