/**
 * A queue of bytes that wait to be sent or read. Hot.
 *
 * An entry is a range of a piece of memory, by reference. Bytes are taken, not entries: many small sends become one frame, and a large
 * send becomes several.
 *
 * Invariant: byteLength is the sum of the ranges. If a program transfers or shrinks the buffer of a piece, the piece is shorter than its
 * range; taking the lost bytes throws.
 */
export interface PieceSink {
  piece (bytes: Uint8Array): void
}

/** An entry takes three slots of one list: the piece, the start and the end of its range. One list, so that a send touches few objects. */
const START = 1
const END = 2
const SLOTS = 3

export class PieceQueue {
  byteLength = 0
  /** Filled from `#head` up to `#tail` */
  #slots: Array<Uint8Array | number> = []
  #head = 0
  #tail = 0
  readonly #keptSlots: number
  readonly #ChangedError: new (bytesBefore: number, bytesNow: number) => Error

  /** An empty queue keeps memory for `keptPieces`. A `ChangedError` is thrown if bytes are lost. */
  constructor (keptPieces: number, ChangedError: new (bytesBefore: number, bytesNow: number) => Error) {
    this.#keptSlots = keptPieces * SLOTS
    this.#ChangedError = ChangedError
  }

  /**
   * Appends the bytes of `piece` from `start` to `end`, where `end` was valid when the piece arrived. `isJoined`: extend the last entry if
   * contiguous.
   */
  push (piece: Uint8Array, start = 0, end = piece.byteLength, isJoined = false): void {
    const slots = this.#slots
    let entry = this.#tail - SLOTS

    if (!isJoined || entry < this.#head || slots[entry] !== piece || slots[entry + END] !== start) {
      entry = this.#tail
      this.#tail += SLOTS
      slots[entry] = piece
      slots[entry + START] = start
    }

    slots[entry + END] = end
    this.byteLength += end - start
  }

  /** Puts a piece in front. Rare. */
  unshift (piece: Uint8Array): void {
    if (this.#head === 0) {
      this.#makeRoomInFront()
    }

    this.#head -= SLOTS
    this.#slots[this.#head] = piece
    this.#slots[this.#head + START] = 0
    this.#slots[this.#head + END] = piece.byteLength
    this.byteLength += piece.byteLength
  }

  /** The length of the first entry */
  get firstPieceBytes (): number {
    const head = this.#head

    return head < this.#tail ? (this.#slots[head + END] as number) - (this.#slots[head + START] as number) : 0
  }

  /** Takes the first entry if it is `count` bytes long and none is lost; there must be an entry */
  takeFirst (count: number): Uint8Array | undefined {
    const slots = this.#slots
    const head = this.#head
    const piece = slots[head] as Uint8Array
    const start = slots[head + START] as number
    const end = start + count

    if (slots[head + END] !== end || piece.byteLength < end) {
      return undefined
    }

    slots[head] = TAKEN
    this.#head = head + SLOTS
    this.byteLength -= count
    this.#dropTaken()

    return piece.byteLength === count ? piece : view(piece, start, count)
  }

  /**
   * Moves the first `count` bytes, which must be there, into `sink`. Throws a `ChangedError` if some are lost; then the queue is
   * inconsistent, and must be cleared.
   */
  moveTo (sink: PieceSink, count: number): void {
    const slots = this.#slots
    let head = this.#head
    let left = count

    while (left > 0) {
      const piece = slots[head] as Uint8Array
      const start = slots[head + START] as number
      const end = slots[head + END] as number
      const available = end - start

      if (piece.byteLength < end) {
        throw new this.#ChangedError(end, piece.byteLength)
      }

      if (available > left) {
        sink.piece(view(piece, start, left))
        slots[head + START] = start + left
        break
      }

      sink.piece(available === piece.byteLength ? piece : view(piece, start, available))
      // releases the piece to garbage collection
      slots[head] = TAKEN
      head += SLOTS
      left -= available
    }

    this.byteLength -= count
    this.#head = head
    this.#dropTaken()
  }

  clear (): void {
    this.#slots = []
    this.#head = 0
    this.#tail = 0
    this.byteLength = 0
  }

  /** Makes room for half as many entries as there are: each entry is moved about twice, however many are put in front */
  #makeRoomInFront (): void {
    const room = SLOTS * (1 + (this.#tail / SLOTS >> 1))
    this.#slots = [...new Array<Uint8Array>(room).fill(TAKEN), ...this.#slots]
    this.#head = room
    this.#tail += room
  }

  #dropTaken (): void {
    const isEmpty = this.#head === this.#tail

    if (isEmpty ? this.#slots.length > this.#keptSlots : this.#head > this.#keptSlots && this.#head * 2 > this.#tail) {
      // a queue that is never empty must not grow without limit
      this.#slots = this.#slots.slice(this.#head, this.#tail)
      this.#tail -= this.#head
      this.#head = 0
    } else if (isEmpty) {
      this.#head = 0
      this.#tail = 0
    }
  }
}

const TAKEN = new Uint8Array(0)

/** Not subarray(), which calls the constructor of an application's subclass */
function view (piece: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(piece.buffer, piece.byteOffset + offset, length)
}
