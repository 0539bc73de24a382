/**
 * The bytes that one stream has been given and that no frame has taken yet. Hot.
 *
 * Pieces are kept by reference, in order; a frame takes bytes, not pieces, so
 * many small sends become one frame and one large send becomes several.
 */

/** Behind this many taken pieces the array is shortened, so that it does not grow for ever on a stream that is never quite empty */
const COMPACT_AFTER_PIECES = 1024

export interface PieceSink {
  piece (bytes: Uint8Array): void
}

export class SendQueue {
  byteLength = 0
  #pieces: Uint8Array[] = []
  #head = 0
  #headOffset = 0

  push (piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.byteLength += piece.byteLength
  }

  /** What is left of the first piece */
  get firstPieceBytes (): number {
    return this.#head < this.#pieces.length ? this.#pieces[this.#head].byteLength - this.#headOffset : 0
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
      count -= available
      offset = 0
      head++
    }

    this.#headOffset = offset
    this.#dropTaken(head)
  }

  clear (): void {
    this.#pieces = []
    this.#head = 0
    this.#headOffset = 0
    this.byteLength = 0
  }

  #dropTaken (head: number): void {
    const pieces = this.#pieces

    if (head === pieces.length) {
      this.#pieces = []
      this.#head = 0
    } else if (head >= COMPACT_AFTER_PIECES) {
      pieces.splice(0, head)
      this.#head = 0
    } else {
      // the references of taken pieces go now, so that they can be collected
      pieces.fill(EMPTY, this.#head, head)
      this.#head = head
    }
  }
}

const EMPTY = new Uint8Array(0)
