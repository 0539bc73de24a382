/**
 * Measures the round trip with pings. A busy peer may drop a pong, as go-yamux does, so several pings may be in flight. A pong also answers
 * the pings before its own.
 */
import { FIRST_MARK_VALUE } from '../wire/frame.ts'

/** No round trip takes a minute: the clock has jumped */
export const LONGEST_MS = 60_000

/** The weight of a new sample (RFC 6298, section 2) */
const SAMPLE_WEIGHT = 1 / 8

/** The growth of windows needs a recent figure. The time doubles with each ping that has no pong. */
const STALE_AFTER_MS = 2000

/** The time of a ping that is queued */
const UNWRITTEN = Infinity

export class RoundTrip {
  /** The last measured round trip; undefined before the first */
  lastMs: number | undefined
  smoothedMs: number | undefined
  /** The last round trip; if the clock has jumped meanwhile, the smoothed one or LONGEST_MS; Infinity before the first */
  plausibleMs = Infinity
  onMeasured: ((roundTripMs: number) => void) | undefined
  /** When each ping in flight was written, by its value, the oldest first */
  readonly #pings = new Map<number, number>()
  /** The value of the last ping, answered or not */
  lastValue = -1
  /** When the last ping was written */
  #sentMs = -Infinity

  get isPending (): boolean {
    return this.#pings.size > 0
  }

  /** Neither the ping with this value nor a later one was answered */
  isAwaited (value: number): boolean {
    return this.#pings.has(value)
  }

  /** The value of the oldest ping without an answer; undefined if there is none */
  get oldestValue (): number | undefined {
    return this.#pings.keys().next().value
  }

  /**
   * The shorter of the last and the smoothed one. A measurement may be too long, never too short. The first measurement includes two cold
   * processes, which smoothing would remember for minutes.
   */
  get shorterMs (): number | undefined {
    return this.smoothedMs === undefined ? undefined : Math.min(this.smoothedMs, this.lastMs ?? Infinity)
  }

  /** The figure is old: a caller that needs it should send a ping */
  isStale (nowMs: number): boolean {
    return this.#sentMs !== UNWRITTEN && Math.abs(nowMs - this.#sentMs) >= STALE_AFTER_MS * 2 ** this.#pings.size
  }

  /** Starts a measurement, unless a ping is queued, and returns the value of the ping */
  begin (): number {
    if (this.#sentMs !== UNWRITTEN) {
      this.lastValue = (this.lastValue + 1) % FIRST_MARK_VALUE
      this.#record(UNWRITTEN)
    }

    return this.lastValue
  }

  /** The ping was written: the time that it was queued is no part of the round trip */
  sent (nowMs: number): void {
    this.#record(nowMs)
  }

  #record (sentMs: number): void {
    this.#sentMs = sentMs
    this.#pings.set(this.lastValue, sentMs)
  }

  /** Returns false for a pong that answers no ping */
  end (value: number, nowMs: number): boolean {
    const sentMs = this.#pings.get(value)

    // a pong that arrives before its ping was written answers none either
    if (sentMs === undefined || sentMs === UNWRITTEN) {
      return false
    }

    for (const earlier of this.#pings.keys()) {
      this.#pings.delete(earlier)

      if (earlier === value) {
        break
      }
    }

    const roundTripMs = nowMs - sentMs
    // the clock may have been set back
    this.lastMs = Math.max(0, roundTripMs)
    const isPlausible = roundTripMs >= 0 && roundTripMs <= LONGEST_MS
    // with nothing to compare with, assume it is long: marks correct a round trip that is too long, never one that is too short
    this.plausibleMs = isPlausible ? roundTripMs : this.smoothedMs ?? LONGEST_MS

    if (isPlausible) {
      const { smoothedMs = roundTripMs } = this
      this.smoothedMs = smoothedMs + SAMPLE_WEIGHT * (roundTripMs - smoothedMs)
      this.onMeasured?.(roundTripMs)
    }

    return true
  }
}
