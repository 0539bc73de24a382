/**
 * Bytes that wait, to be sent or to be read, in order. Hot.
 *
 * Pieces are kept by reference; what is taken is bytes, not pieces, so many small sends become one frame and one
 * large send becomes several.
 *
 * Invariant: byteLength is the sum of the lengths that the pieces had when they were pushed. A piece has another one
 * later if its buffer was transferred, grown or shrunk: then its bytes are lost, and `moveTo` throws.
 */
import type { BytesChangedError } from '../bytes-changed-error.ts'

export interface PieceSink {
  piece (bytes: Uint8Array): void
}

export class PieceQueue {
  byteLength = 0
  /** Filled from `#head` up to `#tail` */
  #pieces: Uint8Array[] = []
  /** The length of each piece when it was pushed */
  #lengths: number[] = []
  #head = 0
  #tail = 0
  /** How much of the first piece is taken */
  #headOffset = 0
  readonly #keptPieces: number
  readonly #ChangedError: new (bytesBefore: number, bytesNow: number) => BytesChangedError

  /** Room for `keptPieces` is kept when the queue is empty */
  constructor (keptPieces: number, ChangedError: new (bytesBefore: number, bytesNow: number) => BytesChangedError) {
    this.#keptPieces = keptPieces
    this.#ChangedError = ChangedError
  }

  /** `byteLength` is the length that the piece had when it came, if that was earlier */
  push (piece: Uint8Array, byteLength = piece.byteLength): void {
    this.#pieces[this.#tail] = piece
    this.#lengths[this.#tail++] = byteLength
    this.byteLength += byteLength
  }

  /** What is left of the first piece */
  get firstPieceBytes (): number {
    return this.#head < this.#tail ? this.#lengths[this.#head] - this.#headOffset : 0
  }

  /**
   * Moves the first `count` bytes, which must be there, into `sink`. Throws a BytesChangedError when some are gone;
   * then nothing can be said of the rest, and the queue is to be cleared.
   */
  moveTo (sink: PieceSink, count: number): void {
    const pieces = this.#pieces
    const lengths = this.#lengths
    let head = this.#head
    let offset = this.#headOffset
    let left = count

    while (left > 0) {
      const piece = pieces[head]
      const length = lengths[head]

      if (piece.byteLength !== length) {
        throw this.#changed(head)
      }

      const available = length - offset

      if (available > left) {
        sink.piece(view(piece, offset, left))
        offset += left
        break
      }

      sink.piece(offset === 0 ? piece : view(piece, offset, available))
      // the reference goes now, so that the piece can be collected
      pieces[head++] = TAKEN
      left -= available
      offset = 0
    }

    this.byteLength -= count
    this.#head = head
    this.#headOffset = offset
    this.#dropTaken()
  }

  /** All pieces, in an array that belongs to the caller. Throws as `moveTo` does. */
  takeAll (): Uint8Array[] {
    if (this.#head > 0 || this.#headOffset > 0) {
      const pieces: Uint8Array[] = []
      this.moveTo({ piece: bytes => { pieces.push(bytes) } }, this.byteLength)

      return pieces
    }

    const pieces = this.#pieces
    const count = this.#tail

    for (let i = 0; i < count; i++) {
      if (pieces[i].byteLength !== this.#lengths[i]) {
        throw this.#changed(i)
      }
    }

    if (pieces.length > count) {
      pieces.length = count
    }

    this.#pieces = []
    this.#tail = 0
    this.byteLength = 0

    return pieces
  }

  clear (): void {
    this.#pieces = []
    this.#lengths = []
    this.#head = 0
    this.#tail = 0
    this.#headOffset = 0
    this.byteLength = 0
  }

  #changed (index: number): Error {
    return new this.#ChangedError(this.#lengths[index], this.#pieces[index].byteLength)
  }

  #dropTaken (): void {
    if (this.#head === this.#tail) {
      this.#head = 0
      this.#tail = 0

      if (this.#pieces.length > this.#keptPieces) {
        this.#pieces = []
        this.#lengths = []
      }
    } else if (this.#head > this.#keptPieces && this.#head * 2 > this.#tail) {
      // a queue that is never quite empty does not grow for ever
      this.#pieces = this.#pieces.slice(this.#head, this.#tail)
      this.#lengths = this.#lengths.slice(this.#head, this.#tail)
      this.#tail -= this.#head
      this.#head = 0
    }
  }
}

const TAKEN = new Uint8Array(0)

/** Not subarray(): that of a class of the application's own calls its constructor */
function view (piece: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(piece.buffer, piece.byteOffset + offset, length)
}
