// Bulk of a peer that bounds nothing: told by pongs that come late behind it.
import { beforeEach, describe, expect, test } from 'vitest'
import { PeersData } from '../../src/path/peers-data.ts'
import type { PathSample } from '../../src/path/samples.ts'

const OWN_MS = 100
const ROUND_TRIP_MS = 500
const RECEIVED_BYTES = 50_000

let peer: PeersData

beforeEach(() => { peer = new PeersData() })

/** A pong that took longer than what is let in explains, while the peer sent much */
function sample (nowMs: number): PathSample {
  return { nowMs, roundTripMs: ROUND_TRIP_MS, peersDelayMs: 0, unacknowledgedBytes: 0, inFlightBytes: 60_000, receivedBytes: RECEIVED_BYTES, arrivedPositionBytes: 0, deliveredBytes: 60_000, intervalMs: ROUND_TRIP_MS, latestBytesPerMs: 0, isNewRoundTrip: true, isAppLimited: false, wasHeld: true }
}

/** For three seconds */
function run (isBounded: boolean): void {
  for (let nowMs = 1000; nowMs < 4000; nowMs += 100) {
    peer.learn(sample(nowMs), OWN_MS, isBounded)
  }
}

describe('a peer behind whose data pongs come late for two seconds', () => {
  test('sends bulk that it does not bound: the bound allows for the round trip, and for what came in it', () => {
    run(false)

    expect([peer.roundTripMs, peer.roundTripBytes]).toEqual([ROUND_TRIP_MS, RECEIVED_BYTES])
  })

  test('sends none if it writes marks, as it bounds what it has in flight', () => {
    run(true)

    expect([peer.roundTripMs, peer.roundTripBytes]).toEqual([0, 0])
  })

  test('sends none any more four seconds after it has begun to write marks', () => {
    run(false)
    // a second of the two is left, as time without bulk is subtracted with a quarter of its weight
    peer.learn({ ...sample(7900), roundTripMs: 50 }, OWN_MS, true)
    expect(peer.roundTripMs).toBe(ROUND_TRIP_MS)

    peer.learn({ ...sample(7901), roundTripMs: 50 }, OWN_MS, true)
    expect(peer.roundTripMs).toBe(0)
  })
})
