/**
 * How many bytes may be under way, how many one write may hold, and how much of urgent data passes although enough is under way.
 */

/** A record of 64 KiB takes 262 ms at 2 Mbit/s */
const WRITES_PER_BOUND = 8
/** While the rate is looked for */
const FIRST_WRITES_PER_BOUND = 4
export const MIN_WRITE_BYTES = 4096

/** On a slow path writes are small */
export class Bound {
  /** Infinity if nothing is held back */
  bytes = 0
  /** From here on data waits: another write would go beyond the bound. Writes are whole, so what is under way is within half a write of it. */
  holdsFromBytes = 0
  writeBytes = 0
  readonly #maxWriteBytes: number

  constructor (maxWriteBytes: number) {
    this.#maxWriteBytes = maxWriteBytes
  }

  set (bytes: number, isRateLookedFor: boolean): void {
    const writes = isRateLookedFor ? FIRST_WRITES_PER_BOUND : WRITES_PER_BOUND
    this.writeBytes = Math.min(this.#maxWriteBytes, Math.max(MIN_WRITE_BYTES, Math.floor(bytes / writes)))
    this.holdsFromBytes = bytes - this.writeBytes / 2
    this.bytes = bytes
  }
}

const ALLOWED_MS = 10
const MIN_BYTES = 16_384
const PART_OF_ARRIVED = 1 / 8

/**
 * Urgent data does not wait while enough is under way, as long as it is little: what the path carries in 10 ms, a frame at least, and a
 * part of what arrives. Megabytes would make all other data wait for them.
 */
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
