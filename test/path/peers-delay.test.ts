// How much longer than usual the peer's data travels, from the times that its marks bring, and how long pongs have waited in the last seconds.
import { beforeEach, describe, expect, test } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { UNITS_PER_MS } from '../../src/path/marks.ts'
import { PeersDelay } from '../../src/path/peers-delay.ts'

const ALL_UNITS = 2 ** 31
/** What a mark takes when nothing is queued */
const TRAVEL_MS = 20

let peers: PeersDelay
/** How far the peer's clock is ahead of this one, and the part by which it is faster */
let aheadMs: number
let driftPart: number

/** The value of a mark that the peer writes then, by this side's clock */
function valueAt (writtenMs: number): number {
  const units = Math.floor((writtenMs * (1 + driftPart) + aheadMs) * UNITS_PER_MS / 2) * 2

  return FIRST_MARK_VALUE + ((units % ALL_UNITS) + ALL_UNITS) % ALL_UNITS
}

/** A mark of the peer that waits so long in a queue, and comes at `nowMs`; returns the delay of the pong beside it */
function receive (queuedMs: number, nowMs: number): number {
  peers.onPing(valueAt(nowMs - TRAVEL_MS - queuedMs), nowMs)

  return peers.delayMs(nowMs, Infinity)
}

beforeEach(() => {
  peers = new PeersDelay()
  aheadMs = 0
  driftPart = 0
})

describe('the delay of a pong', () => {
  test('is 0 until the peer has written a mark, and beside its first one', () => {
    expect(peers.delayMs(1000, Infinity)).toBe(0)
    expect(receive(500, 2000)).toBe(0)
  })

  test('is 0 beside the fastest mark, and what another takes longer beside that', () => {
    receive(0, 1000)
    expect(receive(80, 1100)).toBeCloseTo(80, 1)
    expect(receive(150, 1200)).toBeCloseTo(150, 1)
    expect(receive(0, 1300)).toBeCloseTo(0, 1)
  })

  test('is what the last mark takes longer than a faster one that comes later', () => {
    receive(100, 1000)
    expect(receive(40, 1100)).toBe(0)
    expect(receive(100, 1200)).toBeCloseTo(60, 1)
  })

  test.each([[0], [123_456], [-123_456], [86_400_000 * 365]])('is the same with clocks that differ by %d ms', differenceMs => {
    aheadMs = differenceMs
    receive(0, 1000)

    expect(receive(80, 1100)).toBeCloseTo(80, 1)
  })

  test('is the same when values begin anew after 2^31 units', () => {
    // between the first mark, written at 980, and the second, at 1020
    aheadMs = ALL_UNITS / UNITS_PER_MS - 1000
    receive(0, 1000)
    expect(valueAt(1020)).toBeLessThan(valueAt(980))

    expect(receive(80, 1120)).toBeCloseTo(80, 1)
  })

  test('is that of the last mark for 250 ms, as the peer would write one beside a later pong', () => {
    receive(0, 1000)
    receive(80, 1100)

    expect(peers.delayMs(1349, Infinity)).toBeCloseTo(80, 1)
    expect(peers.delayMs(1350, Infinity)).toBe(0)
  })

  test.each([[1e-4], [-1e-4]])('does not accumulate a drift of %d between the clocks', part => {
    driftPart = part

    // 100 ms in the end
    for (let nowMs = 1000; nowMs < 1_001_000; nowMs += 100) {
      expect(receive(0, nowMs)).toBeLessThan(1)
    }

    expect(Math.abs(receive(80, 1_001_000) - 80)).toBeLessThan(1)
  })

  test('does not take a queue of ten seconds for the usual, but for a thousandth of it a second', () => {
    receive(0, 1000)

    for (let nowMs = 1100; nowMs <= 11_100; nowMs += 100) {
      expect(receive(80, nowMs)).toBeGreaterThan(78.9)
    }
  })

  test.each<[string, (index: number) => number]>([
    ['counted from 0', index => index],
    ['drawn below the middle of all values', index => (index + 1) * 715_827_883 % FIRST_MARK_VALUE],
    ['drawn among all values', index => (index + 1) * 2_654_435_769 % 2 ** 32],
    ['drawn above the middle', index => FIRST_MARK_VALUE + (index + 1) * 1_327_217_885 % ALL_UNITS]
  ])('is 0 if the values of pings are %s, as by other muxers', (_, valueOf) => {
    for (let index = 0; index < 100; index++) {
      const nowMs = 1000 + 100 * index
      peers.onPing(valueOf(index), nowMs)

      expect([peers.delayMs(nowMs, Infinity), peers.isMarked(nowMs)]).toEqual([0, false])
    }
  })

  test.each([0, 1, 2, 3])('is 0 from the 16th on of values that go up by %d from the middle of all on, as by a control of somebody else\'s', step => {
    for (let index = 0; index < 100; index++) {
      const nowMs = 1000 + 100 * index
      peers.onPing(FIRST_MARK_VALUE + step * index, nowMs)

      expect([peers.delayMs(nowMs, Infinity) > 0, peers.isMarked(nowMs)]).toEqual([index > 0 && index < 16, index > 0 && index < 16])
    }
  })

  test('is known of 16 marks that were written at once, and of those behind them', () => {
    receive(0, 1000)

    for (let index = 0; index < 15; index++) {
      peers.onPing(valueAt(1100) + 2 * index, 1200 + index)
    }

    expect(peers.isMarked(1214)).toBe(true)
    expect(receive(80, 1300)).toBeCloseTo(80, 1)
  })

  test('is no more than a pong can have waited', () => {
    receive(0, 1000)
    receive(80, 1100)

    expect([peers.delayMs(1100, 50), peers.delayMs(1100, -5)]).toEqual([50, 0])
  })

  test.each([[150_000, 5000], [300_100, 0]])('is, %d ms after a clock was set by five seconds, %d ms: the fastest mark is forgotten', (afterMs, delayMs) => {
    receive(0, 1000)
    aheadMs = -5000

    for (let nowMs = 1100; nowMs < 1100 + afterMs; nowMs += 100) {
      receive(0, nowMs)
    }

    expect(Math.abs(receive(0, 1100 + afterMs) - delayMs)).toBeLessThan(50)
  })

  test('is the same although pings that are no marks come in between', () => {
    receive(0, 1000)
    peers.onPing(5, 1050)

    expect(receive(80, 1100)).toBeCloseTo(80, 1)
  })

  test('begins anew behind a mark that seems to have taken ten seconds more or less: a clock was set', () => {
    receive(0, 20_000)
    expect(receive(9999, 20_100)).toBeCloseTo(9999, 0)
    aheadMs = 3_600_000
    expect(receive(80, 20_200)).toBe(0)
    receive(0, 20_300)

    expect(receive(80, 20_400)).toBeCloseTo(80, 1)
  })
})

