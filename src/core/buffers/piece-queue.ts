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

/** An entry takes three slots of one list: its piece, where its range begins, and where it ends. With three lists a send touched two objects more. */
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

  /** Room for `keptPieces` is kept when the queue is empty. A `ChangedError` says that bytes are gone. */
  constructor (keptPieces: number, ChangedError: new (bytesBefore: number, bytesNow: number) => Error) {
    this.#keptSlots = keptPieces * SLOTS
    this.#ChangedError = ChangedError
  }

  /** The bytes of `piece` from `start` to `end`, by the length that it had when it came; `isJoined`: one entry with the last, if they lie behind it */
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

  /** In front of everything. Rare. */
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

  /** What is left of the first entry */
  get firstPieceBytes (): number {
    const head = this.#head

    return head < this.#tail ? (this.#slots[head + END] as number) - (this.#slots[head + START] as number) : 0
  }

  /** The first entry, as `moveTo` would pass it on, if it is `count` bytes long and none of it is gone. There must be one. */
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
   * Moves the first `count` bytes, which must be there, into `sink`. Throws a `ChangedError` when some are gone;
   * then nothing can be said of the rest, and the queue is to be cleared.
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
      // the reference goes now, so that the piece can be collected
      slots[head] = TAKEN
      head += SLOTS
      left -= available
    }

    this.byteLength -= count
    this.#head = head
    this.#dropTaken()
  }

  /** Puts all entries into another queue, and is of no use from then on. Whether bytes are gone shows when they are taken there. */
  passOn (queue: PieceQueue): void {
    const slots = this.#slots

    for (let entry = this.#head; entry < this.#tail; entry += SLOTS) {
      queue.push(slots[entry] as Uint8Array, slots[entry + START] as number, slots[entry + END] as number)
    }
  }

  clear (): void {
    this.#slots = []
    this.#head = 0
    this.#tail = 0
    this.byteLength = 0
  }

  /** For half as many entries as there are, so that each is moved twice, however many come */
  #makeRoomInFront (): void {
    const room = SLOTS * (1 + (this.#tail / SLOTS >> 1))
    this.#slots = [...new Array<Uint8Array>(room).fill(TAKEN), ...this.#slots]
    this.#head = room
    this.#tail += room
  }

  #dropTaken (): void {
    const isEmpty = this.#head === this.#tail

    if (isEmpty ? this.#slots.length > this.#keptSlots : this.#head > this.#keptSlots && this.#head * 2 > this.#tail) {
      // nor does a queue that is never quite empty grow for ever
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

/** Not subarray(): that of a class of the application's own calls its constructor */
function view (piece: Uint8Array, offset: number, length: number): Uint8Array {
  return new Uint8Array(piece.buffer, piece.byteOffset + offset, length)
}
