// How much writers have queued while the path works on it.
import { expect, test } from 'vitest'
import { chooseExtraQueueBytes } from '../../../src/core/scheduler/lanes.ts'

test.each([
  ['nothing where nothing is held back', 0, 1, 0],
  ['what the path carries in a quarter of a second', 1250, 1, 312_500],
  ['a part of that for each of the writers', 2000, 4, 125_000],
  ['512 KiB on the fastest path that holds back', 100_000, 1, 524_288]
])('%s comes on top of the marks', (_, bytesPerMs, writers, aheadBytes) => {
  expect(chooseExtraQueueBytes(bytesPerMs, writers)).toBe(aheadBytes)
})
