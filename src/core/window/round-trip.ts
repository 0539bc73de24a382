/**
 * Measures the round trip with pings of this side's own. A peer may drop a pong, as go-yamux does when it is busy, so there may be more than
 * one in flight: the next pong stands for those before it.
 */
import { FIRST_MARK_VALUE } from '../wire/frame.ts'

/** No path takes a minute: the clock has jumped, or was set back */
export const LONGEST_MS = 60_000

/** The weight of a new sample (RFC 6298, section 2) */
const SAMPLE_WEIGHT = 1 / 8

/** While windows are being read their growth needs a recent figure. Twice as long for each ping that has no pong. */
const STALE_AFTER_MS = 2000

/** In the place of when a ping was written: it waits to be */
const UNWRITTEN = Infinity

export class RoundTrip {
  /** The last measured round trip; undefined before the first */
  lastMs: number | undefined
  smoothedMs: number | undefined
  /** The last one, or if the clock has jumped meanwhile what is known else; Infinity before the first */
  plausibleMs = Infinity
  onMeasured: ((roundTripMs: number) => void) | undefined
  /** What each ping in flight carries, and when it was written, the oldest first */
  readonly #pings = new Map<number, number>()
  /** The last ping's, whether or not it is in flight */
  lastValue = -1
  #sentMs = -Infinity

  get isPending (): boolean {
    return this.#pings.size > 0
  }

  /** Neither the ping with this value nor one behind it was answered */
  isAwaited (value: number): boolean {
    return this.#pings.has(value)
  }

  /** Of the first ping that is awaited; undefined if none is */
  get oldestValue (): number | undefined {
    return this.#pings.keys().next().value
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
    return this.#sentMs !== UNWRITTEN && Math.abs(nowMs - this.#sentMs) >= STALE_AFTER_MS * 2 ** this.#pings.size
  }

  /** Begins a measurement, unless a ping waits to be written, and returns the value the ping carries */
  begin (): number {
    if (this.#sentMs !== UNWRITTEN) {
      this.lastValue = (this.lastValue + 1) % FIRST_MARK_VALUE
      this.#note(UNWRITTEN)
    }

    return this.lastValue
  }

  /** The ping is in a batch: what it waited for until then is no part of the round trip */
  sent (nowMs: number): void {
    this.#note(nowMs)
  }

  #note (sentMs: number): void {
    this.#sentMs = sentMs
    this.#pings.set(this.lastValue, sentMs)
  }

  /** Returns false for a pong that nobody waits for: it measures nothing */
  end (value: number, nowMs: number): boolean {
    const sentMs = this.#pings.get(value)

    // one that came before its ping was written measures nothing either
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
    // a clock that was set back must not make time negative
    this.lastMs = Math.max(0, roundTripMs)
    const isPlausible = roundTripMs >= 0 && roundTripMs <= LONGEST_MS
    // one that is too long shows with the next mark, and one that is too short never
    this.plausibleMs = isPlausible ? roundTripMs : this.smoothedMs ?? LONGEST_MS

    if (isPlausible) {
      const { smoothedMs = roundTripMs } = this
      this.smoothedMs = smoothedMs + SAMPLE_WEIGHT * (roundTripMs - smoothedMs)
      this.onMeasured?.(roundTripMs)
    }

    return true
  }
}
