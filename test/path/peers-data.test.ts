// What the peer has in flight itself: told by its marks, or by pongs that come late behind its data.
import { beforeEach, describe, expect, test } from 'vitest'
import { FIRST_MARK_VALUE } from '../../src/core/wire/frame.ts'
import { PeersData } from '../../src/path/peers-data.ts'
import type { PathSample } from '../../src/path/samples.ts'

const OWN_MS = 100
const ROUND_TRIP_MS = 500

let peer: PeersData

beforeEach(() => { peer = new PeersData() })

/** A pong that took longer than what is let in explains, while the peer sent much */
function sample (nowMs: number): PathSample {
  return { nowMs, roundTripMs: ROUND_TRIP_MS, inFlightBytes: 60_000, receivedBytes: 50_000, arrivedPositionBytes: 0, deliveredBytes: 60_000, intervalMs: ROUND_TRIP_MS, latestBytesPerMs: 0, isNewRoundTrip: true, isAppLimited: false, wasHeld: true }
}

/** For three seconds. What stood in front of each mark takes `frontMs`. */
function run (frontMs: number, sendsMarks: boolean): void {
  for (let i = 0; i < 30; i++) {
    const nowMs = 1000 + 100 * i

    if (sendsMarks) {
      peer.onPing(FIRST_MARK_VALUE + 2 * i, nowMs)
    }

    peer.learn(sample(nowMs), OWN_MS, frontMs)
  }
}

describe('a peer whose pongs come late while it sends much', () => {
  test('bounds nothing, if it sends no marks', () => {
    run(600, false)

    expect([peer.roundTripMs, peer.isFull(3900)]).toEqual([ROUND_TRIP_MS, false])
  })

  test('bounds what it sends, if its marks come: what stood in front of ours was what took so long', () => {
    run(600, true)

    expect([peer.roundTripMs, peer.isFull(3900)]).toEqual([0, false])
  })

  test('fills its path in bursts, if what stood in front of our marks took less: that counts for two seconds', () => {
    run(300, true)

    expect([peer.roundTripMs, peer.isFull(3900 + 1999), peer.isFull(3900 + 2000)]).toEqual([0, true, false])
  })
})
