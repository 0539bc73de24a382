/**
 * What a path carries, and what it carried when it was last found to be as it was.
 */

/** The rate is found when so many rounds in a row have not raised it by a quarter */
const ROUNDS_WITHOUT_GROWTH = 3
export const GROWTH = 1.25
/** A rate below this part of what it was says that the path has changed: it carries less, or its round trip is longer */
const FALLEN_PART = 0.75

/** The highest of the recent samples, since whatever delays pongs makes a sample too low */
export class RecentHighest {
  value = 0
  /** The highest of this half of the while, and of the half before */
  #newest = 0
  #older = 0
  #newestSinceMs = -Infinity

  /** What both halves have seen: one sample may be too high, when pongs have come in a clump */
  get confirmed (): number {
    return Math.min(this.#newest, this.#older)
  }

  /** One that shows only what was asked of the path may raise it, and never lowers it */
  learn (sample: number, isAppLimited: boolean, nowMs: number, validMs: number): void {
    if (isAppLimited && sample <= this.value) {
      return
    }

    const ageMs = nowMs - this.#newestSinceMs

    // a clock that was set back begins anew
    if (ageMs >= validMs / 2 || ageMs < 0) {
      this.#older = ageMs < validMs ? this.#newest : 0
      this.#newest = 0
      this.#newestSinceMs = nowMs
    }

    this.#newest = Math.max(this.#newest, sample)
    this.value = Math.max(this.#newest, this.#older)
  }
}

/** Whether the rate still grows behind the start, and whether it has fallen since */
export class KnownRate {
  bytesPerMs = 0
  #roundsWithoutGrowth = 0

  /** A round has shown this rate. Returns whether it still grows. */
  grows (bytesPerMs: number): boolean {
    if (bytesPerMs >= this.bytesPerMs * GROWTH) {
      this.bytesPerMs = bytesPerMs
      this.#roundsWithoutGrowth = 0
    } else {
      this.#roundsWithoutGrowth++
    }

    return this.#roundsWithoutGrowth < ROUNDS_WITHOUT_GROWTH
  }

  hasFallenTo (bytesPerMs: number): boolean {
    return bytesPerMs < this.bytesPerMs * FALLEN_PART
  }
}
