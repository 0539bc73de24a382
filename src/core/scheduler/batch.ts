/**
 * Gathers the headers and payload of one write and lays them out in as few pieces as is cheap. Hot.
 *
 * Below the transport each piece costs a cipher call and a socket write, so headers and small
 * pieces are copied into one contiguous piece; large ones go by reference.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { allocUnsafe } from 'uint8arrays/alloc'
import { encodeHeader, HEADER_BYTES, TYPE_DATA } from '../wire/frame.ts'

/**
 * From this size on a piece is passed by reference, which costs a cipher call and a socket write of
 * its own. Copying costs fresh memory, and garbage collection in its wake: in a process that has run for a
 * while ten streams of 1 MiB messages reach 0.8 of stock's rate copied, 0.95 by reference.
 */
export const BY_REFERENCE_BYTES = 8192

/**
 * Room for so many pieces and headers is kept, those of a record of 50-byte messages in frames of their own; to let all of it
 * grow anew for each write of 500 messages took 70 bytes of memory a message.
 */
const KEPT_PIECES = 2048
const NUMBERS_PER_HEADER = 4

export class Batch {
  frameCount = 0
  dataFrameCount = 0
  maxFrames = Infinity
  /** Less than nothing when a message that must not be cut was longer than the batch */
  roomBytes = 0
  /** Payload in order; undefined stands for the next header. What lies behind the count is empty. */
  #pieces: Array<Uint8Array | undefined> = []
  #pieceCount = 0
  /** Four numbers a header: type, flags, stream id, length */
  #headers: number[] = []
  #copiedBytes = 0

  /** Starts an empty batch, whatever became of the last one */
  begin (maxBytes: number, maxFrames: number): void {
    this.roomBytes = maxBytes
    this.maxFrames = maxFrames
    this.frameCount = 0
    this.dataFrameCount = 0

    if (this.#pieceCount > 0) {
      this.#forget()
    }
  }

  /** For a frame without payload */
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

  /** Takes back the last frame, which must be a DATA frame */
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

  /** Lays the batch out and forgets it; what is returned shares no memory with the next one */
  finish (): Uint8ArrayList {
    // every byte of it is written below
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
        // an empty part would cost as much below as a full one
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

    this.#forget()

    return Uint8ArrayList.fromUint8Arrays(parts, byteLength + offset)
  }

  #forget (): void {
    // the references go now, so that the pieces can be collected
    this.#pieces.fill(undefined, 0, this.#pieceCount)
    this.#pieceCount = 0
    this.#copiedBytes = 0

    if (this.#pieces.length > KEPT_PIECES) {
      this.#pieces = []
      this.#headers = []
    }
  }
}
