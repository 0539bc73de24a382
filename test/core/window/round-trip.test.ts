// How long the peer takes to answer a ping of this side.
import { beforeEach, describe, expect, test } from 'vitest'
import { RoundTrip } from '../../../src/core/window/round-trip.ts'

let roundTrip: RoundTrip

/** A ping that is written as soon as it is asked for */
function begin (nowMs: number): number {
  const value = roundTrip.begin()
  roundTrip.sent(nowMs)

  return value
}

beforeEach(() => {
  roundTrip = new RoundTrip()
})

describe('a round trip', () => {
  test('does not include what the ping waited for before it was written', () => {
    const value = roundTrip.begin()
    expect(roundTrip.isPending).toBe(true)

    roundTrip.sent(5000)
    roundTrip.end(value, 5010)
    expect(roundTrip.lastMs).toBe(10)
  })

  test('is not learnt from a clock that jumps while it is measured', () => {
    const measured: number[] = []
    roundTrip.onMeasured = roundTripMs => { measured.push(roundTripMs) }
    roundTrip.end(begin(0), 80)
    roundTrip.end(begin(1000), 3_601_080)
    expect(roundTrip.smoothedMs).toBe(80)

    roundTrip.end(begin(3_700_000), 3_700_080)
    expect(roundTrip.smoothedMs).toBe(80)
    expect(measured).toEqual([80, 80])
  })

  test('is smoothed: a new sample counts an eighth', () => {
    roundTrip.end(begin(0), 80)
    expect(roundTrip.smoothedMs).toBe(80)

    roundTrip.end(begin(100), 100)
    expect(roundTrip.smoothedMs).toBe(70)
    expect(roundTrip.lastMs).toBe(0)
  })
})

describe('a pong', () => {
  test('stands for those of the pings before, which may have been lost', () => {
    const first = begin(0)
    const second = begin(100)

    expect(roundTrip.end(second, 107)).toBe(true)
    expect(roundTrip.lastMs).toBe(7)
    expect(roundTrip.isPending).toBe(false)
    expect(roundTrip.end(first, 108)).toBe(false)
  })

  test.each([-1, 2, 2 ** 31 - 1, 2 ** 31, 2 ** 31 + 1, 2 ** 32 - 1])('to a value that no ping has had measures nothing: %d after the values 0 and 1', value => {
    begin(0)
    begin(1)

    expect(roundTrip.end(value, 10)).toBe(false)
    expect(roundTrip.isAwaited(value)).toBe(false)
    expect([roundTrip.isAwaited(0), roundTrip.isAwaited(1), roundTrip.oldestValue]).toEqual([true, true, 0])
  })

  test('that comes before its ping was written measures nothing', () => {
    roundTrip.end(roundTrip.begin(), 60_000)

    expect(roundTrip.lastMs).toBeUndefined()
    expect(roundTrip.smoothedMs).toBeUndefined()
  })
})

describe('a measurement', () => {
  test('is not due while its ping waits to be written, and who asks for one shares it', () => {
    const value = roundTrip.begin()

    expect(roundTrip.isStale(100_000)).toBe(false)
    expect(roundTrip.begin()).toBe(value)
  })

  test('is due again when no pong has come, after twice as long each time', () => {
    begin(0)
    expect(roundTrip.isStale(3999)).toBe(false)
    expect(roundTrip.isStale(4000)).toBe(true)

    begin(4000)
    expect(roundTrip.isStale(11_999)).toBe(false)
    expect(roundTrip.isStale(12_000)).toBe(true)
  })

  test('is due again after two seconds', () => {
    roundTrip.end(begin(5000), 5010)

    expect(roundTrip.isStale(6999)).toBe(false)
    expect(roundTrip.isStale(7000)).toBe(true)
  })
})
