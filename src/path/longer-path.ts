/**
 * Finds that the path has become longer while credit of the peer is bound. No probe can find it then, as pongs wait behind the peer's data. The
 * bound would be too low, and follow the rate down.
 *
 * This side is starved if its rate has fallen by half and round trips are longer than both bounds explain. After eight seconds a longer round trip
 * is tried. If the rate gains by it, it is the path's. Otherwise the link is slower, and the rate before the fall no longer counts.
 */
import type { OwnRoundTrip } from './own-round-trip.ts'

const STARVED_MS = 8000
const GAIN = 1.05

export class LongerPath {
  /** Since when this side has been starved, or when the trial began */
  #fromMs = 0
  /** The shortest round trip since then, without the peer's queue */
  #shortestMs = Infinity
  /** The round trip before the trial, and the rate that has to grow */
  #trial: { ownMs: number, bytesPerMs: number } | undefined

  /** The rate is not low, or credit is not bound. What was tried stays. */
  onRecovered (nowMs: number): void {
    this.#trial = undefined
    this.onExplained(nowMs)
  }

  /** The rate is low, but the bounds explain the round trip */
  onExplained (nowMs: number): void {
    this.#fromMs = nowMs
    this.#shortestMs = Infinity
  }

  /** `queueMs` of the round trip are the queue that is allowed to the peer. Returns true if the link is slower. */
  onStarved (own: OwnRoundTrip, roundTripMs: number, queueMs: number, bytesPerMs: number, nowMs: number): boolean {
    this.#shortestMs = Math.min(this.#shortestMs, roundTripMs - queueMs)

    if (nowMs - this.#fromMs < STARVED_MS) {
      return false
    }

    const longerMs = this.#shortestMs
    this.onExplained(nowMs)

    if (this.#trial !== undefined && bytesPerMs < GAIN * this.#trial.bytesPerMs) {
      own.ms = this.#trial.ownMs
      this.#trial = undefined

      return true
    }

    this.#trial = { ownMs: own.ms, bytesPerMs }
    own.ms = Math.max(own.ms, longerMs)

    return false
  }
}
