// The rate of a path: the highest sample of the last while, whether it still grows, and whether it has fallen.
import { beforeEach, describe, expect, test } from 'vitest'
import { KnownRate, RecentHighest } from '../../../src/core/path/rate.ts'

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
  test('is found when three rounds in a row have not raised it by a quarter', () => {
    const rate = new KnownRate()

    expect([100, 124, 124].map(bytesPerMs => rate.grows(bytesPerMs))).toEqual([true, true, true])
    expect(rate.grows(124)).toBe(false)
  })

  test('begins to be looked for again with each round that raises it by a quarter', () => {
    const rate = new KnownRate()

    expect([100, 100, 100, 125, 125, 125].map(bytesPerMs => rate.grows(bytesPerMs))).toEqual([true, true, true, true, true, true])
    expect(rate.grows(125)).toBe(false)
    expect(rate.bytesPerMs).toBe(125)
  })

  test('has fallen below three quarters of what it was', () => {
    const rate = new KnownRate()
    rate.grows(100)

    expect(rate.hasFallenTo(75)).toBe(false)
    expect(rate.hasFallenTo(74)).toBe(true)
  })
})
