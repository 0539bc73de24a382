// What is under way, and when the peer is asked. The times are those that the caller brings.
import { beforeEach, describe, expect, test } from 'vitest'
import { BytesUnderWay } from '../../../src/core/path/bytes-under-way.ts'
import { FIRST_MARK_VALUE } from '../../../src/core/path/marks.ts'
import { NodePaths } from '../../../src/core/path/node-paths.ts'
import { HEADER_BYTES } from '../../../src/core/wire/frame.ts'

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

let underWay: BytesUnderWay

/** A ping was answered before there was data */
function createAsked (nowMs = 0, roundTripMs = ROUND_TRIP_MS): BytesUnderWay {
  const created = new BytesUnderWay(10, WRITE_BYTES, new NodePaths())
  created.onPingAnswered(0, roundTripMs, nowMs)

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

/** The pongs come in one chunk */
function answer (values: number[], nowMs: number): void {
  underWay.onChunk(HEADER_BYTES * values.length, nowMs)

  for (const value of values) {
    underWay.onPong(value, nowMs)
  }
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

    expect(underWay.onPong(first, ROUND_TRIP_MS)).toBe(true)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(true)
  })

  test('is followed by a mark when the first ping is answered behind it', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES, new NodePaths())
    underWay.handDown(HOLDS_FROM_BYTES, 0, false)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(false)

    underWay.onPingAnswered(0, ROUND_TRIP_MS, ROUND_TRIP_MS)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(true)
  })
})

describe('a clock', () => {
  test('that was set back between two pongs shows no rate', () => {
    underWay = createAsked(1_000_000)
    let value = mark(30_000, 1_000_000)

    for (let nowMs = 1_000_010; nowMs < 1_000_200; nowMs += 10) {
      underWay.onPong(value, nowMs)
      value = mark(30_000, nowMs)
    }

    const { bytesPerMs } = underWay.estimate
    underWay.onPong(value, 1_000_210)

    for (let nowMs = 0; nowMs < 200; nowMs += 10) {
      value = mark(30_000, nowMs)
      underWay.onPong(value, nowMs + 10)
      expect(underWay.estimate.bytesPerMs).toBeLessThan(1.5 * bytesPerMs)
    }
  })

  test('that jumps by an hour measures no round trip, and what has arrived has arrived', () => {
    const value = mark(20_000, 0)
    expect(underWay.onPong(value, 3_600_020)).toBe(true)

    expect(underWay.acknowledgedBytes).toBe(20_000)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back measures no round trip, and what has arrived has arrived', () => {
    underWay = createAsked(3_600_000)
    const value = mark(20_000, 3_600_000)
    expect(underWay.onPong(value, 0)).toBe(true)

    expect(underWay.acknowledgedBytes).toBe(20_000)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.roundTripMs).toBe(ROUND_TRIP_MS)
  })

  test('that was set back does not put marks off', () => {
    underWay = createAsked(3_600_000)
    underWay.handDown(MARKS_FROM_BYTES, 3_600_000, false)
    underWay.mark(3_600_000)

    expect(underWay.handDown(SPACE_BYTES, 0, false)).toBe(true)
  })

  test('that was set back while data was held leaves no negative time', () => {
    underWay = createAsked(3_600_000)
    const value = fill(3_600_000).at(-1) as number
    underWay.onPong(value, 0)

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

    underWay.onPong(value, 20)
    expect(underWay.acknowledgedBytes).toBe(1000)
    expect(underWay.byteLength).toBe(500 + HEADER_BYTES)
  })

  test('is less by what was in front of an ordinary ping too', () => {
    underWay.handDown(1000, 0, false)
    underWay.handDown(500, 0, false)
    underWay.onPingAnswered(1000, ROUND_TRIP_MS, 20)

    expect(underWay.byteLength).toBe(500)
  })

  test('is not more when an ordinary ping is answered that was in front of a mark', () => {
    const value = mark(1000, 0)
    underWay.onPong(value, 20)
    underWay.onPingAnswered(300, ROUND_TRIP_MS, 21)

    expect(underWay.acknowledgedBytes).toBe(1000)
  })

  test('holds data back when a write more would be as likely above 64 KiB as below until something is known, and no longer when it has arrived', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES, new NodePaths())
    underWay.handDown(HOLDS_FROM_BYTES - 1, 5, false)
    expect(underWay.isHeld).toBe(false)

    underWay.handDown(1, 5, false)
    expect(underWay.isHeld).toBe(true)

    underWay.onPingAnswered(HOLDS_FROM_BYTES, ROUND_TRIP_MS, 25)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.heldMs).toBe(20)
  })

  test('is not bounded when the peer may queue for ever: nothing is marked, held or learnt', () => {
    underWay = new BytesUnderWay(Infinity, WRITE_BYTES, new NodePaths())
    underWay.onPingAnswered(0, ROUND_TRIP_MS, 0)

    for (let nowMs = 0; nowMs < 1000; nowMs++) {
      expect(underWay.handDown(1_000_000, nowMs, false)).toBe(false)
    }

    underWay.onTransportFull(1000)
    underWay.look(10_000)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.isMarkOwed).toBe(false)
    expect(underWay.urgent.isSpent).toBe(false)
    expect(underWay.estimate.bytesPerMs).toBe(0)
    expect(underWay.estimate.bound.writeBytes).toBe(WRITE_BYTES)
  })

  test('can be asked about although it is not bounded', () => {
    underWay = new BytesUnderWay(Infinity, WRITE_BYTES, new NodePaths())
    underWay.isMarkOwed = true
    expect(underWay.handDown(1000, 0, false)).toBe(true)

    expect(underWay.onPong(underWay.mark(0), 20)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(1000)
    expect(underWay.handDown(1000, 20, false)).toBe(false)
  })
})

