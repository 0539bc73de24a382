// Reads the frames that pass each end of a link, and judges them without the code under test.
import { DATA } from '../../fixtures/frames.ts'
import { LegalOutput } from '../../fixtures/legal-output.ts'
import type { Dialogue, FrameHeader } from '../../fixtures/legal-output.ts'

const HEADER_BYTES = 12

/** What one side writes and receives */
export class WireTap {
  writtenBytes = 0
  receivedBytes = 0
  readonly #legal: LegalOutput
  readonly #written = new HeaderReader()
  readonly #received = new HeaderReader()
  readonly #isJudged: boolean
  readonly #onWritten: (header: FrameHeader) => void

  /** Without being judged the side is only listened to */
  constructor (isDialler: boolean, isJudged: boolean, onWritten: (header: FrameHeader) => void) {
    this.#legal = new LegalOutput(isDialler)
    this.#isJudged = isJudged
    this.#onWritten = onWritten
  }

  wrote (bytes: Uint8Array): void {
    this.writtenBytes += bytes.byteLength
    this.#written.push(bytes, header => {
      this.#onWritten(header)

      if (this.#isJudged) {
        this.#legal.wrote(header)
      }
    })
  }

  received (bytes: Uint8Array): void {
    this.receivedBytes += bytes.byteLength
    this.#received.push(bytes, header => { this.#legal.received(header) })
  }

  /** The peer is done with the stream, and with the connection: it misses no FIN */
  wasLeft (streamId: number): boolean {
    return this.#legal.hasPeerLeft && this.#legal.dialogue(streamId).hasPeerFinished
  }

  dialogue (streamId: number): Dialogue {
    return this.#legal.dialogue(streamId)
  }
}

/** Finds the headers in a stream of bytes that may be cut anywhere */
class HeaderReader {
  readonly #header = new Uint8Array(HEADER_BYTES)
  readonly #view = new DataView(this.#header.buffer)
  #headerBytes = 0
  #bodyBytesLeft = 0

  push (bytes: Uint8Array, onHeader: (header: FrameHeader) => void): void {
    let offset = 0

    while (offset < bytes.byteLength) {
      if (this.#bodyBytesLeft > 0) {
        const skipped = Math.min(this.#bodyBytesLeft, bytes.byteLength - offset)
        this.#bodyBytesLeft -= skipped
        offset += skipped
        continue
      }

      const count = Math.min(HEADER_BYTES - this.#headerBytes, bytes.byteLength - offset)
      this.#header.set(bytes.subarray(offset, offset + count), this.#headerBytes)
      this.#headerBytes += count
      offset += count

      if (this.#headerBytes === HEADER_BYTES) {
        this.#headerBytes = 0
        const header = { type: this.#view.getUint8(1), flags: this.#view.getUint16(2), id: this.#view.getUint32(4), length: this.#view.getUint32(8) }
        this.#bodyBytesLeft = header.type === DATA ? header.length : 0
        onHeader(header)
      }
    }
  }
}
