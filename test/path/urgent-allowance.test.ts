// How much urgent data passes although enough is in flight.
import fc from 'fast-check'
import { beforeEach, describe, expect, test } from 'vitest'
import { UrgentAllowance } from '../../src/path/urgent-allowance.ts'

/** What is allowed however slow the path is */
const FRAME_BYTES = 16_384
const WRITE_BYTES = 65_519

let allowance: UrgentAllowance

beforeEach(() => {
  allowance = new UrgentAllowance()
})

/** Is there anything left after so much? */
function isSpentAfter (byteLength: number): boolean {
  allowance.spend(byteLength)

  return allowance.isSpent
}

describe('urgent data', () => {
  test('passes up to a frame before anything was measured', () => {
    expect(allowance.isSpent).toBe(false)
    expect(isSpentAfter(FRAME_BYTES - 1)).toBe(false)
    expect(isSpentAfter(1)).toBe(true)
  })

  test('passes up to what the path carries in 10 ms, if that is more', () => {
    allowance.renew(0, false, 5000)

    expect(isSpentAfter(49_999)).toBe(false)
    expect(isSpentAfter(1)).toBe(true)
  })

  test('passes up to a frame on a slow path, however long nothing was held back', () => {
    allowance.renew(1_000_000, false, 5)
    allowance.renew(1_000_000, false, 5)

    expect(isSpentAfter(FRAME_BYTES)).toBe(true)
  })

  test('that has used up what is allowed waits until eight times that has arrived, while data is held back', () => {
    allowance.spend(FRAME_BYTES)
    allowance.renew(131_064, true, 100)
    expect(allowance.isSpent).toBe(true)

    allowance.renew(8, true, 100)
    expect(allowance.isSpent).toBe(false)
    expect(isSpentAfter(FRAME_BYTES)).toBe(true)
  })

  test('that has used up a part of it passes, and gets an eighth of what arrives', () => {
    allowance.spend(FRAME_BYTES - 100)
    allowance.renew(800, true, 100)

    expect(isSpentAfter(199)).toBe(false)
    expect(isSpentAfter(1)).toBe(true)
  })

  test('that was a whole write, more than was allowed, waits until that is made up for as well', () => {
    // all of the 65,519 bytes, which are an eighth of 524,152
    allowance.spend(WRITE_BYTES)
    allowance.renew(524_144, true, 100)
    expect(allowance.isSpent).toBe(true)

    allowance.renew(8, true, 100)
    expect(allowance.isSpent).toBe(false)
  })

  test('passes again as if there had been none when nothing is held back', () => {
    allowance.spend(1_000_000)
    allowance.renew(0, false, 100)

    expect(isSpentAfter(FRAME_BYTES - 1)).toBe(false)
  })

  test('passes less when the path has become slower', () => {
    allowance.renew(0, false, 10_000)
    allowance.renew(0, true, 2000)

    expect(isSpentAfter(20_000)).toBe(true)
  })
})

test('no more is ever allowed than what the path carries in 10 ms, or a frame', () => {
  const renewal = fc.record({ spent: fc.nat(200_000), arrived: fc.nat(10_000_000), isHeld: fc.boolean(), bytesPerMs: fc.nat(100_000) })

  fc.assert(fc.property(fc.array(renewal, { minLength: 1 }), renewals => {
    allowance = new UrgentAllowance()

    for (const { spent, arrived, isHeld, bytesPerMs } of renewals) {
      allowance.spend(spent)
      allowance.renew(arrived, isHeld, bytesPerMs)
    }

    const { bytesPerMs } = renewals[renewals.length - 1]
    expect(isSpentAfter(Math.max(FRAME_BYTES, 10 * bytesPerMs))).toBe(true)
  }))
})

test('while data is held back an eighth of what arrives is urgent beyond a frame, and a write', () => {
  const step = fc.record({ writeBytes: fc.integer({ min: 1, max: WRITE_BYTES }), arrived: fc.nat(200_000) })

  fc.assert(fc.property(fc.array(step, { minLength: 1 }), steps => {
    allowance = new UrgentAllowance()
    let arrivedBytes = 0
    let passedBytes = 0

    for (const { writeBytes, arrived } of steps) {
      passedBytes += allowance.isSpent ? 0 : writeBytes
      expect(passedBytes).toBeLessThanOrEqual(FRAME_BYTES + arrivedBytes / 8 + WRITE_BYTES)

      if (!allowance.isSpent) {
        allowance.spend(writeBytes)
      }

      arrivedBytes += arrived
      allowance.renew(arrived, true, 0)
    }
  }))
})
