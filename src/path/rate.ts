/**
 * What a path carries, what it carried when it was last found to be as it was, and whether that is so much that a bound has nothing to gain.
 */

/** The rate is found when so many rounds in a row have not raised it by a quarter */
const ROUND_TRIPS_WITHOUT_GROWTH = 3
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
  #roundTripsWithoutGrowth = 0
  #countedMs = 0

  /**
   * A round has shown this rate. Returns whether it still grows. Of rounds within `apartMs` one counts: programs that work in turns have several
   * in one, and nothing for long between two.
   */
  grows (bytesPerMs: number, nowMs: number, apartMs: number): boolean {
    if (bytesPerMs >= this.bytesPerMs * GROWTH) {
      this.bytesPerMs = bytesPerMs
      this.#roundTripsWithoutGrowth = 0
      this.#countedMs = nowMs
    } else if (Math.abs(nowMs - this.#countedMs) >= apartMs) {
      this.#roundTripsWithoutGrowth++
      this.#countedMs = nowMs
    }

    return this.#roundTripsWithoutGrowth < ROUND_TRIPS_WITHOUT_GROWTH
  }

  hasFallenTo (bytesPerMs: number): boolean {
    return bytesPerMs < this.bytesPerMs * FALLEN_PART
  }
}

const FAST_MS = 20
/** A path is fast no more when a kernel's bytes take so many times as long */
const FAST_HYSTERESIS = 2
/** What a kernel takes, until the transport has said "wait" */
const KERNEL_BYTES = 4_194_304

/** Between two marks: one now and then shows whether the path stays fast */
export const MARK_INTERVAL_MS = 5
const FAST_MARK_INTERVAL_MS = 100

/**
 * Whether what a kernel takes is through the path in some 20 ms. There a bound has nothing to gain, so nothing is held back, and marks are
 * rare.
 */
export class FastPath {
  isFast = false
  #kernelBytes = KERNEL_BYTES

  /** There are no more marks than one in so many milliseconds */
  get markIntervalMs (): number {
    return this.isFast ? FAST_MARK_INTERVAL_MS : MARK_INTERVAL_MS
  }

  /** The path carries so much, and the last mark has waited for so long */
  learn (bytesPerMs: number, queueMs: number): void {
    // the kernel takes more than when it said "wait": buffers grow
    if (this.isFast && queueMs > FAST_HYSTERESIS * FAST_MS) {
      this.#kernelBytes = KERNEL_BYTES
    }

    this.isFast = bytesPerMs * FAST_MS * (this.isFast ? FAST_HYSTERESIS : 1) >= this.#kernelBytes
  }

  /** The transport has said "wait" */
  onTransportFull (inFlightBytes: number): void {
    if (!this.isFast) {
      this.#kernelBytes = inFlightBytes
    }
  }
}
