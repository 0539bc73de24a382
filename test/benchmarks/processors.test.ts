// When `npm start` calls its machine too busy.
import { expect, test } from 'vitest'
import { describeOthers, percentTakenByOthers } from '../../benchmarks/processors.ts'
import type { Watched } from '../../benchmarks/processors.ts'

/** A second, of which the benchmark has one processor and a half */
const second = (busyMs: number): Watched => ({ elapsedMs: 1000, busyMs, ownMs: 1500 })

test('what the benchmark did not take was taken by others', () => {
  expect(percentTakenByOthers([second(1700), second(2100)], 2)).toBe(20)
})

test('processors beyond the two that a benchmark needs are there for others', () => {
  expect(percentTakenByOthers([second(3500)], 4)).toBe(0)
  expect(percentTakenByOthers([second(4000)], 4)).toBe(25)
})

test('a clock that counts in coarse steps is not taken for less than nothing', () => {
  expect(percentTakenByOthers([second(1490)], 2)).toBe(0)
})

test('a busy machine is told, with how much and what to do, and a quiet one is not', () => {
  expect(describeOthers(38.2)).toEqual([expect.stringMatching(/^Other programs took 38 % of the processors .* Close them/)])
  expect(describeOthers(9)).toEqual([])
})
