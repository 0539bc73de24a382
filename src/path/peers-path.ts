/**
 * The path from the peer: its shortest round trip, and the rate at which data usually arrives. A shorter round trip counts immediately, a longer
 * one after a period in which less has arrived than usual.
 */

/** A period has less than usual if it has less than this part of the usual rate. More credit was a remedy if it has gained so much. */
const SLOWED_PART = 0.85
const REMEDY_GAIN = 1.05
/** Longer than rates count, so that a link that becomes slower has a short queue again before the period ends */
const PERIOD_MS = 8000
const PERIOD_ROUNDS = 16

export class PeersPath {
  /** Infinity until a round trip was measured */
  shortestMs = Infinity
  /** What arrived in the best period, until the link becomes slower */
  usualBytesPerMs = 0
  #period = new Period(0, 0)

  /** Much less than usual arrives. The link may have become slower; the end of the period will show. */
  isSlowedTo (bytesPerMs: number): boolean {
    return bytesPerMs < SLOWED_PART * this.usualBytesPerMs
  }

  /** `bytesPerMs` or the usual rate, whichever is higher, unless the link may be slower */
  busyBytesPerMs (bytesPerMs: number): number {
    return this.isSlowedTo(bytesPerMs) ? bytesPerMs : Math.max(bytesPerMs, this.usualBytesPerMs)
  }

  /** A round has ended. `creditBytes` was in flight when it began, and more was withheld; undefined if nothing was. */
  learn (roundTripMs: number, receivedBytes: number, creditBytes: number | undefined, nowMs: number): void {
    const period = this.#period
    this.shortestMs = Math.min(this.shortestMs, roundTripMs)

    if (creditBytes !== undefined && this.usualBytesPerMs > 0) {
      // the time that data takes to arrive on this credit, at the usual rate, is not part of the path
      const ownQueueMs = Math.max(0, creditBytes / this.usualBytesPerMs - this.shortestMs)
      period.shortestMs = Math.min(period.shortestMs, roundTripMs - ownQueueMs)
    }

    if (++period.rounds >= PERIOD_ROUNDS && nowMs - period.fromMs >= PERIOD_MS) {
      const bytesPerMs = (receivedBytes - period.fromBytes) / (nowMs - period.fromMs)
      this.#period = new Period(nowMs, receivedBytes)
      this.#onPeriod(bytesPerMs, period)
    }
  }

  /** Either the path has become longer, and more credit is a remedy, or the link is slower */
  #onPeriod (bytesPerMs: number, { shortestMs, lastShortestMs, lastBytesPerMs }: Period): void {
    const isSlowed = this.isSlowedTo(bytesPerMs) && shortestMs < Infinity

    if (!isSlowed) {
      this.usualBytesPerMs = Math.max(this.usualBytesPerMs, bytesPerMs)
    } else if (lastShortestMs !== undefined && bytesPerMs < REMEDY_GAIN * lastBytesPerMs) {
      this.usualBytesPerMs = bytesPerMs
      this.shortestMs = Math.min(this.shortestMs, lastShortestMs)
    } else {
      this.#period.lastShortestMs = this.shortestMs
      this.#period.lastBytesPerMs = bytesPerMs
      this.shortestMs = Math.max(this.shortestMs, shortestMs)
    }
  }
}

/** Seconds, and many rounds */
class Period {
  rounds = 0
  /** The shortest round trip without the queue behind credit of this side, of rounds in which credit waited */
  shortestMs = Infinity
  /** The shortest round trip before it was raised, if that was just before this period, and what arrived then */
  lastShortestMs: number | undefined
  lastBytesPerMs = 0
  readonly fromMs: number
  readonly fromBytes: number

  constructor (fromMs: number, fromBytes: number) {
    this.fromMs = fromMs
    this.fromBytes = fromBytes
  }
}
