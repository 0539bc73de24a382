/**
 * Limits the urgent data that passes while other data is held: what the path carries in 10 ms, or a frame if that is more, and then a part of
 * what arrives. Without this limit, megabytes of urgent data would make all other data wait.
 */
const URGENT_MS = 10
const MIN_URGENT_BYTES = 16_384
/** Of the bytes that arrive while data is held */
const URGENT_PART = 1 / 8

export class UrgentAllowance {
  /** Urgent data waits like other data, until the whole allowance is available again */
  isSpent = false
  #bytes = MIN_URGENT_BYTES

  spend (byteLength: number): void {
    this.#bytes -= byteLength
    this.isSpent ||= this.#bytes <= 0
  }

  /** `arrivedBytes` have arrived; `wasHeld`: while data was held */
  renew (arrivedBytes: number, wasHeld: boolean, bytesPerMs: number): void {
    const mostBytes = Math.max(MIN_URGENT_BYTES, URGENT_MS * bytesPerMs)
    this.#bytes = wasHeld ? Math.min(mostBytes, this.#bytes + URGENT_PART * arrivedBytes) : mostBytes
    this.isSpent &&= this.#bytes < mostBytes
  }
}