describe('the peer writes marks, and bounds its data', () => {
  test('for half a minute from one that agrees with the clock of the one before', () => {
    receive(0, 1000)
    expect(peers.isMarked(1000)).toBe(false)
    receive(0, 3000)

    expect([peers.isMarked(3000), peers.isMarked(32_999), peers.isMarked(33_000)]).toEqual([true, true, false])
  })
})

describe('the mean delay', () => {
  /** Pongs that have waited so long, 100 ms apart */
  function learn (delayMs: number, fromMs: number, forMs: number): number {
    for (let nowMs = fromMs; nowMs < fromMs + forMs; nowMs += 100) {
      peers.learn(delayMs, nowMs)
    }

    return peers.meanMs
  }

  test('is that of the last seconds: it falls to one part in e within three', () => {
    learn(90, 10_000, 30_000)
    expect(peers.meanMs).toBeCloseTo(90, 1)

    // 30 pongs of 29/30 each
    expect(learn(0, 40_000, 3000)).toBeCloseTo(90 * (29 / 30) ** 30)
  })

  test('is the mean of delays that alternate, by their times and not by their number', () => {
    // a pong in 300 ms waits for 90 ms, and the ten of one clump behind it do not
    for (let nowMs = 10_000; nowMs < 40_000; nowMs += 300) {
      peers.learn(90, nowMs + 150)
      Array.from({ length: 10 }).forEach(() => { peers.learn(0, nowMs + 300) })
    }

    expect(peers.meanMs).toBeGreaterThan(40)
    expect(peers.meanMs).toBeLessThan(50)
  })

  test('is the last delay after three seconds without a pong', () => {
    learn(90, 10_000, 30_000)
    peers.learn(10, 60_000)

    expect(peers.meanMs).toBe(10)
  })
})
