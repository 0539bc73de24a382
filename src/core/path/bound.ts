/**
 * How many bytes may be under way, and how many one write may hold: on a slow path writes are small.
 */

/** A record of 64 KiB takes 262 ms at 2 Mbit/s */
const WRITES_PER_BOUND = 8
/** While the rate is looked for */
const FIRST_WRITES_PER_BOUND = 4
export const MIN_WRITE_BYTES = 4096

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
