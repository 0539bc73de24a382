/**
 * The lengths of frames that wait, first in, first out: a byte each for those under 128, so that the
 * boundaries of a window full of frames of one byte cost no more than the bytes. Hot when frames are kept apart.
 */

/** Seven bits of a length, the lowest first; the eighth says that there are more */
const LENGTH_BITS = 0x7f
const HAS_MORE = 0x80
const SHIFT = 7
/** Of 32 bits */
const MAX_LENGTH_BYTES = 5

/** Small, because every stream with a frame that waits has one */
const FIRST_BLOCK_BYTES = 32
/** Blocks grow with what waits, so that they are neither many nor mostly empty */
const MAX_BLOCK_BYTES = 16_384

export class FrameLengths {
  /** How many there are */
  count = 0
  #blocks: Uint8Array[] = []
  /** Where the next length is read in the first block, and written in the last */
  #readAt = 0
  #writeAt = 0

  push (length: number): void {
    let block = this.#blocks.at(-1)

    // a length is not split between blocks
    if (block === undefined || block.byteLength - this.#writeAt < MAX_LENGTH_BYTES) {
      block = new Uint8Array(block === undefined ? FIRST_BLOCK_BYTES : Math.min(MAX_BLOCK_BYTES, 2 * block.byteLength))
      this.#blocks.push(block)
      this.#writeAt = 0
    }

    while (length > LENGTH_BITS) {
      block[this.#writeAt++] = (length & LENGTH_BITS) | HAS_MORE
      length >>>= SHIFT
    }

    block[this.#writeAt++] = length
    this.count++
  }

  /** Takes the first; there must be one */
  shift (): number {
    this.count--
    const [block] = this.#blocks
    let length = 0
    let shift = 0
    let byte: number

    do {
      byte = block[this.#readAt++]
      length |= (byte & LENGTH_BITS) << shift
      shift += SHIFT
    } while (byte >= HAS_MORE)

    if (this.#blocks.length > 1) {
      this.#dropIfRead(block)
    } else if (this.#readAt === this.#writeAt) {
      this.#readAt = 0
      this.#writeAt = 0
    }

    return length >>> 0
  }

  clear (): void {
    this.count = 0
    this.#blocks = []
    this.#readAt = 0
    this.#writeAt = 0
  }

  /** A block that is not the last has no room for another length at its end */
  #dropIfRead (block: Uint8Array): void {
    if (block.byteLength - this.#readAt < MAX_LENGTH_BYTES) {
      this.#blocks.shift()
      this.#readAt = 0
    }
  }
}
