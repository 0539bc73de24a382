/**
 * What the path carried when it was last found to be as it was: whether the rate still grows behind the start, and whether it has fallen
 * since.
 */

/** The rate is found when so many rounds in a row have not raised it by a quarter */
const ROUNDS_WITHOUT_GROWTH = 3
export const GROWTH = 1.25
/** A rate below this part of what it was says that the path has changed: it carries less, or its round trip is longer */
const FALLEN_PART = 0.75

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
