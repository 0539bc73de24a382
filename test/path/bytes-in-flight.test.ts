// What is in flight, and when the peer is asked. The times are those that the caller brings.
import { beforeEach, describe, expect, test } from 'vitest'
import { DrivenPath } from '../../testing/core/driven-path.ts'
import { FIRST_MARK_VALUE, HEADER_BYTES } from '../../src/core/wire/frame.ts'

const WRITE_BYTES = 65_519
const ROUND_TRIP_MS = 20
/** A path is far from 20 ms on */
const NEAR_MS = 19.9
/** Before anything is known: 64 KiB, less half of a write of 16 KiB */
const HOLDS_FROM_BYTES = 57_344
/** Half of that */
const MARKS_FROM_BYTES = 28_672
/** Over a far path: 7/8 of half a write */
const FAR_MARKS_FROM_BYTES = 7168
/** Between two marks, 7/8 of 4 KiB, without the mark itself */
const SPACE_BYTES = 3572

let inFlight: DrivenPath

/** A ping was answered before there was data */
function createAsked (nowMs = 0, roundTripMs = ROUND_TRIP_MS): DrivenPath {
  const created = new DrivenPath(10)
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

describe('a clock', () => {
  test('that was set back between two pongs shows no rate', () => {
    inFlight = createAsked(1_000_000)
    let value = mark(30_000, 1_000_000)

    for (let nowMs = 1_000_010; nowMs < 1_000_200; nowMs += 10) {
      inFlight.onPong(value, nowMs)
      value = mark(30_000, nowMs)
    }

    const { bytesPerMs } = inFlight.estimate
    inFlight.onPong(value, 1_000_210)

    for (let nowMs = 0; nowMs < 200; nowMs += 10) {
      value = mark(30_000, nowMs)
      inFlight.onPong(value, nowMs + 10)
      expect(inFlight.estimate.bytesPerMs).toBeLessThan(1.5 * bytesPerMs)
    }
  })

  test('that jumps by an hour measures no round trip, and what has arrived has arrived', () => {
    const value = mark(20_000, 0)
    expect(inFlight.onPong(value, 3_600_020)).toBe(true)

    expect(inFlight.acknowledgedBytes).toBe(20_000)
    expect(inFlight.estimate.bytesPerMs).toBe(0)
    expect(inFlight.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back measures no round trip, and what has arrived has arrived', () => {
    inFlight = createAsked(3_600_000)
    const value = mark(20_000, 3_600_000)
    expect(inFlight.onPong(value, 0)).toBe(true)

    expect(inFlight.acknowledgedBytes).toBe(20_000)
    expect(inFlight.estimate.bytesPerMs).toBe(0)
    expect(inFlight.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back does not put marks off', () => {
    inFlight = createAsked(3_600_000)
    inFlight.write(MARKS_FROM_BYTES, 3_600_000, false)
    inFlight.writeMark(3_600_000)

    expect(inFlight.write(SPACE_BYTES, 0, false)).toBe(true)
  })

  test('that was set back while data was held leaves no negative time', () => {
    inFlight = createAsked(3_600_000)
    const value = fill(3_600_000).at(-1) as number
    inFlight.onPong(value, 0)

    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.heldMs).toBe(0)
  })
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

    inFlight.onRoundTrip(HOLDS_FROM_BYTES, ROUND_TRIP_MS, 25)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.heldMs).toBe(20)
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
    const value = mark(1000, 0)
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

  test('is asked for by a mark when 28 KiB in all have no pong, however long the pauses were', () => {
    inFlight = createAsked(0, NEAR_MS)

    expect([0, 1000, 2000].map(nowMs => inFlight.write(10_000, nowMs, true))).toEqual([false, false, true])
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
  test('have values of their own, from the middle of all values on', () => {
    expect([mark(1, 0), mark(1, 0), mark(1, 0)]).toEqual([FIRST_MARK_VALUE, FIRST_MARK_VALUE + 2, FIRST_MARK_VALUE + 4])
    expect(FIRST_MARK_VALUE).toBe(2 ** 31)
  })

  test('say whether data fills the path: while it is held back, and where more is there to send all the time', () => {
    const isOdd = (): boolean => inFlight.writeMark(0) % 2 === 1
    inFlight.write(30_000, 0, false)
    expect(isOdd()).toBe(false)

    inFlight.write(40_000, 0, true)
    expect([inFlight.isHeld, isOdd()]).toEqual([true, true])
  })

  test('say so behind a round trip in which all that was handed down was less than there was', () => {
    const first = mark(30_000, 0)
    inFlight.write(1000, 1, false)
    inFlight.onPong(first, ROUND_TRIP_MS)

    expect([inFlight.isHeld, inFlight.writeMark(ROUND_TRIP_MS) % 2]).toEqual([false, 1])
  })

  test('begin when half of what is allowed is in flight', () => {
    inFlight = createAsked(0, NEAR_MS)

    expect(inFlight.write(MARKS_FROM_BYTES - 1, 0, false)).toBe(false)
    expect(inFlight.write(1, 0, false)).toBe(true)
  })

  test('begin behind 7 KiB over a far path of which nothing is known, which is among what TCP sends at once', () => {
    expect(inFlight.write(FAR_MARKS_FROM_BYTES - 1, 0, false)).toBe(false)
    expect(inFlight.write(1, 0, false)).toBe(true)
  })

  test('begin behind half of what is allowed over a far path, when a rate is known', () => {
    inFlight.onPong(mark(FAR_MARKS_FROM_BYTES, 0), ROUND_TRIP_MS)
    const bytes = inFlight.estimate.bound.holdsFromBytes / 2 - HEADER_BYTES

    expect(inFlight.write(bytes - 1, ROUND_TRIP_MS, false)).toBe(false)
    expect(inFlight.write(1, ROUND_TRIP_MS, false)).toBe(true)
  })

  test('are seven eighths of 4 KiB apart from there on, themselves included', () => {
    mark(MARKS_FROM_BYTES, 0)

    expect(inFlight.write(SPACE_BYTES - 1, 0, false)).toBe(false)
    expect(inFlight.write(1, 0, false)).toBe(true)
  })

  test('are seven eighths of an eighth of what is in flight apart when that is more', () => {
    // of 80,000 and the mark itself: 8751.3 bytes, of which the mark is 12
    mark(80_000, 0)

    expect(inFlight.write(8739, 0, false)).toBe(false)
    expect(inFlight.write(1, 0, false)).toBe(true)
  })

  test('are none behind requests of which less than half of what is allowed is in flight', () => {
    inFlight = createAsked(0, NEAR_MS)

    for (let nowMs = 0; nowMs < 2860; nowMs += 10) {
      expect(inFlight.write(100, nowMs, true)).toBe(false)
    }

    // 286 of 100 bytes
    expect(inFlight.write(100, 2860, true)).toBe(true)
  })

  test('begin again when half of what is allowed has gathered behind what was answered', () => {
    inFlight.onPong(mark(MARKS_FROM_BYTES, 0), ROUND_TRIP_MS)
    // the mark itself is in flight still
    const bytes = inFlight.estimate.bound.holdsFromBytes / 2 - HEADER_BYTES

    expect(inFlight.write(bytes - 1, 30, false)).toBe(false)
    expect(inFlight.write(1, 30, false)).toBe(true)
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
  })

  test('that are owed go with the next write, however small, and once', () => {
    inFlight.isMarkDue = true
    expect(inFlight.write(0, 0, true)).toBe(true)
    inFlight.writeMark(0)

    expect(inFlight.isMarkDue).toBe(false)
    expect(inFlight.write(0, 0, true)).toBe(false)
  })

  test('are not asked for while nobody has answered a ping, but for the ping itself behind 32 KiB', () => {
    inFlight = new DrivenPath(10)

    expect(inFlight.canMark).toBe(false)
    expect(inFlight.write(32_767, 0, false)).toBe(false)
    expect(inFlight.write(1, 0, false)).toBe(true)
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
    inFlight.onPong(mark(1000, 0), ROUND_TRIP_MS)
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
    inFlight.onPong(mark(1000, 0), ROUND_TRIP_MS)
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

  test('lifts the bound after half a second when no ping was ever answered, and asks nothing until then', () => {
    inFlight = new DrivenPath(10)
    inFlight.write(HOLDS_FROM_BYTES, 0, false)
    inFlight.look(499)
    expect(inFlight.isHeld).toBe(true)
    expect(inFlight.isMarkDue).toBe(false)

    inFlight.look(500)
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

describe('of the marks in front of one that is answered', () => {
  /** So many marks behind 100 bytes each, of which the last is answered */
  function answerLastOf (marks: number, nowMs = 0): void {
    const values = Array.from({ length: marks }, () => mark(100, nowMs))
    answer([values[marks - 1]], nowMs + ROUND_TRIP_MS)
  }

  test('pongs were lost: a peer that answers one in eight three times in a row answers few, and one that answers another does not', () => {
    answerLastOf(8)
    answerLastOf(8)
    expect(inFlight.estimate.rarelyAnswers).toBe(false)
    answerLastOf(8)
    expect(inFlight.estimate.rarelyAnswers).toBe(true)

    answerLastOf(1)
    expect(inFlight.estimate.rarelyAnswers).toBe(false)
  })

  test.each([[2, false], [4, false], [5, false], [6, true]])('one in %d is answered all the time, which is few: %s', (marks, isFew) => {
    for (let round = 0; round < 50; round++) {
      answerLastOf(marks, 40 * round)
    }

    // less than a quarter, where later ones count more
    expect(inFlight.estimate.rarelyAnswers).toBe(isFew)
  })

  test('none was lost when all are answered', () => {
    for (let round = 0; round < 50; round++) {
      answer([mark(100, 40 * round), mark(100, 40 * round)], 40 * round + ROUND_TRIP_MS)
    }

    expect(inFlight.estimate.rarelyAnswers).toBe(false)
  })

  test('so much more stands in front of the next as the peer answers less', () => {
    mark(MARKS_FROM_BYTES, 0)
    inFlight.onPong(mark(100, 0), ROUND_TRIP_MS)
    mark(100_000, ROUND_TRIP_MS)

    // one of two is 0.890625 of what it was: an eighth of 100,024 is 12,503 bytes, 7/8 of that 10,940.125, and for 0.890625 of that 12,283.6
    expect(inFlight.write(12_271, ROUND_TRIP_MS, false)).toBe(false)
    expect(inFlight.write(1, ROUND_TRIP_MS, false)).toBe(true)
  })

  test('nothing is held back any more when few are answered, and only behind a long silence, and something is when the peer answers again', () => {
    answerLastOf(8)
    answerLastOf(8, 100)
    const values = Array.from({ length: 8 }, () => mark(10_000, 200))
    expect(inFlight.isHeld).toBe(true)
    answer(values.slice(-1), 400)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.estimate.bound.bytes).toBe(Infinity)
    const [next, last] = [mark(10_000_000, 400), mark(10_000_000, 400)]
    expect(inFlight.isHeld).toBe(false)

    answer([next], 500)
    expect(inFlight.isHeld).toBe(true)
    expect(inFlight.estimate.bound.bytes).toBeLessThan(10_000_000)
    answer([last], 600)
    expect(inFlight.isHeld).toBe(false)
    expect(inFlight.estimate.bound.bytes).toBeLessThan(Infinity)
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

  test('nothing is held back, and there is one mark in 100 ms', () => {
    run(500_000, 0, 100)
    expect(inFlight.estimate.fast.isFast).toBe(true)
    const { heldMs } = inFlight
    const markedMs = run(500_000, 100, 1000)

    expect(markedMs.length).toBe(10)
    expect(markedMs.slice(1).map((ms, i) => ms - markedMs[i])).toEqual(Array.from({ length: 9 }, () => 100))
    expect(inFlight.heldMs).toBe(heldMs)
    expect(inFlight.isHeld).toBe(false)
  })

  test('marks are no closer however much is handed down at once', () => {
    run(500_000, 0, 100)
    const values = Array.from({ length: 20 }, () => inFlight.write(1_000_000_000, 100, false))

    expect(values.filter(Boolean).length).toBeLessThan(2)
    expect(inFlight.isHeld).toBe(false)
  })

  test('data is held back again when the rate has fallen below half of what makes it one', () => {
    run(500_000, 0, 100)
    run(104_000, 100, 2000)
    expect(inFlight.estimate.fast.isFast).toBe(false)

    expect(fill(2100).length).toBeLessThan(10)
    expect(inFlight.isHeld).toBe(true)
  })

  test('nothing is held back if that is what the transport takes before it says "wait", and not if it takes more', () => {
    run(10_000, 0, 200)
    inFlight.write(300_000, 200, false)
    inFlight.onTransportFull(200)
    // they arrive in 30 ms
    run(10_000, 230, 100)
    // 200,000 in 20 ms
    expect(inFlight.estimate.fast.isFast).toBe(false)

    run(20_000, 330, 100)
    // 400,000
    expect(inFlight.estimate.fast.isFast).toBe(true)
  })

  test('nothing is held back as long as it has not', () => {
    run(500_000, 0, 100)
    run(105_000, 100, 2000)

    expect(inFlight.estimate.fast.isFast).toBe(true)
  })
})

describe('urgent data', () => {
  test('passes up to a frame while other data is held back', () => {
    fill(0)
    inFlight.write(16_383, 1, false, 16_383)
    expect(inFlight.urgent.isSpent).toBe(false)

    inFlight.write(1, 1, false, 1)
    expect(inFlight.urgent.isSpent).toBe(true)
  })

  test('is not counted while nothing is held back', () => {
    inFlight.write(20_000, 0, false, 20_000)

    expect(inFlight.urgent.isSpent).toBe(false)
  })

  test('is what is urgent of what is handed down', () => {
    fill(0)
    inFlight.write(60_000, 1, false, 16_383)

    expect(inFlight.urgent.isSpent).toBe(false)
  })

  test('passes again when eight times what it used up has arrived while other data was held back', () => {
    const [first, second] = [mark(120_000, 0), mark(12_000, 0)]
    inFlight.write(16_384, 0, false, 16_384)
    mark(300_000, 0)
    expect(inFlight.urgent.isSpent).toBe(true)

    // an eighth of 120,000 bytes is 15,000
    inFlight.onPong(first, ROUND_TRIP_MS)
    expect(inFlight.urgent.isSpent).toBe(true)
    // and of 12,012 more with the mark 1501
    inFlight.onPong(second, ROUND_TRIP_MS)
    expect(inFlight.urgent.isSpent).toBe(false)
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
  test('behind which all comes back at once raises the bound to 8 times what was in flight, during start-up', () => {
    const values = fill(0)
    // 14 writes of 4096 bytes, with marks behind the second to the eighth and the last
    expect(inFlight.unacknowledgedBytes).toBe(57_440)
    answer(values, 200)

    expect(inFlight.estimate.bound.bytes).toBe(8 * 57_440)
  })

  test('behind which all comes at the pace of the path does not', () => {
    const values = fill(0)

    // 28 KiB at 100 bytes a millisecond, then 4 KiB each time
    values.forEach((value, i) => { answer([value], 307 + 41 * i) })

    expect(inFlight.estimate.bound.bytes).toBe(65_536)
  })

  test('in which the peer has sent other bytes all the time does not', () => {
    const values = fill(0)

    for (let nowMs = 10; nowMs < 200; nowMs += 10) {
      inFlight.onChunk(100, nowMs)
    }
    answer(values, 200)

    expect(inFlight.estimate.bound.bytes).toBe(65_536)
  })

  test('while nothing was held back does not', () => {
    inFlight.write(40_000, 0, false)
    answer([inFlight.writeMark(0)], 200)

    expect(inFlight.estimate.bound.bytes).toBe(65_536)
  })
})

describe('the peer bounds what it has in flight too', () => {
  /** Pings of the peer, one after the other */
  function takes (pings: Array<[value: number, nowMs: number]>): boolean {
    for (const [value, nowMs] of pings) {
      inFlight.onPing(value, nowMs)
    }

    return inFlight.estimate.peer.fullMs === pings[pings.length - 1][1]
  }

  test('when its pings are marks in a row, 250 ms apart at most, which say that its data fills the path', () => {
    expect(takes([[FIRST_MARK_VALUE + 1, 1000], [FIRST_MARK_VALUE + 3, 1250]])).toBe(true)
    expect(takes([[FIRST_MARK_VALUE + 5, 1500]])).toBe(true)
  })

  test.each<[string, Array<[value: number, nowMs: number]>]>([
    ['one alone', [[FIRST_MARK_VALUE + 1, 1000]]],
    ['those that are further apart, as behind a few messages', [[FIRST_MARK_VALUE + 1, 1000], [FIRST_MARK_VALUE + 3, 1251]]],
    ['those that say it sends less', [[FIRST_MARK_VALUE, 1000], [FIRST_MARK_VALUE + 2, 1001], [FIRST_MARK_VALUE + 4, 1002]]],
    ['one that says so behind one that does not, as in a burst', [[FIRST_MARK_VALUE + 2, 1000], [FIRST_MARK_VALUE + 5, 1001]]],
    ['those of others, which count from 0', [[1, 1000], [2, 1001], [3, 1002], [5, 1003]]],
    ['those that are drawn', [[FIRST_MARK_VALUE + 77, 1000], [FIRST_MARK_VALUE + 5, 1001]]]
  ])('and not by %s', (_, pings) => {
    expect(takes(pings)).toBe(false)
  })
})
