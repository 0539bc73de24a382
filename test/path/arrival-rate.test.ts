// The rate at which data arrives, and what is said of its link: even, or varying.
import { beforeEach, describe, expect, test } from 'vitest'
import { ArrivalRate } from '../../src/path/arrival-rate.ts'

const BYTES_PER_MS = 1250
const SHORTEST_MS = 40
const BEGAN_MS = 10_000

let rate: ArrivalRate
let nowMs: number
let receivedBytes: number

/** Each ms brings what the rate of that ms carries */
function arrive (forMs: number, bytesPerMs: (ms: number) => number, awaitedSinceMs = Infinity): void {
  for (let ms = 0; ms < forMs; ms++) {
    nowMs++
    const byteLength = bytesPerMs(ms)

    if (byteLength > 0) {
      receivedBytes += byteLength
      rate.learn(receivedBytes, SHORTEST_MS, awaitedSinceMs, nowMs)
    }
  }
}

beforeEach(() => {
  rate = new ArrivalRate()
  nowMs = BEGAN_MS
  receivedBytes = 0
})

describe('a link of one rate', () => {
  beforeEach(() => { arrive(2000, () => BYTES_PER_MS) })

  test('has that rate, is even, and does not vary', () => {
    expect(rate.bytesPerMs).toBeCloseTo(BYTES_PER_MS)
    expect(rate.evenRates).toBeGreaterThan(3)
    expect(rate.unsteadyMs).toBeLessThan(BEGAN_MS + 2)
  })

  test('does not vary if the peer waits for credit again and again, as its data comes in bursts of that rate', () => {
    arrive(6000, ms => ms % 700 < 400 ? BYTES_PER_MS : 0)

    expect(rate.unsteadyMs).toBeLessThan(BEGAN_MS + 2)
    expect(rate.evenRates).toBeLessThan(2)
  })

  test('varies when it has carried a quarter less for over half a second', () => {
    arrive(500, () => 0.75 * BYTES_PER_MS)
    expect(rate.unsteadyMs).toBeLessThan(BEGAN_MS + 2)

    arrive(400, () => 0.75 * BYTES_PER_MS)
    expect(rate.unsteadyMs).toBeGreaterThan(BEGAN_MS + 2500)
  })

  test('varies if nothing comes for over a second, and a pong is awaited for as long', () => {
    const pausedMs = nowMs
    arrive(1100, () => 0)
    arrive(1, () => BYTES_PER_MS, pausedMs)

    expect(rate.unsteadyMs).toBe(nowMs)
    expect(rate.evenRates).toBe(0)
  })

  test('does not vary if the peer has nothing to send for over a second', () => {
    arrive(1100, () => 0)
    // the data of this side comes with a ping of its own
    arrive(1, () => BYTES_PER_MS, nowMs - 20)

    expect(rate.unsteadyMs).toBeLessThan(BEGAN_MS)
    expect(rate.beganMs).toBe(nowMs)
  })
})

test('a rate within a tenth is not even', () => {
  arrive(4000, ms => ms % 400 < 200 ? BYTES_PER_MS : 0.9 * BYTES_PER_MS)

  expect(rate.evenRates).toBeLessThan(2)
})
