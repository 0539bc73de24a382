/**
 * The rate of a path: the highest recent sample, whether it still grows or has fallen since, and whether it is so high that a bound gains
 * nothing.
 */

/** The rate is known when this many round trips in a row have not raised it by a quarter */
const ROUND_TRIPS_WITHOUT_GROWTH = 3
export const GROWTH = 1.25
/** A rate below this part of the known one shows that the path has changed: it carries less, or its round trip is longer */
const FALLEN_PART = 0.75

/** The highest of the recent samples, because every delay of a pong makes a sample too low */
export class RecentHighest {
  value = 0
  /** The highest of the current half of the time that samples count, and of the half before */
  #newest = 0
  #older = 0
  #newestSinceMs = -Infinity

  /** The rate that both halves have reached: a single sample may be too high after a clump of pongs */
  get confirmed (): number {
    return Math.min(this.#newest, this.#older)
  }

  /** A sample that `isAppLimited` may raise the rate, and never lowers it. Samples count for `validMs`. */
  learn (sample: number, isAppLimited: boolean, nowMs: number, validMs: number): void {
    if (isAppLimited && sample <= this.value) {
      return
    }

    const ageMs = nowMs - this.#newestSinceMs

    // a clock that was set back begins a new half too
    if (ageMs >= validMs / 2 || ageMs < 0) {
      this.#older = ageMs < validMs ? this.#newest : 0
      this.#newest = 0
      this.#newestSinceMs = nowMs
    }

    this.#newest = Math.max(this.#newest, sample)
    this.value = Math.max(this.#newest, this.#older)
  }
}

/** Whether the rate still grows during start-up, and whether it has fallen since */
export class KnownRate {
  bytesPerMs = 0
  #roundTripsWithoutGrowth = 0
  #countedMs = 0

  /**
   * A round trip has shown this rate. Returns whether the rate still grows. Of the round trips within `apartMs` only one counts: with long turns
   * of a program, several end in one turn.
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

/** A path is fast if the bytes in a kernel's buffer pass it within this time */
const FAST_MS = 20
/** It stays fast until they take this many times as long */
const FAST_HYSTERESIS = 2
/** The assumed size of the kernel's buffer, until the transport has said "wait" */
const KERNEL_BYTES = 4_194_304

/** Between two marks. On a fast path a rare mark shows whether the path stays fast. */
export const MARK_INTERVAL_MS = 5
const FAST_MARK_INTERVAL_MS = 100

/** Whether the path is so fast that a bound gains nothing: then nothing is held, and marks are rare */
export class FastPath {
  isFast = false
  #kernelBytes = KERNEL_BYTES

  get markIntervalMs (): number {
    return this.isFast ? FAST_MARK_INTERVAL_MS : MARK_INTERVAL_MS
  }

  /** `queueMs`: how long the last mark has waited */
  learn (bytesPerMs: number, queueMs: number): void {
    // such a queue shows that the kernel's buffer has grown since it said "wait"
    if (this.isFast && queueMs > FAST_HYSTERESIS * FAST_MS) {
      this.#kernelBytes = KERNEL_BYTES
    }

    this.isFast = bytesPerMs * FAST_MS * (this.isFast ? FAST_HYSTERESIS : 1) >= this.#kernelBytes
  }

  onTransportFull (inFlightBytes: number): void {
    if (!this.isFast) {
      this.#kernelBytes = inFlightBytes
    }
  }
}
