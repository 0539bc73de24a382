/**
 * What the transport brings, one chunk after another. A transport may answer within `send()`: what comes then, while another
 * chunk is dealt with or a write is under way, waits for the end of that. Hot.
 */
import { toError } from '../thrown.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList

export class InboundChunks {
  isReceiving = false
  /** The peer has broken a rule: nothing more is read */
  #isBroken = false
  #isSending = false
  readonly #waiting: Chunk[] = []
  readonly #receive: (chunk: Chunk) => void
  readonly #onReceived: (violation: Error | undefined) => void

  /** `onReceived` runs behind the last chunk that there is, or the one that `receive` threw at */
  constructor (receive: (chunk: Chunk) => void, onReceived: (violation: Error | undefined) => void) {
    this.#receive = receive
    this.#onReceived = onReceived
  }

  /** Hot: runs once per chunk */
  push (chunk: Chunk): void {
    if (this.#isBroken) {
      return
    }

    if (this.isReceiving || this.#isSending) {
      this.#waiting.push(chunk)
    } else {
      this.#receiveFrom(chunk)
    }
  }

  /** Writes to the transport */
  send<Result> (send: () => Result): Result {
    this.#isSending = true

    try {
      return send()
    } finally {
      this.flush()
    }
  }

  /** The write is done, or the transport is gone: what waited is read */
  flush (): void {
    this.#isSending = false

    if (this.#waiting.length > 0 && !this.isReceiving && !this.#isBroken) {
      this.#receiveFrom(this.#waiting.shift() as Chunk)
    }
  }

  #receiveFrom (first: Chunk): void {
    let violation: Error | undefined
    this.isReceiving = true

    try {
      this.#receive(first)

      while (this.#waiting.length > 0) {
        this.#receive(this.#waiting.shift() as Chunk)
      }
    } catch (err) {
      violation = toError(err, 'A chunk could not be read:')
      this.#isBroken = true
    } finally {
      this.isReceiving = false
    }

    this.#onReceived(violation)
  }
}