describe('what can still be under way', () => {
  test('is nothing a second after the last mark was answered and the last data was handed down', () => {
    const value = mark(1000, 0)
    underWay.handDown(100, 10, true)
    underWay.onPong(value, ROUND_TRIP_MS)

    expect(underWay.pendingBytes(1009)).toBe(100 + HEADER_BYTES)
    expect(underWay.pendingBytes(1010)).toBe(0)
  })

  test('is nothing four round trips after it, if they are longer', () => {
    const value = mark(1000, 0)
    underWay.handDown(100, 100, true)
    underWay.onPong(value, 400)

    expect(underWay.pendingBytes(1699)).toBe(100 + HEADER_BYTES)
    expect(underWay.pendingBytes(1700)).toBe(0)
  })

  test('is nothing four round trips after it where only a ping has told how long they are', () => {
    underWay = createAsked(0, 600)
    underWay.handDown(100, 0, true)

    expect(underWay.pendingBytes(2399)).toBe(100)
    expect(underWay.pendingBytes(2400)).toBe(0)
  })

  test('is no more than what was handed down last when the rest has arrived', () => {
    underWay = createAsked(0, NEAR_MS)
    underWay.handDown(16_000, 0, true)
    underWay.handDown(10_000, 1000, true)

    expect(underWay.byteLength).toBe(10_000)
    expect(underWay.isHeld).toBe(false)
  })

  test('is asked for by a mark when 28 KiB in all have no pong, however long the pauses were', () => {
    underWay = createAsked(0, NEAR_MS)

    expect([0, 1000, 2000].map(nowMs => underWay.handDown(10_000, nowMs, true))).toEqual([false, false, true])
  })

  test('is all that was handed down since 32 KiB in all had no pong, if no mark could be written', () => {
    underWay = createAsked(0, NEAR_MS)
    ;[0, 1000, 2000, 3000].forEach(nowMs => { underWay.handDown(16_000, nowMs, true) })

    expect(underWay.pendingBytes(60_000)).toBe(32_000)
  })

  test('counts when less than a second has passed, as the peer may not have it yet', () => {
    underWay = createAsked(0, NEAR_MS)
    underWay.handDown(20_000, 0, true)
    expect(underWay.handDown(20_000, 999, true)).toBe(true)

    expect(underWay.byteLength).toBe(40_000)
  })

  test('is all of it while a mark was not answered', () => {
    underWay.onPong(mark(1000, 0), ROUND_TRIP_MS)
    mark(500, 30)

    expect(underWay.pendingBytes(60_000)).toBe(500 + 2 * HEADER_BYTES)
  })
})

