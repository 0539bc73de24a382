/**
 * What has arrived on one stream and was not read yet, as the messages that it is handed over in. While little waits a frame is a
 * message; from `mergeFromBytes` on all that waits is one, and a frame as long as that is handed over as it comes. Hot.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { FrameLengths } from './frame-lengths.ts'
import { UnreadBytes } from './unread-bytes.ts'

export class ReadBuffer {
  readonly mergeFromBytes: number
  byteLength = 0
  /** How much of it can be taken: frames that are complete, and what was pushed */
  readyBytes = 0
  /** A frame that has just come in, if that is all there is: mostly it is taken before there is more */
  #only: Uint8Array | undefined
  readonly #ready = new UnreadBytes()
  /** What has come of a frame that is not complete */
  #partial: UnreadBytes | undefined
  /** The lengths of the messages that wait, unless they are merged */
  readonly #messages = new FrameLengths()
  /** All that can be taken is one message */
  #isMerged: boolean
  /** What was put back, in front of the first message */
  #frontBytes = 0
  /** As for sending: 0 merges all that waits, with Infinity each frame is a message */
  constructor (mergeFromBytes: number) {
    this.mergeFromBytes = mergeFromBytes
    this.#isMerged = mergeFromBytes === 0
  }

  /** A view of the next bytes of a frame, which is `frameBytes` long in all */
  append (view: Uint8Array, frameBytes = view.byteLength): void {
    const { byteLength } = view

    if (this.byteLength === 0 && byteLength === frameBytes) {
      this.#only = view
      this.byteLength = byteLength
      this.readyBytes = byteLength
      return
    }

    this.#queueOnly()
    this.byteLength += byteLength

    if (byteLength === frameBytes || frameBytes >= this.mergeFromBytes) {
      this.#ready.append(view)
      this.#addReady(byteLength)
    } else {
      this.#partial ??= new UnreadBytes()
      this.#partial.append(view)
    }
  }

  /** What was appended since the last call is one frame */
  endFrame (): void {
    const partial = this.#partial

    if (partial !== undefined) {
      const { byteLength } = partial
      this.#partial = undefined
      this.#ready.appendAll(partial.take(byteLength))
      this.#addReady(byteLength)
    }
  }

  /** Takes over bytes, behind everything that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueOnly()
      this.#partial?.keep(Infinity)
      this.#ready.append(bytes)
      this.byteLength += bytes.byteLength
      this.#addReady(bytes.byteLength)
    }
  }

  /** Takes over bytes, in front of everything. They are handed over with the message behind them. */
  prepend (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#queueOnly()
      this.#ready.prepend(bytes)
      this.#frontBytes += bytes.byteLength
      this.byteLength += bytes.byteLength
      this.readyBytes += bytes.byteLength
    }
  }

  /** Hands over the first message; the list belongs to the caller. There must be something. Throws a ReceivedBytesChangedError. */
  take (): Uint8ArrayList {
    const only = this.#only

    if (only !== undefined && only.byteLength === this.byteLength) {
      this.#only = undefined
      this.byteLength = 0
      this.readyBytes = 0

      return Uint8ArrayList.fromUint8Arrays([only], only.byteLength)
    }

    this.#queueOnly()
    const byteLength = this.#isMerged ? this.readyBytes : this.#frontBytes + (this.#messages.count > 0 ? this.#messages.shift() : 0)
    const message = this.#ready.take(byteLength)
    this.#isMerged &&= this.mergeFromBytes === 0
    this.#frontBytes = 0
    this.byteLength -= byteLength
    this.readyBytes -= byteLength

    return message
  }

  /** Makes what is held, which is never more than `maxBytes`, independent of the chunks it came in. Throws a ReceivedBytesChangedError. */
  keep (maxBytes = Infinity): void {
    this.#queueOnly()
    this.#ready.keep(maxBytes)
    this.#partial?.keep(maxBytes)
  }

  clear (): void {
    this.byteLength = 0
    this.readyBytes = 0
    this.#only = undefined
    this.#ready.clear()
    this.#partial = undefined
    this.#frontBytes = 0
    this.#messages.clear()
    this.#isMerged = this.mergeFromBytes === 0
  }

  /** Queues the frame that was alone: more comes, or it has to wait */
  #queueOnly (): void {
    if (this.#only !== undefined) {
      // by the length that it came with: its buffer may have been transferred since
      const byteLength = this.byteLength
      this.#ready.append(this.#only, byteLength)
      this.#only = undefined
      this.readyBytes = 0
      this.#addReady(byteLength)
    }
  }

  /** So many more bytes can be taken */
  #addReady (byteLength: number): void {
    this.readyBytes += byteLength

    if (this.#isMerged) {
      return
    }

    if (this.readyBytes >= this.mergeFromBytes) {
      this.#isMerged = true
      this.#messages.clear()
    } else {
      this.#messages.push(byteLength)
    }
  }
}
