/**
 * Whether what a kernel takes is through the path in some 20 ms. There a bound has nothing to gain, so nothing is held back, and marks are
 * rare.
 */

const FAST_MS = 20
/** A path is fast no more when a kernel's bytes take so many times as long */
const FAST_NO_MORE = 2
/** What a kernel takes, until the transport has said "wait" */
const KERNEL_BYTES = 4_194_304

/** Between two marks: one now and then shows whether the path stays fast */
export const MARK_INTERVAL_MS = 5
const FAST_MARK_INTERVAL_MS = 100

export class FastPath {
  isFast = false
  #kernelBytes = KERNEL_BYTES

  /** There are no more marks than one in so many milliseconds */
  get markIntervalMs (): number {
    return this.isFast ? FAST_MARK_INTERVAL_MS : MARK_INTERVAL_MS
  }

  learn (bytesPerMs: number): void {
    this.isFast = bytesPerMs * FAST_MS * (this.isFast ? FAST_NO_MORE : 1) >= this.#kernelBytes
  }

  /** The transport has said "wait" */
  onTransportFull (underWayBytes: number): void {
    if (!this.isFast) {
      this.#kernelBytes = underWayBytes
    }
  }
}