describe('marks', () => {
  test('have values of their own, from the middle of all values on', () => {
    expect([mark(1, 0), mark(1, 0), mark(1, 0)]).toEqual([FIRST_MARK_VALUE, FIRST_MARK_VALUE + 2, FIRST_MARK_VALUE + 4])
    expect(FIRST_MARK_VALUE).toBe(2 ** 31)
  })

  test('say whether data fills the path: while it is held back, and where more is there to send all the time', () => {
    const isOdd = (): boolean => underWay.mark(0) % 2 === 1
    underWay.handDown(30_000, 0, false)
    expect(isOdd()).toBe(false)

    underWay.handDown(40_000, 0, true)
    expect([underWay.isHeld, isOdd()]).toEqual([true, true])
  })

  test('say so behind a round trip in which all that was handed down was less than there was', () => {
    const first = mark(30_000, 0)
    underWay.handDown(1000, 1, false)
    underWay.onPong(first, ROUND_TRIP_MS)

    expect([underWay.isHeld, underWay.mark(ROUND_TRIP_MS) % 2]).toEqual([false, 1])
  })

  test('begin when half of what is allowed is under way', () => {
    underWay = createAsked(0, NEAR_MS)

    expect(underWay.handDown(MARKS_FROM_BYTES - 1, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('begin behind 7 KiB over a far path of which nothing is known, which is among what TCP sends at once', () => {
    expect(underWay.handDown(FAR_MARKS_FROM_BYTES - 1, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('begin behind half of what is allowed over a far path, when a rate is known', () => {
    underWay.onPong(mark(FAR_MARKS_FROM_BYTES, 0), ROUND_TRIP_MS)
    const bytes = underWay.estimate.bound.holdsFromBytes / 2 - HEADER_BYTES

    expect(underWay.handDown(bytes - 1, ROUND_TRIP_MS, false)).toBe(false)
    expect(underWay.handDown(1, ROUND_TRIP_MS, false)).toBe(true)
  })

  test('are seven eighths of 4 KiB apart from there on, themselves included', () => {
    mark(MARKS_FROM_BYTES, 0)

    expect(underWay.handDown(SPACE_BYTES - 1, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('are seven eighths of an eighth of what is under way apart when that is more', () => {
    // of 80,000 and the mark itself: 8751.3 bytes, of which the mark is 12
    mark(80_000, 0)

    expect(underWay.handDown(8739, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('are none behind requests of which less than half of what is allowed is under way', () => {
    underWay = createAsked(0, NEAR_MS)

    for (let nowMs = 0; nowMs < 2860; nowMs += 10) {
      expect(underWay.handDown(100, nowMs, true)).toBe(false)
    }

    // 286 of 100 bytes
    expect(underWay.handDown(100, 2860, true)).toBe(true)
  })

  test('begin again when half of what is allowed has gathered behind what was answered', () => {
    underWay.onPong(mark(MARKS_FROM_BYTES, 0), ROUND_TRIP_MS)
    // the mark itself is under way still
    const bytes = underWay.estimate.bound.holdsFromBytes / 2 - HEADER_BYTES

    expect(underWay.handDown(bytes - 1, 30, false)).toBe(false)
    expect(underWay.handDown(1, 30, false)).toBe(true)
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

  test('are not asked for while nobody has answered a ping, but for the ping itself behind 32 KiB', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES, new NodePaths())

    expect(underWay.canMark).toBe(false)
    expect(underWay.handDown(32_767, 0, false)).toBe(false)
    expect(underWay.handDown(1, 0, false)).toBe(true)
  })

  test('follow data that is held back, so that there is a pong to wait for', () => {
    const values = fill(0)

    expect(values.length).toBeGreaterThan(0)
    expect(underWay.onPong(values.at(-1) as number, 20)).toBe(true)
    expect(underWay.isHeld).toBe(false)
  })

  test('are 64 at most: the oldest is forgotten, and a later one says the same', () => {
    const values = Array.from({ length: 65 }, (_, i) => mark(100, i))

    expect(underWay.onPong(values[0], 100)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(0)
    expect(underWay.onPong(values[1], 100)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(200 + HEADER_BYTES)
  })
})

describe('a pong', () => {
  test('to a mark that nobody has written says nothing', () => {
    mark(1000, 0)

    expect(underWay.onPong(FIRST_MARK_VALUE + 1, 10)).toBe(false)
    expect(underWay.onPong(0, 10)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(0)
  })

  test('that comes again says nothing', () => {
    const value = mark(1000, 0)
    underWay.onPong(value, 20)
    const { bytesPerMs } = underWay.estimate

    expect(underWay.onPong(value, 21)).toBe(false)
    expect(underWay.estimate.bytesPerMs).toBe(bytesPerMs)
    expect(underWay.acknowledgedBytes).toBe(1000)
  })

  test('to a later mark answers all in front of it, whose own say nothing then', () => {
    const [first, second, third] = [mark(1000, 0), mark(1000, 1), mark(1000, 2)]

    expect(underWay.onPong(second, 20)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(underWay.onPong(first, 21)).toBe(false)
    expect(underWay.acknowledgedBytes).toBe(2000 + HEADER_BYTES)
    expect(underWay.onPong(third, 22)).toBe(true)
    expect(underWay.acknowledgedBytes).toBe(3000 + 2 * HEADER_BYTES)
  })

  test('to an ordinary ping answers the marks in front of it, and none behind', () => {
    const first = mark(1000, 0)
    const pingedBytes = underWay.handedDownBytes
    const second = mark(1000, 1)
    underWay.onPingAnswered(pingedBytes, ROUND_TRIP_MS, 20)

    expect(underWay.onPong(first, 21)).toBe(false)
    expect(underWay.onPong(second, 21)).toBe(true)
  })
})

describe('a look', () => {
  test('does nothing while no data is held back', () => {
    mark(1000, 0)
    underWay.look(60_000)

    expect(underWay.isMarkOwed).toBe(false)
    // the bound was not lifted either
    underWay.handDown(100_000, 60_000, false)
    expect(underWay.isHeld).toBe(true)
  })

  test('asks again after half a round trip, and three times as soon, then at half the pace each time, once a second at least', () => {
    underWay.onPong(mark(1000, 0), ROUND_TRIP_MS)
    mark(HOLDS_FROM_BYTES, ROUND_TRIP_MS)
    const delaysMs: number[] = []

    for (let nowMs = ROUND_TRIP_MS; delaysMs.length < 12; nowMs += delaysMs.at(-1) as number) {
      delaysMs.push(underWay.lookDelayMs)
      underWay.look(nowMs)
      expect(underWay.isMarkOwed).toBe(true)
      underWay.mark(nowMs)
    }

    expect(delaysMs).toEqual([10, 10, 10, 10, 20, 40, 80, 160, 320, 640, 1000, 1000])
  })

  test('begins anew with each pong', () => {
    underWay.onPong(mark(1000, 0), ROUND_TRIP_MS)
    const value = mark(1000, ROUND_TRIP_MS)
    mark(400_000, ROUND_TRIP_MS)

    for (const nowMs of [30, 40, 50, 60, 80]) {
      underWay.look(nowMs)
      underWay.mark(nowMs)
    }
    expect(underWay.lookDelayMs).toBe(40)

    underWay.onPong(value, 80)
    expect(underWay.isHeld).toBe(true)
    // half of 60 ms
    expect(underWay.lookDelayMs).toBe(30)
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

    underWay.onPong(values[0], 6000)
    expect(underWay.isHeld).toBe(true)
  })

  test('lifts the bound when no mark was answered for 5 s, also where other pings are', () => {
    fill(0)

    for (let nowMs = 500; nowMs < 5000; nowMs += 500) {
      underWay.onPingAnswered(underWay.handedDownBytes, ROUND_TRIP_MS, nowMs)
      fill(nowMs)
    }

    underWay.look(4999)
    expect(underWay.isHeld).toBe(true)

    underWay.look(5000)
    expect(underWay.isHeld).toBe(false)
  })

  test('lifts the bound after half a second when no ping was ever answered, and asks nothing until then', () => {
    underWay = new BytesUnderWay(10, WRITE_BYTES, new NodePaths())
    underWay.handDown(HOLDS_FROM_BYTES, 0, false)
    underWay.look(499)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.isMarkOwed).toBe(false)

    underWay.look(500)
    expect(underWay.isHeld).toBe(false)
  })

  test('counts from the last pong', () => {
    const first = mark(1000, 0)
    mark(2 * HOLDS_FROM_BYTES, 0)
    underWay.onPong(first, 4000)
    underWay.look(8999)
    expect(underWay.isHeld).toBe(true)

    underWay.look(4000 + 4 * 4000)
    expect(underWay.isHeld).toBe(false)
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
    expect(underWay.estimate.answersFew).toBe(false)
    answerLastOf(8)
    expect(underWay.estimate.answersFew).toBe(true)

    answerLastOf(1)
    expect(underWay.estimate.answersFew).toBe(false)
  })

  test.each([[2, false], [4, false], [5, false], [6, true]])('one in %d is answered all the time, which is few: %s', (marks, isFew) => {
    for (let round = 0; round < 50; round++) {
      answerLastOf(marks, 40 * round)
    }

    // less than a quarter, where later ones count more
    expect(underWay.estimate.answersFew).toBe(isFew)
  })

  test('none was lost when all are answered', () => {
    for (let round = 0; round < 50; round++) {
      answer([mark(100, 40 * round), mark(100, 40 * round)], 40 * round + ROUND_TRIP_MS)
    }

    expect(underWay.estimate.answersFew).toBe(false)
  })

  test('so much more stands in front of the next as the peer answers less', () => {
    mark(MARKS_FROM_BYTES, 0)
    underWay.onPong(mark(100, 0), ROUND_TRIP_MS)
    mark(100_000, ROUND_TRIP_MS)

    // one of two is 0.890625 of what it was: an eighth of 100,024 is 12,503 bytes, 7/8 of that 10,940.125, and for 0.890625 of that 12,283.6
    expect(underWay.handDown(12_271, ROUND_TRIP_MS, false)).toBe(false)
    expect(underWay.handDown(1, ROUND_TRIP_MS, false)).toBe(true)
  })

  test('nothing is held back any more when few are answered, and only behind a long silence, and something is when the peer answers again', () => {
    answerLastOf(8)
    answerLastOf(8, 100)
    const values = Array.from({ length: 8 }, () => mark(10_000, 200))
    expect(underWay.isHeld).toBe(true)
    answer(values.slice(-1), 400)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.estimate.bound.bytes).toBe(Infinity)
    const [next, last] = [mark(10_000_000, 400), mark(10_000_000, 400)]
    expect(underWay.isHeld).toBe(false)

    answer([next], 500)
    expect(underWay.isHeld).toBe(true)
    expect(underWay.estimate.bound.bytes).toBeLessThan(10_000_000)
    answer([last], 600)
    expect(underWay.isHeld).toBe(false)
    expect(underWay.estimate.bound.bytes).toBeLessThan(Infinity)
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

      if (underWay.handDown(bytesPerMs, nowMs, false)) {
        values.push(underWay.mark(nowMs))
        markedMs.push(nowMs)
      }
    }

    return markedMs
  }

  test('nothing is held back, and there is one mark in 100 ms', () => {
    run(500_000, 0, 100)
    expect(underWay.estimate.fast.isFast).toBe(true)
    const { heldMs } = underWay
    const markedMs = run(500_000, 100, 1000)

    expect(markedMs.length).toBe(10)
    expect(markedMs.slice(1).map((ms, i) => ms - markedMs[i])).toEqual(Array.from({ length: 9 }, () => 100))
    expect(underWay.heldMs).toBe(heldMs)
    expect(underWay.isHeld).toBe(false)
  })

  test('marks are no closer however much is handed down at once', () => {
    run(500_000, 0, 100)
    const values = Array.from({ length: 20 }, () => underWay.handDown(1_000_000_000, 100, false))

    expect(values.filter(Boolean).length).toBeLessThan(2)
    expect(underWay.isHeld).toBe(false)
  })

  test('data is held back again when the rate has fallen below half of what makes it one', () => {
    run(500_000, 0, 100)
    run(104_000, 100, 2000)
    expect(underWay.estimate.fast.isFast).toBe(false)

    expect(fill(2100).length).toBeLessThan(10)
    expect(underWay.isHeld).toBe(true)
  })

  test('nothing is held back if that is what the transport takes before it says "wait", and not if it takes more', () => {
    run(10_000, 0, 200)
    underWay.handDown(300_000, 200, false)
    underWay.onTransportFull(200)
    // they arrive in 30 ms
    run(10_000, 230, 100)
    // 200,000 in 20 ms
    expect(underWay.estimate.fast.isFast).toBe(false)

    run(20_000, 330, 100)
    // 400,000
    expect(underWay.estimate.fast.isFast).toBe(true)
  })

  test('nothing is held back as long as it has not', () => {
    run(500_000, 0, 100)
    run(105_000, 100, 2000)

    expect(underWay.estimate.fast.isFast).toBe(true)
  })
})

describe('urgent data', () => {
  test('passes up to a frame while other data is held back', () => {
    fill(0)
    underWay.handDown(16_383, 1, false, 16_383)
    expect(underWay.urgent.isSpent).toBe(false)

    underWay.handDown(1, 1, false, 1)
    expect(underWay.urgent.isSpent).toBe(true)
  })

  test('is not counted while nothing is held back', () => {
    underWay.handDown(20_000, 0, false, 20_000)

    expect(underWay.urgent.isSpent).toBe(false)
  })

  test('is what is urgent of what is handed down', () => {
    fill(0)
    underWay.handDown(60_000, 1, false, 16_383)

    expect(underWay.urgent.isSpent).toBe(false)
  })

  test('passes again when eight times what it used up has arrived while other data was held back', () => {
    const [first, second] = [mark(120_000, 0), mark(12_000, 0)]
    underWay.handDown(16_384, 0, false, 16_384)
    mark(300_000, 0)
    expect(underWay.urgent.isSpent).toBe(true)

    // an eighth of 120,000 bytes is 15,000
    underWay.onPong(first, ROUND_TRIP_MS)
    expect(underWay.urgent.isSpent).toBe(true)
    // and of 12,012 more with the mark 1501
    underWay.onPong(second, ROUND_TRIP_MS)
    expect(underWay.urgent.isSpent).toBe(false)
  })

  test('passes when nothing was held back any more', () => {
    const values = fill(0)
    underWay.handDown(1_000_000, 1, false, 1_000_000)
    answer([...values, mark(0, 1)], ROUND_TRIP_MS)
    expect(underWay.isHeld).toBe(false)
    underWay.onPong(mark(1000, 2 * ROUND_TRIP_MS), 3 * ROUND_TRIP_MS)

    expect(underWay.urgent.isSpent).toBe(false)
  })
})

describe('a silence', () => {
  test('behind which all comes back at once raises the bound to 8 times what was under way, while the rate is looked for', () => {
    const values = fill(0)
    // 14 writes of 4096 bytes, with marks behind the second to the eighth and the last
    expect(underWay.byteLength).toBe(57_440)
    answer(values, 200)

    expect(underWay.estimate.bound.bytes).toBe(8 * 57_440)
  })

  test('behind which all comes at the pace of the path does not', () => {
    const values = fill(0)

    // 28 KiB at 100 bytes a millisecond, then 4 KiB each time
    values.forEach((value, i) => { answer([value], 307 + 41 * i) })

    expect(underWay.estimate.bound.bytes).toBe(65_536)
  })

  test('in which the peer has sent other bytes all the time does not', () => {
    const values = fill(0)

    for (let nowMs = 10; nowMs < 200; nowMs += 10) {
      underWay.onChunk(100, nowMs)
    }
    answer(values, 200)

    expect(underWay.estimate.bound.bytes).toBe(65_536)
  })

  test('while nothing was held back does not', () => {
    underWay.handDown(40_000, 0, false)
    answer([underWay.mark(0)], 200)

    expect(underWay.estimate.bound.bytes).toBe(65_536)
  })
})

describe('the peer bounds what it has under way too', () => {
  /** Pings of the peer, one after the other */
  function takes (pings: Array<[value: number, nowMs: number]>): boolean {
    for (const [value, nowMs] of pings) {
      underWay.onPing(value, nowMs)
    }

    return underWay.estimate.peer.fullMs === pings[pings.length - 1][1]
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
