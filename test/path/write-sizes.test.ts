// What a stream sends in a round, what one write holds, and what writers may queue, by the rate of the path.
import { describe, expect, test } from 'vitest'
import { NoControl } from '../../src/core/path-control.ts'
import { chooseExtraQueueBytes, chooseQuantumBytes, chooseWriteBytes } from '../../src/path/write-sizes.ts'

const RECORD_BYTES = 65_519
const sizes = { recordBytes: RECORD_BYTES, frameBytes: 16_384, maxFrameBytes: 1_048_292, maxWriteBytes: 1_048_304 }

describe('a quantum', () => {
  test.each([
    ['is 16 KiB until the rate is known', 0, 16_384],
    ['and on a path that carries less in a millisecond', 1250, 16_384],
    ['is what the path carries in a millisecond', 125_000, 125_000],
    ['is never longer than peers take', 10_000_000, 1_048_292]
  ])('%s', (_, bytesPerMs, quantumBytes) => {
    expect(chooseQuantumBytes(sizes, bytesPerMs)).toBe(quantumBytes)
  })

  test('is no larger than maxMessageSize', () => {
    expect(chooseQuantumBytes({ ...sizes, frameBytes: 4096, maxFrameBytes: 4096 }, 125_000)).toBe(4096)
  })
})

describe('a quantum without a bound', () => {
  const quantumBytes = (init: Partial<typeof sizes>): number => new NoControl({ ...sizes, ...init }).planWrite().quantumBytes

  test('fills a record, as small frames would gain nothing', () => {
    expect(quantumBytes({})).toBe(RECORD_BYTES)
  })

  test('is no larger than maxMessageSize', () => {
    expect(quantumBytes({ frameBytes: 4096, maxFrameBytes: 4096 })).toBe(4096)
  })

  test('is a frame if records are shorter', () => {
    expect(quantumBytes({ recordBytes: 4096 })).toBe(16_384)
  })
})

describe('a write', () => {
  test.each([
    ['is one record until the rate is known', 0, 1],
    ['and on a path that carries less than two in a millisecond', 131_037, 1],
    ['is the whole records that the path carries in a millisecond', 200_000, 3],
    ['has at most 16', 10_000_000, 16]
  ])('%s', (_, bytesPerMs, records) => {
    expect(chooseWriteBytes(sizes, RECORD_BYTES, 2 ** 24, bytesPerMs)).toBe(records * RECORD_BYTES)
  })
})

test.each([
  ['a chunk of 64 KiB, which is a little more than a record, is one record', 65_536, 1],
  ['what is nearly four records is three', 4 * RECORD_BYTES - 1, 3],
  ['less than a record has room for one', 100, 1]
])('a write on a fast path leaves out what would fill a record in part: %s', (_, queuedBytes, records) => {
  expect(chooseWriteBytes(sizes, RECORD_BYTES, queuedBytes, 10_000_000)).toBe(records * RECORD_BYTES)
})

test.each([
  ['nothing where nothing is held back', 0, 1, 0],
  ['what the path carries in a quarter of a second', 1250, 1, 312_500],
  ['a part of that for each of the writers', 2000, 4, 125_000],
  ['512 KiB on the fastest path that holds back', 100_000, 1, 524_288]
])('%s may be queued above the watermarks', (_, bytesPerMs, writers, aheadBytes) => {
  expect(chooseExtraQueueBytes(bytesPerMs, writers)).toBe(aheadBytes)
})
