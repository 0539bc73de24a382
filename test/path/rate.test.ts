// The rate of a path: the highest sample of the last while, whether it still grows, and whether it has fallen.
import { beforeEach, describe, expect, test } from 'vitest'
import { KnownRate, RecentHighest } from '../../src/path/rate.ts'

const VALID_MS = 1000

let highest: RecentHighest

function learn (sample: number, nowMs: number, isAppLimited = false): number {
  highest.learn(sample, isAppLimited, nowMs, VALID_MS)

  return highest.value
}

beforeEach(() => {
  highest = new RecentHighest()
})

describe('the recent highest', () => {
  test('is 0 until there was a sample', () => {
    expect(highest.value).toBe(0)
  })

  test('is the highest of those that came', () => {
    expect(learn(100, 0)).toBe(100)
    expect(learn(50, 10)).toBe(100)
    expect(learn(300, 20)).toBe(300)
  })

  test('is kept for half of the while at least, and forgotten after all of it', () => {
    learn(300, 0)

    expect(learn(100, 499)).toBe(300)
    expect(learn(100, 500)).toBe(300)
    expect(learn(100, 999)).toBe(300)
    expect(learn(100, 1000)).toBe(100)
  })

  test('is that of a later one at once when nothing came for the while', () => {
    learn(300, 0)

    expect(learn(100, 1000)).toBe(100)
  })

  test('is raised by what shows only what was asked of the path, and never lowered', () => {
    learn(100, 0)

    expect(learn(20, 5000, true)).toBe(100)
    expect(learn(200, 5001, true)).toBe(200)
  })

  test('is learnt anew by a clock that was set back', () => {
    learn(300, 3_600_000)

    expect(learn(100, 0)).toBe(300)
    expect(learn(100, 1000)).toBe(100)
  })
})

describe('a known rate', () => {
  let rate: KnownRate

  /** Round trips that have shown these rates, this far apart; they count if they are 10 ms apart */
  function roundTrips (rates: number[], apartMs = 10): boolean[] {
    return rates.map((bytesPerMs, index) => rate.grows(bytesPerMs, 1000 + index * apartMs, 10))
  }

  beforeEach(() => {
    rate = new KnownRate()
  })

  test('is found when three round trips in a row have not raised it by a quarter', () => {
    expect(roundTrips([100, 124, 124, 124])).toEqual([true, true, true, false])
  })

  test('is searched for again after each round trip that raises it by a quarter', () => {
    expect(roundTrips([100, 100, 100, 125, 125, 125, 125])).toEqual([true, true, true, true, true, true, false])
    expect(rate.bytesPerMs).toBe(125)
  })

  test('is searched for while all round trips end in one long turn of a program', () => {
    // of those 3 ms apart each fourth counts
    expect(roundTrips(Array.from({ length: 13 }, () => 100), 3)).toEqual([...Array.from({ length: 12 }, () => true), false])
  })

  test('is found although the clock was set back', () => {
    rate.grows(100, 3_600_000, 10)

    expect(roundTrips([100, 100, 100])).toEqual([true, true, false])
  })

  test('has fallen below three quarters of what it was', () => {
    roundTrips([100])

    expect(rate.hasFallenTo(75)).toBe(false)
    expect(rate.hasFallenTo(74)).toBe(true)
  })
})
