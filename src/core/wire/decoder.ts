/**
 * Decodes chunks of bytes into frames, without copies of payload and without an object per frame. Hot.
 *
 * A frame may begin, continue or end anywhere in a chunk. Bodies are passed on as they arrive: no frame waits until it is complete.
 */
import { ProtocolError } from '../errors.ts'
import { HEADER_BYTES, PROTOCOL_VERSION, TYPE_DATA } from './frame.ts'

export interface FrameSink {
  /**
   * A header has arrived. For a DATA frame, returns whether its body is wanted: an unwanted body is skipped.
   */
  onHeader (type: number, flags: number, streamId: number, length: number): boolean

  /** The next piece of the body of the last DATA frame has arrived: a view of the chunk */
  onBody (piece: Uint8Array): void

  /** The wanted body is complete; also called if its length is 0 */
  onBodyEnd (): void
}

/** A frame in whose middle the last chunk has ended */
export interface UnfinishedFrame {
  /** The beginning of a header that is not complete; empty if there is none */
  readonly header: Uint8Array
  /** How much of the body is still to come */
  readonly bodyBytes: number
}

export class Decoder {
  readonly #sink: FrameSink
  /** Collects a header that is split across chunks, from the first one on */
  #partialHeader: Uint8Array | undefined
  #partialHeaderBytes = 0
  #bodyBytesLeft = 0
  #bodyIsWanted = false

  constructor (sink: FrameSink) {
    this.#sink = sink
  }

  /** For another decoder, which goes on from here */
  get unfinished (): UnfinishedFrame {
    return { header: new Uint8Array(this.#partialHeader ?? []).subarray(0, this.#partialHeaderBytes), bodyBytes: this.#bodyBytesLeft }
  }

  push (chunk: Uint8Array): void {
    const end = chunk.byteLength
    let offset = 0

    while (offset < end) {
      if (this.#bodyBytesLeft > 0) {
        offset = this.#body(chunk, offset, end)
      } else if (this.#partialHeaderBytes === 0 && end - offset >= HEADER_BYTES) {
        this.#header(chunk, offset)
        offset += HEADER_BYTES
      } else {
        offset = this.#collectHeader(chunk, offset, end)
      }
    }
  }

  #body (chunk: Uint8Array, offset: number, end: number): number {
    const pieceEnd = Math.min(end, offset + this.#bodyBytesLeft)
    this.#bodyBytesLeft -= pieceEnd - offset

    if (this.#bodyIsWanted) {
      this.#sink.onBody(chunk.subarray(offset, pieceEnd))

      if (this.#bodyBytesLeft === 0) {
        this.#sink.onBodyEnd()
      }
    }

    return pieceEnd
  }

  #collectHeader (chunk: Uint8Array, offset: number, end: number): number {
    const header = this.#partialHeader ??= new Uint8Array(HEADER_BYTES)

    while (offset < end && this.#partialHeaderBytes < HEADER_BYTES) {
      header[this.#partialHeaderBytes++] = chunk[offset++]
    }

    if (this.#partialHeaderBytes === HEADER_BYTES) {
      this.#partialHeaderBytes = 0
      this.#header(header, 0)
    }

    return offset
  }

  #header (source: Uint8Array, at: number): void {
    if (source[at] !== PROTOCOL_VERSION) {
      throw new ProtocolError('ERR_INVALID_FRAME', `received a frame of version ${source[at]}, expected ${PROTOCOL_VERSION}`)
    }

    const type = source[at + 1]
    const flags = (source[at + 2] << 8) | source[at + 3]
    const streamId = ((source[at + 4] << 24) | (source[at + 5] << 16) | (source[at + 6] << 8) | source[at + 7]) >>> 0
    const length = ((source[at + 8] << 24) | (source[at + 9] << 16) | (source[at + 10] << 8) | source[at + 11]) >>> 0
    const isWanted = this.#sink.onHeader(type, flags, streamId, length)

    if (type === TYPE_DATA) {
      this.#bodyIsWanted = isWanted
      this.#bodyBytesLeft = length

      if (isWanted && length === 0) {
        this.#sink.onBodyEnd()
      }
    }
  }
}
