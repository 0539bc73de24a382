/**
 * Urgent data does not wait while enough is under way, as long as it is little: what the path carries in 10 ms, a frame at least, and a
 * part of what arrives. Megabytes would make all other data wait for them.
 */

const ALLOWED_MS = 10
const MIN_BYTES = 16_384
const PART_OF_ARRIVED = 1 / 8

export class UrgentAllowance {
  /** It waits like other data, until all of it is there again */
  isSpent = false
  #bytes = MIN_BYTES

  spend (byteLength: number): void {
    this.#bytes -= byteLength
    this.isSpent ||= this.#bytes <= 0
  }

  /** So much has arrived; `wasHeld`: while data was held back */
  renew (arrivedBytes: number, wasHeld: boolean, bytesPerMs: number): void {
    const mostBytes = Math.max(MIN_BYTES, ALLOWED_MS * bytesPerMs)
    this.#bytes = wasHeld ? Math.min(mostBytes, this.#bytes + PART_OF_ARRIVED * arrivedBytes) : mostBytes
    this.isSpent &&= this.#bytes < mostBytes
  }
}
