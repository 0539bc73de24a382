/**
 * Remembers the highest of the recent samples of the path's rate, since whatever delays pongs makes a sample too low.
 */

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
