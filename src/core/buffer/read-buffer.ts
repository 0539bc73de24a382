/**
 * What has arrived on one stream and was not read yet, as the messages that it is handed over in. While little waits a frame is a
 * message; from `mergeFromBytes` on all that waits is one, and a frame as long as that is handed over as it comes. Hot.
 */
import { FrameLengths } from './frame-lengths.ts'
import { UnreadBytes } from './unread-bytes.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export class ReadBuffer {
  readonly mergeFromBytes: number
  #bytes = new UnreadBytes()
  /** The lengths of the messages that wait, unless they are merged */
  readonly #messages = new FrameLengths()
  /** All that can be taken is one message */
  #isMerged: boolean
  /** What was put back, in front of the first message */
  #frontBytes = 0
  /** Of the frame that has to be complete first */
  #partialBytes = 0
  /** These bytes, if something was pushed while they waited for the rest, in memory of their own; otherwise they are the last of `#bytes` */
  #aside: UnreadBytes | undefined

  /** 0: whatever waits is one message; Infinity: a frame always is */
  constructor (mergeFromBytes: number) {
    this.mergeFromBytes = mergeFromBytes
    this.#isMerged = mergeFromBytes === 0
  }

  get byteLength (): number {
    return this.#bytes.byteLength + (this.#aside?.byteLength ?? 0)
  }

  /** There is something to take */
  get isReady (): boolean {
    return this.#readyBytes > 0
  }

  /** A view of the next bytes of a frame, which is `frameBytes` long in all */
  append (view: Uint8Array, frameBytes = view.byteLength): void {
    (this.#aside ?? this.#bytes).append(view)

    if (frameBytes < this.mergeFromBytes) {
      this.#partialBytes += view.byteLength
      this.#aside?.keep(Infinity)
    } else {
      this.#onMessage(view.byteLength)
    }
  }

  /** What was appended since the last call is one frame */
  endFrame (): void {
    const messageBytes = this.#partialBytes

    if (messageBytes === 0) {
      return
    }

    this.#partialBytes = 0

    if (this.#aside !== undefined) {
      this.#bytes.appendAll(this.#aside.take(this.#aside.byteLength))
      this.#aside = undefined
    }

    this.#onMessage(messageBytes)
  }

  /** Bytes that nobody else has, behind everything that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    if (bytes.byteLength === 0) {
      return
    }

    if (this.#partialBytes > 0 && this.#aside === undefined) {
      const whole = this.#bytes.take(this.#readyBytes)
      this.#aside = new UnreadBytes()
      this.#aside.appendAll(this.#bytes.take(this.#partialBytes))
      this.#aside.keep(Infinity)
      this.#bytes.appendAll(whole)
    }

    this.#bytes.append(bytes)
    this.#onMessage(bytes.byteLength)
  }

  /** Bytes that nobody else has, in front of everything. They are handed over with the message behind them. */
  prepend (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#bytes.prepend(bytes)
      this.#frontBytes += bytes.byteLength
    }
  }

  /** Hands over the first message; the list belongs to the caller. There must be something. Throws a ReceivedBytesChangedError. */
  take (): Uint8ArrayList {
    if (this.#isMerged) {
      const all = this.#bytes.take(this.#readyBytes)
      this.#frontBytes = 0
      this.#isMerged = this.mergeFromBytes === 0

      return all
    }

    const byteLength = this.#frontBytes + (this.#messages.count > 0 ? this.#messages.shift() : 0)
    this.#frontBytes = 0

    return this.#bytes.take(byteLength)
  }

  /** Makes what is held, which is never more than `maxBytes`, independent of the chunks it came in. Throws a ReceivedBytesChangedError. */
  keep (maxBytes = Infinity): void {
    this.#bytes.keep(maxBytes)
  }

  clear (): void {
    this.#bytes.clear()
    this.#aside = undefined
    this.#frontBytes = 0
    this.#partialBytes = 0
    this.#messages.clear()
    this.#isMerged = this.mergeFromBytes === 0
  }

  get #readyBytes (): number {
    return this.#bytes.byteLength - (this.#aside === undefined ? this.#partialBytes : 0)
  }

  /** So many more bytes can be taken */
  #onMessage (byteLength: number): void {
    if (this.#isMerged) {
      return
    }

    if (this.#readyBytes >= this.mergeFromBytes) {
      this.#isMerged = true
      this.#messages.clear()
    } else {
      this.#messages.push(byteLength)
    }
  }
}
