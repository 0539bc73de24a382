/**
 * What has arrived from one pong to another, a round trip apart at least: a sample of the path's rate. Hot: runs once per pong.
 */
import type { Mark } from './marks.ts'

/** No path takes a minute: the clock has jumped */
const LONGEST_MS = 60_000
/** Clocks of browsers are coarse */
const SHORTEST_MS = 1

/** What had arrived when a pong came, and when its mark had been written */
interface Arrival {
  bytes: number
  atMs: number
  sentMs: number
  /** Nothing had arrived: the first bytes were on their way for a round trip more */
  isStart: boolean
}

export interface Round {
  /** From when the mark was written until its pong came */
  roundTripMs: number
  /** So much has arrived in so long */
  deliveredBytes: number
  intervalMs: number
  /** The mark was written when the one that began the last round had been answered */
  isNewRound: boolean
}

export class Rounds {
  /** When the first began behind a time in which nothing was under way. A field, as all that a lone request meets: a call would be one more. */
  beganMs = 0
  /** Until this has arrived samples show what was asked of the path */
  appLimitedBytes = 0
  /** There was no more to send */
  #isAllHandedDown = true
  /** The ends of this round and of the one before. From one pong to another is exact. */
  #last: Arrival = { bytes: 0, atMs: 0, sentMs: 0, isStart: true }
  #before = this.#last

  /** A write that ends there. `isAppLimited`: there is no more to send. `isIdle`: no pong is awaited. Hot. */
  onWrite (positionBytes: number, endBytes: number, isAppLimited: boolean, isIdle: boolean, nowMs: number): void {
    const isFirst = isIdle && this.#isAllHandedDown
    this.#isAllHandedDown = isAppLimited

    // there was nothing to send until now: that time is no part of a sample
    if (isFirst) {
      this.beganMs = nowMs
      this.#last = { bytes: positionBytes, atMs: nowMs, sentMs: nowMs, isStart: true }
      this.#before = this.#last
    }

    // also in the first round trip, in which the path fills
    if (isAppLimited || isFirst) {
      this.appLimitedBytes = endBytes
    }
  }

  /** A pong has come. Returns undefined if the clock has jumped. */
  onPong (mark: Mark, ownRoundTripMs: number, nowMs: number): Round | undefined {
    const roundTripMs = nowMs - mark.sentMs

    if (roundTripMs < 0 || roundTripMs > LONGEST_MS) {
      return undefined
    }

    const arrival = { bytes: mark.positionBytes, atMs: nowMs, sentMs: mark.sentMs, isStart: false }

    // the clock was set back behind the last round: the next begins here
    if (nowMs < this.#last.atMs) {
      this.#last = arrival
      this.#before = arrival
      return undefined
    }

    if (this.#before.isStart && nowMs - this.#last.atMs >= Math.max(ownRoundTripMs, (this.#last.atMs - this.#last.sentMs) / 2)) {
      this.#before = this.#last
    }

    const since = this.#before
    const isNewRound = this.#last.isStart || mark.acknowledgedBytes >= this.#last.bytes

    if (isNewRound) {
      this.#before = this.#last
      this.#last = arrival
    }

    return {
      roundTripMs,
      deliveredBytes: mark.positionBytes - since.bytes,
      // the longer of the two: a burst that a buffer has swallowed was not delivered, nor has a clump of pongs come so fast
      intervalMs: Math.max(SHORTEST_MS, nowMs - since.atMs, mark.sentMs - since.sentMs),
      isNewRound
    }
  }
}
