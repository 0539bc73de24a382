/**
 * Measures the round trip with pings of this side's own, one at a time.
 */
import { FIRST_MARK_VALUE } from '../path/marks.ts'

/** The weight of a new sample (RFC 6298, section 2) */
const SAMPLE_WEIGHT = 1 / 8

/** No link takes a minute: the clock has jumped, as it may while a machine sleeps */
const LONGEST_MS = 60_000

/** While windows are being read their growth needs a recent figure */
const STALE_AFTER_MS = 2000

export class RoundTrip {
  /** The last measured round trip; undefined before the first */
  lastMs: number | undefined
  smoothedMs: number | undefined
  onMeasured: ((roundTripMs: number) => void) | undefined
  #nextValue = 0
  /** What the ping that is under way carries */
  pendingValue: number | undefined
  /** When the last ping was written; undefined while one waits to be */
  #sentMs: number | undefined

  get isPending (): boolean {
    return this.pendingValue !== undefined
  }

  /**
   * The shorter of the last and the smoothed one. Something on the way makes a measurement too long, never too short: the
   * first of a connection waits for two cold processes, and smoothing keeps that in mind for minutes.
   */
  get shorterMs (): number | undefined {
    return this.smoothedMs === undefined ? undefined : Math.min(this.smoothedMs, this.lastMs ?? Infinity)
  }

  /** It is time to measure again, if there is a reason to */
  isStale (nowMs: number): boolean {
    return !this.isPending && (this.#sentMs === undefined || Math.abs(nowMs - this.#sentMs) >= STALE_AFTER_MS)
  }

  /** Begins a measurement and returns the value the ping carries */
  begin (): number {
    const value = this.#nextValue
    this.#nextValue = (value + 1) % FIRST_MARK_VALUE
    this.pendingValue = value
    this.#sentMs = undefined

    return value
  }

  /** The ping is in a batch: what it waited for until then is no part of the round trip */
  sent (nowMs: number): void {
    this.#sentMs = nowMs
  }

  /** Returns false for a pong that nobody waits for: it measures nothing */
  end (value: number, nowMs: number): boolean {
    // one that came before its ping was written measures nothing either
    if (value !== this.pendingValue || this.#sentMs === undefined) {
      return false
    }

    this.pendingValue = undefined
    const roundTripMs = nowMs - this.#sentMs
    // a clock that was set back must not make time negative
    this.lastMs = Math.max(0, roundTripMs)

    if (roundTripMs >= 0 && roundTripMs <= LONGEST_MS) {
      const { smoothedMs = roundTripMs } = this
      this.smoothedMs = smoothedMs + SAMPLE_WEIGHT * (roundTripMs - smoothedMs)
      this.onMeasured?.(roundTripMs)
    }

    return true
  }
}
