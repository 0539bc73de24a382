// The rate of a path: the highest sample of the last while, whether it still grows, and whether it has fallen.
import { beforeEach, describe, expect, test } from 'vitest'
import { KnownRate, RecentHighest } from '../../src/path/rate.ts'

const VALID_MS = 1000

let highest: RecentHighest

function learn (sample: number, nowMs: number, isAppLimited = false): number {
  highest.learn(sample, isAppLimited, nowMs, VALID_MS)

  return highest.value
}

/** Every 100 ms until then, from 100 on */
function learnEvery100Ms (sample: number, untilMs: number): number {
  for (let nowMs = 100; nowMs <= untilMs; nowMs += 100) {
    learn(sample, nowMs)
  }

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

    expect(learnEvery100Ms(100, 900)).toBe(300)
    expect(learn(100, 999)).toBe(300)
    expect(learn(100, 1000)).toBe(100)
  })

  test('outlasts a pause of any length, which counts as an eighth of the while', () => {
    learn(300, 0)

    // half of the while is over at the fourth, and all of it at the eighth
    const values = Array.from({ length: 8 }, (_, hour) => learn(100, 3_600_000 * (hour + 1)))
    expect(values).toEqual([...Array.from({ length: 7 }, () => 300), 100])
  })

  test('is raised by what shows only what was asked of the path, and never lowered', () => {
    learn(100, 0)

    expect(learn(20, 5000, true)).toBe(100)
    expect(learn(200, 5001, true)).toBe(200)
  })
})

describe('a known rate', () => {
  let rate: KnownRate

  /** Round trips that have shown these rates */
  function roundTrips (rates: number[]): boolean[] {
    return rates.map(bytesPerMs => rate.grows(bytesPerMs))
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

  test('has fallen below three quarters of what it was', () => {
    roundTrips([100])

    expect(rate.hasFallenTo(75)).toBe(false)
    expect(rate.hasFallenTo(74)).toBe(true)
  })
})
