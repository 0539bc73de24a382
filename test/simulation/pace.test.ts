// The pace of a link whose rate changes, against the model of a link that is slow in some slots and stands still in others.
import { expect, test } from 'vitest'
import { Pace } from '../../testing/simulation/pace.ts'
import { Random } from '../../testing/simulation/random.ts'

test('a link carries its part of the rate in each slot, nothing in some, and begins anew', () => {
  const pace = new Pace([1, 0, 0.5], 50)

  expect([0, 25, 50, 75, 100, 125, 150, 175].map(atMs => pace.movedMs(atMs))).toEqual([0, 25, 50, 50, 50, 62.5, 75, 100])
  expect([0, 25, 50, 62.5, 75, 100].map(movedMs => pace.atMs(movedMs))).toEqual([0, 25, 50, 125, 150, 175])
})

test('what a link has carried up to an instant is carried by then, whatever its rates', () => {
  const random = new Random(1)
  const pace = new Pace(Array.from({ length: 400 }, () => random.chance(0.1) ? 0 : 3 * random.next()), 50)

  for (let atMs = 0; atMs < 120_000; atMs += 37) {
    expect(pace.atMs(pace.movedMs(atMs))).toBeLessThanOrEqual(atMs + 1e-3)
    expect(pace.movedMs(pace.atMs(pace.movedMs(atMs)))).toBeCloseTo(pace.movedMs(atMs), 3)
  }
})
