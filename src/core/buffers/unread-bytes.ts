/**
 * Bytes of one stream that nobody has read yet. Hot.
 *
 * What is read in the turn it arrives is passed on as views of the inbound chunk. What must wait is copied into blocks: a
 * view keeps its whole chunk alive, so a peer could otherwise make one waiting byte cost a whole record.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { ReceivedBytesChangedError } from '../bytes-changed-error.ts'
import { PieceQueue } from './piece-queue.ts'
import type { PieceSink } from './piece-queue.ts'

/** Blocks grow with what waits, so that one byte costs little and many small frames cost few objects */
const MIN_BLOCK_BYTES = 256
const MAX_BLOCK_BYTES = 16_384

/** The frames of a stream in one chunk are few */
const KEPT_PIECES = 16

export class UnreadBytes {
  byteLength = 0
  /** What the application has pushed back, the first one last */
  #front: Uint8Array[] = []
  /** Older bytes, in memory of their own */
  #kept: PieceQueue | undefined
  /** The last kept block, filled up to `#blockFill`; nobody has a view of it, and while there is one there is `#kept` */
  #block: Uint8Array | undefined
  #blockFill = 0
  /** Views of chunks that have just come in */
  readonly #fresh = new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)

  /** `byteLength` is what the view had when it came, if that was earlier */
  append (view: Uint8Array, byteLength = view.byteLength): void {
    this.#fresh.pushRange(view, 0, byteLength)
    this.byteLength += byteLength
  }

  appendAll (views: Iterable<Uint8Array>): void {
    for (const view of views) {
      this.append(view)
    }
  }

  /** Puts bytes that nobody else has in front of everything */
  prepend (bytes: Uint8Array): void {
    this.#front.push(bytes)
    this.byteLength += bytes.byteLength
  }

  /** The first `count` bytes, which must be there. Throws a ReceivedBytesChangedError. */
  take (count: number): Uint8ArrayList {
    const piece = this.#fresh.byteLength === this.byteLength ? this.#fresh.takeFirst(count) : undefined
    const pieces = piece === undefined ? this.#takePieces(count) : [piece]
    this.byteLength -= count

    return Uint8ArrayList.fromUint8Arrays(pieces, count)
  }

  /**
   * Makes all of it independent of the chunks it came in. When there can be no more than `maxBytes` of it, no more memory is
   * kept for that. Throws a ReceivedBytesChangedError.
   */
  keep (maxBytes: number): void {
    if (this.#fresh.byteLength > 0) {
      this.#fresh.moveTo({ piece: view => { this.#copy(view, maxBytes) } }, this.#fresh.byteLength)
    }
  }

  clear (): void {
    this.byteLength = 0
    this.#front = []
    this.#kept = undefined
    this.#block = undefined
    this.#fresh.clear()
  }

  #takePieces (count: number): Uint8Array[] {
    const pieces: Uint8Array[] = []
    const sink: PieceSink = { piece: bytes => { pieces.push(bytes) } }

    while (count > 0 && this.#front.length > 0) {
      count -= this.#takeFront(sink, count)
    }

    while (count > 0 && this.#kept !== undefined) {
      count -= this.#takeKept(this.#kept, sink, count)
    }

    this.#fresh.moveTo(sink, count)

    return pieces
  }

  #takeFront (sink: PieceSink, count: number): number {
    const last = this.#front.length - 1
    const piece = this.#front[last]

    if (piece.byteLength > count) {
      sink.piece(piece.subarray(0, count))
      this.#front[last] = piece.subarray(count)

      return count
    }

    sink.piece(piece)
    this.#front.pop()

    return piece.byteLength
  }

  /** When the full blocks are used up, the one that is being filled is sealed and comes next */
  #takeKept (kept: PieceQueue, sink: PieceSink, count: number): number {
    if (kept.byteLength === 0) {
      this.#sealBlock(kept)
    }

    const keptCount = Math.min(count, kept.byteLength)
    kept.moveTo(sink, keptCount)

    if (kept.byteLength === 0 && this.#block === undefined) {
      this.#kept = undefined
    }

    return keptCount
  }

  #sealBlock (kept: PieceQueue): void {
    if (this.#block !== undefined) {
      kept.push(this.#block.subarray(0, this.#blockFill))
      this.#block = undefined
    }
  }

  #copy (view: Uint8Array, maxBytes: number): void {
    let offset = 0

    while (offset < view.byteLength) {
      if (this.#block === undefined || this.#blockFill === this.#block.byteLength) {
        this.#nextBlock(view.byteLength - offset, maxBytes - this.byteLength)
      }

      const block = this.#block as Uint8Array
      const count = Math.min(block.byteLength - this.#blockFill, view.byteLength - offset)
      block.set(view.subarray(offset, offset + count), this.#blockFill)
      this.#blockFill += count
      offset += count
    }
  }

  #nextBlock (atLeastBytes: number, moreBytes: number): void {
    this.#kept ??= new PieceQueue(KEPT_PIECES, ReceivedBytesChangedError)
    this.#sealBlock(this.#kept)
    const growingBytes = Math.min(MAX_BLOCK_BYTES, Math.max(MIN_BLOCK_BYTES, this.byteLength))
    const usefulBytes = Math.max(MIN_BLOCK_BYTES, atLeastBytes + moreBytes)
    this.#block = new Uint8Array(Math.max(atLeastBytes, Math.min(growingBytes, usefulBytes)))
    this.#blockFill = 0
  }
}
