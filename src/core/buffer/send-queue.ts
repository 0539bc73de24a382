/**
 * The bytes that one stream has been given and that no frame has taken yet. Hot.
 *
 * Pieces are kept by reference, in order; a frame takes bytes, not pieces, so
 * many small sends become one frame and one large send becomes several.
 */

/**
 * Room for so many pieces is kept by an empty queue, 2 KiB of references. Allocating it anew for each burst costs
 * more: with 64, 1,000 streams of 100 bytes lose a twentieth.
 */
const KEPT_PIECES = 256

export interface PieceSink {
  piece (bytes: Uint8Array): void
}

export class SendQueue {
  byteLength = 0
  /** Filled from `#head` up to `#tail` */
  #pieces: Uint8Array[] = []
  #head = 0
  #tail = 0
  /** How much of the first piece is taken */
  #headOffset = 0

  push (piece: Uint8Array): void {
    this.#pieces[this.#tail++] = piece
    this.byteLength += piece.byteLength
  }

  /** What is left of the first piece */
  get firstPieceBytes (): number {
    return this.#head < this.#tail ? this.#pieces[this.#head].byteLength - this.#headOffset : 0
  }

  /** Moves the first `count` bytes, which must be there, into `sink` */
  moveTo (sink: PieceSink, count: number): void {
    const pieces = this.#pieces
    let head = this.#head
    let offset = this.#headOffset
    this.byteLength -= count

    while (count > 0) {
      const piece = pieces[head]
      const available = piece.byteLength - offset

      if (available > count) {
        sink.piece(piece.subarray(offset, offset + count))
        offset += count
        break
      }

      sink.piece(offset === 0 ? piece : piece.subarray(offset))
      // the reference goes now, so that the piece can be collected
      pieces[head++] = TAKEN
      count -= available
      offset = 0
    }

    this.#head = head
    this.#headOffset = offset
    this.#dropTaken()
  }

  clear (): void {
    this.#pieces = []
    this.#head = 0
    this.#tail = 0
    this.#headOffset = 0
    this.byteLength = 0
  }

  #dropTaken (): void {
    if (this.#head === this.#tail) {
      this.#head = 0
      this.#tail = 0

      if (this.#pieces.length > KEPT_PIECES) {
        this.#pieces = []
      }
    } else if (this.#head > KEPT_PIECES && this.#head * 2 > this.#tail) {
      // a queue that is never quite empty does not grow for ever
      this.#pieces = this.#pieces.slice(this.#head, this.#tail)
      this.#tail -= this.#head
      this.#head = 0
    }
  }
}

const TAKEN = new Uint8Array(0)
