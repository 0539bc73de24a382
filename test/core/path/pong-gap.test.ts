// How long it is from one pong to the next, as a byte that waits for one sees it.
import { beforeEach, expect, test } from 'vitest'
import { PongGap } from '../../../src/core/path/pong-gap.ts'

let gap: PongGap

beforeEach(() => {
  gap = new PongGap()
})

/** So many pongs, each behind an eighth of 80,000 bytes */
function pongs (gapsMs: number[]): void {
  gapsMs.forEach(ms => { gap.learn(ms, 10_000, 80_000) })
}

test('is what all pongs say, when what is under way has come back some times', () => {
  pongs(Array.from({ length: 100 }, () => 5))

  expect(gap.ms).toBeCloseTo(5, 1)
})

test('is the mean over bytes: of a clump of eight behind 200 ms it is an eighth of that', () => {
  pongs(Array.from({ length: 800 }, (_, i) => i % 8 === 0 ? 200 : 0))

  expect(gap.ms).toBeGreaterThan(19)
  expect(gap.ms).toBeLessThan(31)
})

test('is that of the one mark that is answered, however many there are', () => {
  for (let round = 0; round < 20; round++) {
    gap.learn(400, 70_000, 80_000)
  }

  expect(gap.ms).toBeGreaterThan(390)
})

test('counts at most the whole when more has arrived than is under way', () => {
  gap.learn(400, 1_000_000, 80_000)

  expect(gap.ms).toBe(400)
})

test.each([-1, 60_001])('leaves out %d ms: the clock has jumped', ms => {
  pongs([5, ms])

  expect(gap.ms).toBeLessThan(5)
})
