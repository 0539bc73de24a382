/**
 * How long a byte and the answer to it travel when nothing of this side is in front of them. Becomes longer only by a probe.
 */

/** A shorter one counts so much: one that was lucky is no measure of the others */
const SHORTER_WEIGHT = 1 / 4

export class OwnRoundTrip {
  /** Undefined until it was measured */
  ms: number | undefined
  /** The shortest that was ever seen */
  shortestMs = Infinity

  /** Infinity until it was measured */
  get knownMs (): number {
    return this.ms ?? Infinity
  }

  /** Follows one that is shorter */
  learn (roundTripMs: number): void {
    this.shortestMs = Math.min(this.shortestMs, roundTripMs)

    if (roundTripMs <= this.knownMs) {
      this.ms = this.ms === undefined ? roundTripMs : this.ms + SHORTER_WEIGHT * (roundTripMs - this.ms)
    }
  }
}
