/**
 * Bytes that wait, to be sent or to be read, in order. Hot.
 *
 * An entry is a range of a piece of memory that is kept by reference. What is taken is bytes, not entries, so many small
 * sends become one frame and one large send becomes several.
 *
 * Invariant: byteLength is the sum of the ranges. A piece is shorter than its range once its buffer was transferred or
 * shrunk: then bytes are lost, and taking them throws.
 */
export interface PieceSink {
  piece (bytes: Uint8Array): void
}

export class PieceQueue {
  byteLength = 0
  /** Filled from `#head` up to `#tail` */
  #pieces: Uint8Array[] = []
  /** Where the range of each piece begins, and ends */
  #starts: number[] = []
  #ends: number[] = []
  #head = 0
  #tail = 0
  readonly #keptPieces: number
  readonly #ChangedError: new (bytesBefore: number, bytesNow: number) => Error

  /** Room for `keptPieces` is kept when the queue is empty. A `ChangedError` says that bytes are gone. */
  constructor (keptPieces: number, ChangedError: new (bytesBefore: number, bytesNow: number) => Error) {
    this.#keptPieces = keptPieces
    this.#ChangedError = ChangedError
  }

  /** The bytes of `piece` from `start` to `end`, by the length that it had when it came; `isJoined`: one entry with the last, if they lie behind it */
  push (piece: Uint8Array, start = 0, end = piece.byteLength, isJoined = false): void {
    let entry = this.#tail - 1

    if (!isJoined || entry < this.#head || this.#pieces[entry] !== piece || this.#ends[entry] !== start) {
      entry = this.#tail++
      this.#pieces[entry] = piece
      this.#starts[entry] = start
    }

    this.#ends[entry] = end
    this.byteLength += end - start
  }

  /** In front of everything. Rare. */
  unshift (piece: Uint8Array): void {
    if (this.#head === 0) {
      this.#makeRoomInFront()
    }

    const entry = --this.#head
    this.#pieces[entry] = piece
    this.#starts[entry] = 0
    this.#ends[entry] = piece.byteLength
    this.byteLength += piece.byteLength
  }

  /** What is left of the first entry */
  get firstPieceBytes (): number {
    return this.#head < this.#tail ? this.#ends[this.#head] - this.#starts[this.#head] : 0
  }

  /** The first entry, as `moveTo` would pass it on, if it is `count` bytes long and none of it is gone. There must be one. */
  takeFirst (count: number): Uint8Array | undefined {
    const head = this.#head
    const piece = this.#pieces[head]
    const start = this.#starts[head]
    const end = start + count

    if (this.#ends[head] !== end || piece.byteLength < end) {
      return undefined
    }

    this.#pieces[head] = TAKEN
    this.#head = head + 1
    this.byteLength -= count
    this.#dropTaken()

    return piece.byteLength === count ? piece : view(piece, start, count)
  }

  /**
   * Moves the first `count` bytes, which must be there, into `sink`. Throws a `ChangedError` when some are gone;
   * then nothing can be said of the rest, and the queue is to be cleared.
   */
  moveTo (sink: PieceSink, count: number): void {
    const pieces = this.#pieces
    const starts = this.#starts
    const ends = this.#ends
    let head = this.#head
    let left = count

    while (left > 0) {
      const piece = pieces[head]
      const start = starts[head]
      const end = ends[head]
      const available = end - start

      if (piece.byteLength < end) {
        throw new this.#ChangedError(end, piece.byteLength)
      }

      if (available > left) {
        sink.piece(view(piece, start, left))
        starts[head] = start + left
        break
      }

      sink.piece(available === piece.byteLength ? piece : view(piece, start, available))
      // the reference goes now, so that the piece can be collected
      pieces[head++] = TAKEN
      left -= available
    }

    this.byteLength -= count
    this.#head = head
    this.#dropTaken()
  }

  clear (): void {
    this.#pieces = []
    this.#starts = []
    this.#ends = []
    this.#head = 0
    this.#tail = 0
    this.byteLength = 0
  }

  /** For half as many entries as there are, so that each is moved twice, however many come */
  #makeRoomInFront (): void {
    const room = 1 + (this.#tail >> 1)
    const zeros = new Array<number>(room).fill(0)
    this.#pieces = [...new Array<Uint8Array>(room).fill(TAKEN), ...this.#pieces]
    this.#starts = [...zeros, ...this.#starts]
    this.#ends = [...zeros, ...this.#ends]
    this.#head = room
    this.#tail += room
  }

  #dropTaken (): void {
    const isEmpty = this.#head === this.#tail

    if (isEmpty ? this.#pieces.length > this.#keptPieces : this.#head > this.#keptPieces && this.#head * 2 > this.#tail) {
      // nor does a queue that is never quite empty grow for ever
      this.#pieces = this.#pieces.slice(this.#head, this.#tail)
      this.#starts = this.#starts.slice(this.#head, this.#tail)
      this.#ends = this.#ends.slice(this.#head, this.#tail)
      this.#tail -= this.#head
      this.#head = 0
    } else if (isEmpty) {
      this.#head = 0
      this.#tail = 0
    }
  }
}

const TAKEN = new Uint8Array(0)

/** Not subarray(): that of a class of the application's own calls its constructor */
function view (piece: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(piece.buffer, piece.byteOffset + offset, length)
}
