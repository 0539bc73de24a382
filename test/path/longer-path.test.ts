// Whether a path has become longer while credit of the peer is bound: what is tried, and what is kept.
import { beforeEach, expect, test } from 'vitest'
import { LongerPath } from '../../src/path/longer-path.ts'
import { OwnRoundTrip } from '../../src/path/own-round-trip.ts'

const OWN_MS = 40
const LONGER_MS = 200
const QUEUE_MS = 75

let own: OwnRoundTrip
let path: LongerPath

/** Starved all the time between these, at this rate; returns what the last sample says */
function starve (fromMs: number, toMs: number, bytesPerMs: number, roundTripMs = LONGER_MS): boolean {
  let isSlower = false

  for (let nowMs = fromMs; nowMs <= toMs; nowMs += 100) {
    isSlower = path.onStarved(own, roundTripMs, QUEUE_MS, bytesPerMs, nowMs)
  }

  return isSlower
}

beforeEach(() => {
  own = new OwnRoundTrip()
  own.learn(OWN_MS)
  path = new LongerPath()
  path.onRecovered(0)
})

test('for eight seconds nothing is tried', () => {
  starve(100, 7900, 100)

  expect(own.ms).toBe(OWN_MS)
})

test('then the shortest round trip is tried, without the queue that is allowed to the peer', () => {
  path.onStarved(own, LONGER_MS - 20, QUEUE_MS, 100, 50)
  starve(100, 8000, 100)

  expect(own.ms).toBe(LONGER_MS - 20 - QUEUE_MS)
})

test('what a round trip was before a moment in which the bounds explained it does not count', () => {
  path.onStarved(own, 50, QUEUE_MS, 100, 50)
  path.onExplained(100)
  starve(200, 8100, 100)

  expect(own.ms).toBe(LONGER_MS - QUEUE_MS)
})

test('if the rate gains by it, it is kept, and a longer one is tried', () => {
  starve(100, 8000, 100)
  expect(starve(8100, 16_000, 106, 250)).toBe(false)

  expect(own.ms).toBe(250 - QUEUE_MS)
})

test('if the rate does not, the round trip is the one before, and the link is slower', () => {
  starve(100, 8000, 100)
  expect(starve(8100, 16_000, 104)).toBe(true)

  expect(own.ms).toBe(OWN_MS)
})

test('it is also kept when this side is no longer starved, and a later trial begins anew', () => {
  starve(100, 8000, 100)
  path.onRecovered(8100)
  path.onRecovered(60_000)
  expect(starve(60_100, 68_000, 50, 300)).toBe(false)

  expect(own.ms).toBe(300 - QUEUE_MS)
})

test('a shorter round trip is not tried', () => {
  starve(100, 8000, 100, 90)

  expect(own.ms).toBe(OWN_MS)
})
