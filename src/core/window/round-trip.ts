/**
 * Measures the round trip with pings. A busy peer may drop a pong, as go-yamux does, so several pings may be in flight. A pong also answers
 * the pings before its own.
 */
import { FIRST_MARK_VALUE } from '../wire/frame.ts'

/** No round trip takes a minute: the process was suspended, or the clock has jumped */
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
  /** The last round trip; if that is longer than LONGEST_MS, the smoothed one or LONGEST_MS; Infinity before the first */
  plausibleMs = Infinity
  onMeasured: ((roundTripMs: number) => void) | undefined
  /** When each ping in flight was written, the oldest first. Their values follow each other. */
  readonly #sentTimesMs: number[] = []
  /** The value of the last ping, answered or not */
  lastValue = -1
  /** When the last ping was written */
  #sentMs = -Infinity

  get isPending (): boolean {
    return this.#sentTimesMs.length > 0
  }

  /** Neither the ping with this value nor a later one was answered */
  isAwaited (value: number): boolean {
    return this.#indexOf(value) >= 0
  }

  /** The value of the oldest ping without an answer; undefined if there is none */
  get oldestValue (): number | undefined {
    const { length } = this.#sentTimesMs

    return length === 0 ? undefined : (this.lastValue - length + 1 + FIRST_MARK_VALUE) % FIRST_MARK_VALUE
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
    return this.#sentMs !== UNWRITTEN && nowMs - this.#sentMs >= STALE_AFTER_MS * 2 ** this.#sentTimesMs.length
  }

  /** Starts a measurement, unless a ping is queued, and returns the value of the ping */
  begin (): number {
    if (this.#sentMs !== UNWRITTEN) {
      this.lastValue = (this.lastValue + 1) % FIRST_MARK_VALUE
      this.#sentMs = UNWRITTEN
      this.#sentTimesMs.push(UNWRITTEN)
    }

    return this.lastValue
  }

  /** The ping was written: the time that it was queued is no part of the round trip */
  sent (nowMs: number): void {
    this.#sentMs = nowMs
    this.#sentTimesMs[this.#sentTimesMs.length - 1] = nowMs
  }

  /** Among those in flight. Negative for a ping that was answered, or not sent. */
  #indexOf (value: number): number {
    const later = (this.lastValue - value + FIRST_MARK_VALUE) % FIRST_MARK_VALUE

    return value < FIRST_MARK_VALUE ? this.#sentTimesMs.length - 1 - later : -1
  }

  /** Returns false for a pong that answers no ping */
  end (value: number, nowMs: number): boolean {
    const index = this.#indexOf(value)
    const sentMs = index < 0 ? undefined : this.#sentTimesMs[index]

    // a pong that arrives before its ping was written answers none either
    if (sentMs === undefined || sentMs === UNWRITTEN) {
      return false
    }

    this.#sentTimesMs.splice(0, index + 1)
    const roundTripMs = nowMs - sentMs
    this.lastMs = roundTripMs
    const isPlausible = roundTripMs <= LONGEST_MS
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
