/** The rate at which data arrives: the highest of the last seconds, and whether it stays the same. */
import { RecentHighest } from './rate.ts'

/** Each rate is taken over this time or a round trip, and counts for seconds */
const RATE_MS = 200
const LONGEST_RATE_MS = 1000
const RATE_VALID_MS = 5000
/** The rate of a link varies if so many in a row are below this part of the highest. A peer that waits for credit sends in bursts of the link's rate. */
const STEADY_PART = 0.85
const LOW_RATES = 3
/** Rates are even if each differs from the highest by at most this part */
const EVEN_PART = 1 / 20

export class ArrivalRate {
  /** A peer that has less to send for a moment does not make the link slower */
  readonly #highest = new RecentHighest()
  #learnedMs = -Infinity
  #fromMs = 0
  #fromBytes = 0
  #lowRates = 0
  /** The last one, which is 0 if nothing came */
  lastBytesPerMs = 0
  /** So many in a row were about the highest */
  evenRates = 0
  /** When data began to come, at first or after a pause */
  beganMs = 0
  /** When it was last seen to vary */
  unsteadyMs = -Infinity

  get bytesPerMs (): number {
    return this.#highest.value
  }

  /**
   * An event loop that was blocked reads much in one turn, so of two rates in a row the lower counts. A pause is not part of any rate. If a pong
   * was awaited for as long, the link was interrupted; otherwise the peer had nothing to send. `awaitedSinceMs` is Infinity if none is awaited.
   */
  learn (receivedBytes: number, shortestMs: number, awaitedSinceMs: number, nowMs: number): void {
    if (nowMs - this.#learnedMs > LONGEST_RATE_MS) {
      if (nowMs - awaitedSinceMs > LONGEST_RATE_MS) {
        this.unsteadyMs = nowMs
      } else {
        this.beganMs = nowMs
      }

      this.evenRates = 0
      this.#lowRates = 0
      this.#fromMs = nowMs
      this.#fromBytes = receivedBytes
    }

    this.#learnedMs = nowMs
    const tookMs = nowMs - this.#fromMs

    if (tookMs >= Math.max(RATE_MS, Math.min(LONGEST_RATE_MS, shortestMs))) {
      const lastBytesPerMs = (receivedBytes - this.#fromBytes) / tookMs
      this.#lowRates = lastBytesPerMs < STEADY_PART * this.bytesPerMs ? this.#lowRates + 1 : 0

      if (this.#lowRates >= LOW_RATES) {
        this.unsteadyMs = nowMs
      }

      this.evenRates = Math.abs(lastBytesPerMs - this.bytesPerMs) <= EVEN_PART * this.bytesPerMs ? this.evenRates + 1 : 0
      this.#highest.learn(Math.min(lastBytesPerMs, this.lastBytesPerMs), false, nowMs, RATE_VALID_MS)
      this.lastBytesPerMs = lastBytesPerMs
      this.#fromMs = nowMs
      this.#fromBytes = receivedBytes
    }
  }
}
