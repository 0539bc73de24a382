/** The bound on bytes in flight, and the length of a write: on a slow path writes are short. */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'

/** A bound is filled by this many writes, as urgent data waits for the one before it: a record of 64 KiB would take 262 ms at 2 Mbit/s */
const WRITES_PER_BOUND = 8
/** During start-up */
const FIRST_WRITES_PER_BOUND = 4

export class Bound {
  bytes = 0
  /** Data is held from this many bytes in flight. Writes are whole, so the bytes in flight miss the bound by half a write at most. */
  holdsFromBytes = 0
  writeBytes = 0
  readonly #recordBytes: number

  constructor (recordBytes: number) {
    this.#recordBytes = recordBytes
  }

  set (bytes: number, isStartUp: boolean): void {
    const writes = isStartUp ? FIRST_WRITES_PER_BOUND : WRITES_PER_BOUND
    this.writeBytes = Math.min(this.#recordBytes, Math.max(MIN_WRITE_BYTES, Math.floor(bytes / writes)))
    this.holdsFromBytes = bytes - this.writeBytes / 2
    this.bytes = bytes
  }
}
