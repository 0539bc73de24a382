// A stream of a conversation: what the suite sends on it, what the target has said on it, and what is expected next.
import { ACK, data, DATA, FIN, RST, SYN, windowUpdate } from '../testing/protocol/frames.ts'
import { pattern } from '../testing/pattern.ts'
import type { FrameHeader } from '../testing/protocol/header-reader.ts'

/** Of each direction until more is granted */
export const WINDOW_BYTES = 262_144

/** From message to message of a stream, so that none has the bytes of another */
const SEED_STEP = 0x1_0000

/** What a stream needs of its connection */
export interface Connection {
  preamble: Uint8Array
  send (...parts: Uint8Array[]): void
  until (expected: string, isSo: () => boolean): Promise<void>
  check (expected: string, isSo: boolean): void
}

export class Stream {
  readonly id: number
  /** The target's, in their order */
  readonly headers: FrameHeader[] = []
  /** What the target may still be sent */
  creditBytes = WINDOW_BYTES
  receivedBytes = 0
  readonly #connection: Connection
  readonly #sent: Uint8Array[] = []
  readonly #received: Uint8Array[] = []

  constructor (connection: Connection, id: number) {
    this.#connection = connection
    this.id = id
  }

  get isAcknowledged (): boolean { return this.#has(ACK) }
  get isFinished (): boolean { return this.#has(FIN) }
  get isReset (): boolean { return this.#has(RST) }
  get sentBytes (): number { return this.#sent.reduce((sum, part) => sum + part.byteLength, 0) }

  /** As many bytes as are asked for, others each time. The first message of a stream begins with the bytes that the target needs to see before it echoes. */
  message (byteLength: number): Uint8Array {
    const bytes = pattern(byteLength, this.id + SEED_STEP * this.#sent.length)

    if (this.#sent.length === 0) {
      bytes.set(this.#connection.preamble.subarray(0, byteLength))
    }

    return bytes
  }

  /** Sends a DATA frame with so many bytes, or with these */
  send (bytes: number | Uint8Array, flags = 0): this {
    this.#connection.send(this.frame(bytes, flags))

    return this
  }

  /** The same, to be sent together with others, or in pieces */
  frame (bytes: number | Uint8Array, flags = 0): Uint8Array {
    const payload = typeof bytes === 'number' ? this.message(bytes) : bytes
    this.#sent.push(payload)
    this.creditBytes -= payload.byteLength

    return data(this.id, payload, flags)
  }

  /** Sends a WINDOW_UPDATE */
  grant (deltaBytes: number, flags = 0): this {
    this.#connection.send(windowUpdate(this.id, deltaBytes, flags))

    return this
  }

  open (): this { return this.grant(0, SYN) }
  finish (): this { return this.grant(0, FIN) }
  reset (): this { return this.grant(0, RST) }

  /** The target sends back all that it was sent, or as much of it */
  async echoes (byteLength = this.sentBytes): Promise<void> {
    await this.#connection.until(`stream ${this.id} to bring back ${byteLength} bytes`, () => this.receivedBytes >= byteLength)
    const received = Buffer.concat(this.#received)
    const sent = Buffer.concat(this.#sent)
    this.#connection.check(`the bytes that come back on stream ${this.id} to be those that were sent`, received.equals(sent.subarray(0, received.byteLength)))
  }

  async isAccepted (): Promise<void> {
    await this.#connection.until(`an ACK for stream ${this.id}`, () => this.isAcknowledged || this.isReset)
    this.#connection.check(`stream ${this.id} to be accepted, not reset`, !this.isReset)
  }

  async ends (): Promise<void> {
    await this.#connection.until(`a FIN on stream ${this.id}`, () => this.isFinished)
  }

  /** Credit for so many bytes more than the target has been sent */
  async hasCredit (byteLength: number): Promise<void> {
    await this.#connection.until(`credit for ${byteLength} bytes on stream ${this.id}`, () => this.creditBytes >= byteLength)
  }

  received (header: FrameHeader): void {
    this.headers.push(header)

    if (header.type !== DATA && (header.flags & RST) === 0) {
      this.creditBytes += header.length
    }
  }

  receivedBody (part: Uint8Array): void {
    this.#received.push(part.slice())
    this.receivedBytes += part.byteLength
  }

  #has (flag: number): boolean {
    return this.headers.some(({ flags }) => (flags & flag) !== 0)
  }
}
