/**
 * What the transport brings, one chunk after another. A transport may answer within `send()`: what comes then, while another
 * chunk is dealt with or a write is under way, waits for the end of that.
 */
import { toError } from '../thrown.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList

export class InboundChunks {
  isReceiving = false
  /** Behind what must not be there nothing is looked at */
  #isBroken = false
  #isSending = false
  #waiting: Chunk[] = []
  readonly #receive: (chunk: Chunk) => void
  readonly #onReceived: (violation: Error | undefined) => void

  /** `onReceived` runs behind the last chunk that there is, or the one that `receive` threw at */
  constructor (receive: (chunk: Chunk) => void, onReceived: (violation: Error | undefined) => void) {
    this.#receive = receive
    this.#onReceived = onReceived
  }

  push (chunk: Chunk): void {
    if (!this.#isBroken) {
      this.#waiting.push(chunk)
      this.#receiveAll()
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

  /** There is no reason any more to wait for a write: it has come to its end, or the transport has */
  flush (): void {
    this.#isSending = false
    this.#receiveAll()
  }

  #receiveAll (): void {
    if (this.isReceiving || this.#isSending || this.#waiting.length === 0) {
      return
    }

    let violation: Error | undefined
    this.isReceiving = true

    try {
      for (let chunk = this.#waiting.shift(); chunk !== undefined; chunk = this.#waiting.shift()) {
        this.#receive(chunk)
      }
    } catch (err) {
      violation = toError(err, 'A chunk could not be read:')
      this.#isBroken = true
      this.#waiting = []
    } finally {
      this.isReceiving = false
    }

    this.#onReceived(violation)
  }
}
