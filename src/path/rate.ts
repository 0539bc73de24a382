/** The rate of a path: the highest recent sample, and whether it still grows or has fallen since. */

/** The rate is known when this many round trips in a row have not raised it by a quarter */
const ROUND_TRIPS_WITHOUT_GROWTH = 3
export const GROWTH = 1.25
/** A rate below this part of the known one shows that the path has changed: it carries less, or its round trip is longer */
const FALLEN_PART = 0.75

/** A gap between two samples counts as this part of the time for which samples count at most: after an outage a link is as fast as before */
const LONGEST_GAP_PART = 1 / 8

/** The highest of the recent samples, because every delay of a pong makes a sample too low */
export class RecentHighest {
  value = 0
  /** The highest of the current half of the time that samples count, and of the half before */
  #newest = 0
  #older = 0
  #newestMs = 0
  #learnedMs = 0

  /** The rate that both halves have reached: a single sample may be too high after a clump of pongs */
  get confirmed (): number {
    return Math.min(this.#newest, this.#older)
  }

  /** A sample that `isAppLimited` may raise the rate, and never lowers it. Samples count for `validMs`. */
  learn (sample: number, isAppLimited: boolean, nowMs: number, validMs: number): void {
    if (isAppLimited && sample <= this.value) {
      return
    }

    this.#newestMs += Math.min(nowMs - this.#learnedMs, LONGEST_GAP_PART * validMs)
    this.#learnedMs = nowMs

    if (this.#newestMs >= validMs / 2) {
      this.#older = this.#newest
      this.#newest = 0
      this.#newestMs = 0
    }

    this.#newest = Math.max(this.#newest, sample)
    this.value = Math.max(this.#newest, this.#older)
  }
}

/** Whether the rate still grows during start-up, and whether it has fallen since */
export class KnownRate {
  bytesPerMs = 0
  #roundTripsWithoutGrowth = 0

  /** A round trip has shown this rate. Returns whether the rate still grows. */
  grows (bytesPerMs: number): boolean {
    if (bytesPerMs >= this.bytesPerMs * GROWTH) {
      this.bytesPerMs = bytesPerMs
      this.#roundTripsWithoutGrowth = 0
    } else {
      this.#roundTripsWithoutGrowth++
    }

    return this.#roundTripsWithoutGrowth < ROUND_TRIPS_WITHOUT_GROWTH
  }

  hasFallenTo (bytesPerMs: number): boolean {
    return bytesPerMs < this.bytesPerMs * FALLEN_PART
  }
}
