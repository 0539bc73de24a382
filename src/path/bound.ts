/** The bound on bytes in flight, and how long a write is because of it: on a slow path writes are small. */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'
import type { PathBound } from '../core/path-control.ts'

/** A record of 64 KiB takes 262 ms at 2 Mbit/s */
const WRITES_PER_BOUND = 8
/** While the rate is looked for */
const FIRST_WRITES_PER_BOUND = 4

export class Bound implements PathBound {
  bytes = 0
  /** From here on data waits: another write would go beyond the bound. Writes are whole, so what is in flight is within half a write of it. */
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
