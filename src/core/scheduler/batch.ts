/**
 * Gathers the headers and payload of one write, and lays them out in few pieces. Hot.
 *
 * Each piece of a write costs a cipher call and a socket write. So headers and small pieces are copied into one contiguous piece; large
 * ones are passed by reference.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { allocUnsafe } from 'uint8arrays/alloc'
import { encodeHeader, HEADER_BYTES, TYPE_DATA } from '../wire/frame.ts'

/** From this size on a piece is passed by reference: to copy it would cost fresh memory, and later garbage collection, which is more. */
export const BY_REFERENCE_BYTES = 8192

/** The lists keep memory for this many pieces and headers, as many as a record of 50-byte messages in frames of their own has. */
const KEPT_PIECES = 2048
const NUMBERS_PER_HEADER = 4

export class Batch {
  frameCount = 0
  dataFrameCount = 0
  maxFrames = Infinity
  /** Negative after a message that must not be cut and is longer than the batch */
  roomBytes = 0
  /** Payload in order; undefined stands for the next header, and fills the list from `#pieceCount` on */
  #pieces: Array<Uint8Array | undefined> = []
  #pieceCount = 0
  /** Four numbers a header: type, flags, stream id, length */
  #headers: number[] = []
  #copiedBytes = 0

  /** Starts an empty batch */
  begin (maxBytes: number, maxFrames: number): void {
    this.roomBytes = maxBytes
    this.maxFrames = maxFrames
    this.frameCount = 0
    this.dataFrameCount = 0
  }

  /** A frame without payload fits */
  get hasRoom (): boolean {
    return this.roomBytes >= HEADER_BYTES && this.frameCount < this.maxFrames
  }

  header (type: number, flags: number, streamId: number, length: number): void {
    const headers = this.#headers
    const start = this.frameCount * NUMBERS_PER_HEADER
    headers[start] = type
    headers[start + 1] = flags
    headers[start + 2] = streamId
    headers[start + 3] = length
    this.#pieces[this.#pieceCount++] = undefined
    this.#copiedBytes += HEADER_BYTES
    this.roomBytes -= HEADER_BYTES
    this.frameCount++
    this.dataFrameCount += type === TYPE_DATA ? 1 : 0
  }

  piece (bytes: Uint8Array): void {
    this.#pieces[this.#pieceCount++] = bytes
    this.roomBytes -= bytes.byteLength

    if (bytes.byteLength < BY_REFERENCE_BYTES) {
      this.#copiedBytes += bytes.byteLength
    }
  }

  /** Removes the last frame, which must be a DATA frame */
  dropFrame (): void {
    let piece: Uint8Array | undefined

    do {
      piece = this.#pieces[--this.#pieceCount]
      this.#pieces[this.#pieceCount] = undefined
      const byteLength = piece?.byteLength ?? HEADER_BYTES
      this.roomBytes += byteLength
      this.#copiedBytes -= byteLength < BY_REFERENCE_BYTES ? byteLength : 0
    } while (piece !== undefined)

    this.frameCount--
    this.dataFrameCount--
  }

  /** Lays the batch out and empties it. The list shares no memory with the next write. */
  finish (): Uint8ArrayList {
    // the loop below writes every byte
    const copies = allocUnsafe(this.#copiedBytes)
    const parts: Uint8Array[] = []
    const pieces = this.#pieces
    const headers = this.#headers
    let byteLength = 0
    let runStart = 0
    let offset = 0
    let header = 0

    for (let i = 0; i < this.#pieceCount; i++) {
      const piece = pieces[i]

      if (piece === undefined) {
        offset = encodeHeader(copies, offset, headers[header], headers[header + 1], headers[header + 2], headers[header + 3])
        header += NUMBERS_PER_HEADER
      } else if (piece.byteLength < BY_REFERENCE_BYTES) {
        copies.set(piece, offset)
        offset += piece.byteLength
      } else {
        // an empty part would cost a cipher call and a socket write too
        if (offset > runStart) {
          parts.push(copies.subarray(runStart, offset))
        }

        parts.push(piece)
        byteLength += piece.byteLength
        runStart = offset
      }
    }

    if (offset > runStart) {
      parts.push(runStart === 0 ? copies : copies.subarray(runStart, offset))
    }

    // releases the pieces to garbage collection
    pieces.fill(undefined, 0, this.#pieceCount)
    this.#pieceCount = 0
    this.#copiedBytes = 0

    if (pieces.length > KEPT_PIECES) {
      this.#pieces = []
      this.#headers = []
    }

    return Uint8ArrayList.fromUint8Arrays(parts, byteLength + offset)
  }
}
