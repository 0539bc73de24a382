// The model: what each direction of each stream was given, and what of it has come out at the other end.
import { Random } from '../../../testing/simulation/random.ts'
import type { StreamEnd } from './stream-end.ts'

/** A flow begins somewhere in the first part of the source, so that no two flows are the same */
export const MAX_FLOW_BYTES = 3_000_000
const FIRST_BYTES = 262_144
const STEP_BYTES = 977

const source = randomBytes(FIRST_BYTES + MAX_FLOW_BYTES)

export class BrokenLaw extends Error {}

/** `message` is made when it is needed, because laws are checked after every event */
export function law (isKept: boolean, message: () => string): void {
  if (!isKept) {
    throw new BrokenLaw(message())
  }
}

/** One direction of one stream */
export class Flow {
  sentBytes = 0
  receivedBytes = 0
  /** The sender has closed it: nothing is sent behind `sentBytes` */
  isClosed = false
  /** Where messages end */
  readonly #messageEnds: number[] = []
  #messagesReceived = 0
  readonly #offset: number

  constructor (streamId: number, isFromDialler: boolean) {
    this.#offset = ((2 * streamId + Number(isFromDialler)) * STEP_BYTES) % FIRST_BYTES
  }

  get leftBytes (): number {
    return MAX_FLOW_BYTES - this.sentBytes
  }

  /** The next bytes to send */
  take (byteLength: number): Uint8Array {
    const start = this.#offset + this.sentBytes
    this.sentBytes += byteLength
    this.#messageEnds.push(this.sentBytes)

    return source.subarray(start, start + byteLength)
  }

  /** What is received next ends where the next message ends */
  isNextMessage (byteLength: number): boolean {
    return this.#messageEnds[this.#messagesReceived++] === this.receivedBytes + byteLength
  }

  /** The bytes that come next, again */
  peek (byteLength: number): Uint8Array {
    const start = this.#offset + this.receivedBytes

    return source.subarray(start, start + byteLength)
  }

  /** Bytes have come out: they must be the next ones */
  receive (parts: Iterable<Uint8Array>): void {
    for (const part of parts) {
      const start = this.#offset + this.receivedBytes

      law(this.receivedBytes + part.byteLength <= this.sentBytes, () => `received ${this.receivedBytes + part.byteLength} bytes of ${this.sentBytes} that were sent`)
      law(Buffer.compare(part, source.subarray(start, start + part.byteLength)) === 0, () => `bytes ${this.receivedBytes} to ${this.receivedBytes + part.byteLength} are not those that were sent`)
      this.receivedBytes += part.byteLength
    }
  }
}

/** One stream with both its ends, as far as they have shown */
export class Conversation {
  readonly id: number
  readonly flows: { fromDialler: Flow, fromListener: Flow }
  readonly ends: StreamEnd[] = []
  /** An application has aborted it: bytes may be missing */
  isAborted = false

  constructor (id: number) {
    this.id = id
    this.flows = { fromDialler: new Flow(id, true), fromListener: new Flow(id, false) }
  }
}

function randomBytes (byteLength: number): Uint8Array {
  const random = new Random(1)
  const words = new Uint32Array(Math.ceil(byteLength / 4))

  for (let i = 0; i < words.length; i++) {
    words[i] = random.next() * 2 ** 32
  }

  return new Uint8Array(words.buffer, 0, byteLength)
}
