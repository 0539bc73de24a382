/**
 * The path's own round trip: how long a byte and its answer travel with none of this side's data in front of them. A probe measures it again,
 * with almost nothing in flight for a round trip.
 */

/** A shorter round trip counts with this weight, as a single one may be an exception */
const SHORTER_WEIGHT = 1 / 4
/**
 * But the first two count in full: the first ping may be late by seconds, and the bound would allow a queue of that length
 * (docs/notebook/path.md#a-first-ping-that-is-late).
 */
const FULL_COUNT = 2

/** Only a probe makes it longer */
export class OwnRoundTrip {
  /** 0 until it was measured */
  ms = 0
  /** The shortest that was ever seen */
  shortestMs = Infinity
  /** How many round trips were learned */
  #count = 0

  get isMeasured (): boolean {
    return this.shortestMs < Infinity
  }

  /** Infinity until it was measured */
  get knownMs (): number {
    return this.isMeasured ? this.ms : Infinity
  }

  /** Moves towards a shorter one */
  learn (roundTripMs: number): void {
    const weight = this.#count++ < FULL_COUNT ? 1 : SHORTER_WEIGHT

    if (roundTripMs <= this.knownMs) {
      this.ms += weight * (roundTripMs - this.ms)
    }

    this.shortestMs = Math.min(this.shortestMs, roundTripMs)
  }
}
