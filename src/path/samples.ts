/**
 * What has arrived from one pong to another, a round trip apart at least: a sample of the path's rate. Hot: runs once per write and pong.
 */
import { LONGEST_MS } from '../core/window/round-trip.ts'
import type { Mark } from './marks.ts'

/** Clocks of browsers are coarse */
const SHORTEST_MS = 1

/** What had arrived when a pong came, and when its mark had been written */
interface Arrival {
  bytes: number
  atMs: number
  sentMs: number
}

export interface PathSample {
  nowMs: number
  /** From when the mark was written until its pong came */
  roundTripMs: number
  /** So much has arrived in so long */
  deliveredBytes: number
  intervalMs: number
  /** What the newest round trip alone has shown: while the rate doubles with each, two of them show three quarters of it */
  latestBytesPerMs: number
  /** The mark was written when the one that began the last round had been answered */
  isNewRoundTrip: boolean
  /** All that has arrived so far */
  arrivedBytes: number
  /** What was in flight when the mark was written */
  markedBytes: number
  /** What has come from the peer meanwhile */
  receivedBytes: number
  /** There was no more to send: the path may carry more than this */
  isAppLimited: boolean
  /** The bound has held data back */
  wasHeld: boolean
}

export class Samples {
  /** When data was last handed down and nothing was in flight before */
  beganMs = 0
  /** Until this has arrived samples show what was asked of the path */
  appLimitedBytes = 0
  /** Data was held back since the last sample */
  #wasHeld = false
  /** There was no more to send */
  #isAllHandedDown = true
  /** Nothing was in flight, nor had arrived. While a round or a sample begins here no pong has come since. One object for all starts, as each lone request is one. */
  readonly #start: Arrival = { bytes: 0, atMs: 0, sentMs: 0 }
  /** Where this round began, and where samples begin: with the round before. From one pong to another is exact. */
  #roundTripFrom = this.#start
  #sampleFrom = this.#start

  /** So much is handed down behind `positionBytes`. `isAppLimited`: there is no more to send. `isIdle`: no pong is awaited. Hot. */
  onWrite (positionBytes: number, byteLength: number, isAppLimited: boolean, isIdle: boolean, nowMs: number): void {
    const isFirst = isIdle && this.#isAllHandedDown
    this.#isAllHandedDown = isAppLimited

    // there was nothing to send until now: that time is no part of a sample
    if (isFirst) {
      this.beganMs = nowMs
      this.#start.bytes = positionBytes
      this.#start.atMs = nowMs
      this.#start.sentMs = nowMs
      this.#roundTripFrom = this.#start
      this.#sampleFrom = this.#start
    }

    // also in the first round trip, in which the path fills
    if (isAppLimited || isFirst) {
      this.appLimitedBytes = positionBytes + byteLength
    }
  }

  /** Data is held back */
  onHeld (): void {
    this.#wasHeld = true
  }

  /** A pong has come, and so much from the peer so far. Returns undefined if the clock has jumped. */
  onPong (mark: Mark, ownRoundTripMs: number, receivedBytes: number, isHeld: boolean, nowMs: number): PathSample | undefined {
    const roundTripMs = nowMs - mark.sentMs

    if (roundTripMs < 0 || roundTripMs > LONGEST_MS) {
      return undefined
    }

    const arrival = { bytes: mark.positionBytes, atMs: nowMs, sentMs: mark.sentMs }

    // the clock was set back behind the last round: the next begins here
    if (nowMs < this.#roundTripFrom.atMs) {
      this.#roundTripFrom = arrival
      this.#sampleFrom = arrival
      return undefined
    }

    // behind a start the first bytes were on their way for a round trip more: samples begin at its first pong as soon as that is long ago
    if (this.#sampleFrom === this.#start && nowMs - this.#roundTripFrom.atMs >= Math.max(ownRoundTripMs, (this.#roundTripFrom.atMs - this.#roundTripFrom.sentMs) / 2)) {
      this.#sampleFrom = this.#roundTripFrom
    }

    const since = this.#sampleFrom
    const isNewRoundTrip = this.#roundTripFrom === this.#start || mark.acknowledgedBytes >= this.#roundTripFrom.bytes

    if (isNewRoundTrip) {
      this.#sampleFrom = this.#roundTripFrom
      this.#roundTripFrom = arrival
    }

    const markedBytes = mark.positionBytes - mark.acknowledgedBytes
    const wasHeld = this.#wasHeld
    this.#wasHeld = isHeld

    return {
      nowMs,
      roundTripMs,
      deliveredBytes: mark.positionBytes - since.bytes,
      // the longer of the two: a burst that a buffer has swallowed was not delivered, nor has a clump of pongs come so fast
      intervalMs: Math.max(SHORTEST_MS, nowMs - since.atMs, mark.sentMs - since.sentMs),
      latestBytesPerMs: markedBytes / Math.max(SHORTEST_MS, roundTripMs, nowMs - mark.acknowledgedMs),
      isNewRoundTrip,
      arrivedBytes: mark.positionBytes,
      markedBytes,
      receivedBytes: receivedBytes - mark.receivedBytes,
      isAppLimited: mark.isAppLimited,
      wasHeld
    }
  }
}
