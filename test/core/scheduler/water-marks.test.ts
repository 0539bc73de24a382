// How much writers have queued while the path works on it.
import { expect, test } from 'vitest'
import { chooseLowWaterMarkBytes } from '../../../src/core/scheduler/water-marks.ts'

test.each([
  ['128 KiB where nothing is held back', 0, 1, 131_072],
  ['128 KiB where the path carries less in a quarter of a second', 250, 1, 131_072],
  ['what the path carries in a quarter of a second', 1250, 1, 312_500],
  ['a part of that for each of the writers', 4000, 4, 250_000],
  ['2 MiB on the fastest path that holds back', 100_000, 1, 2_097_152],
  ['128 KiB however many there are', 100_000, 1000, 131_072]
])('%s', (_, bytesPerMs, writers, markBytes) => {
  expect(chooseLowWaterMarkBytes(bytesPerMs, writers)).toBe(markBytes)
})
