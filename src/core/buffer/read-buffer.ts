/**
 * What has arrived on one stream and was not read yet, as the messages that it is handed over in: all that there is, or one
 * whole frame at a time when frames are kept apart. Hot.
 */
import { FrameLengths } from './frame-lengths.ts'
import { UnreadBytes } from './unread-bytes.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export class ReadBuffer {
  #bytes = new UnreadBytes()
  /** The lengths of the whole frames that wait, if frames are kept apart */
  readonly #frames: FrameLengths | undefined
  /** Of the frame that has not come to its end */
  #partialBytes = 0
  /** These bytes, if something was pushed while they waited for the rest, in memory of their own; otherwise they are the last of `#bytes` */
  #aside: UnreadBytes | undefined

  constructor (keepsFramesApart: boolean) {
    this.#frames = keepsFramesApart ? new FrameLengths() : undefined
  }

  get byteLength (): number {
    return this.#bytes.byteLength + (this.#aside?.byteLength ?? 0)
  }

  /** There is something to take */
  get isReady (): boolean {
    return this.#frames === undefined ? this.#bytes.byteLength > 0 : this.#frames.count > 0
  }

  /** A view of the next bytes of a frame */
  append (view: Uint8Array): void {
    this.#partialBytes += view.byteLength

    if (this.#aside === undefined) {
      this.#bytes.append(view)
    } else {
      this.#aside.append(view)
      this.#aside.keep(Infinity)
    }
  }

  /** What was appended since the last call is one frame */
  endFrame (): void {
    const frameBytes = this.#partialBytes
    this.#partialBytes = 0

    if (this.#frames === undefined || frameBytes === 0) {
      return
    }

    if (this.#aside !== undefined) {
      this.#bytes.appendAll(this.#aside.take(this.#aside.byteLength))
      this.#aside = undefined
    }

    this.#frames.push(frameBytes)
  }

  /** Bytes that nobody else has, behind everything that can be taken. Throws a ReceivedBytesChangedError. */
  push (bytes: Uint8Array): void {
    if (bytes.byteLength === 0) {
      return
    }

    if (this.#frames !== undefined && this.#partialBytes > 0 && this.#aside === undefined) {
      const whole = this.#bytes.take(this.#bytes.byteLength - this.#partialBytes)
      this.#aside = new UnreadBytes()
      this.#aside.appendAll(this.#bytes.take(this.#partialBytes))
      this.#aside.keep(Infinity)
      this.#bytes.appendAll(whole)
    }

    this.#bytes.append(bytes)
    this.#frames?.push(bytes.byteLength)
  }

  /** Bytes that nobody else has, in front of everything */
  prepend (bytes: Uint8Array): void {
    if (bytes.byteLength > 0) {
      this.#bytes.prepend(bytes)
      this.#frames?.unshift(bytes.byteLength)
    }
  }

  /**
   * Hands over the first frame if frames are kept apart, else everything; the list belongs to the caller. There must be
   * something. Throws a ReceivedBytesChangedError.
   */
  take (): Uint8ArrayList {
    return this.#bytes.take(this.#frames?.shift() ?? this.#bytes.byteLength)
  }

  /** Makes what is held, which is never more than `maxBytes`, independent of the chunks it came in. Throws a ReceivedBytesChangedError. */
  keep (maxBytes = Infinity): void {
    this.#bytes.keep(maxBytes)
  }

  clear (): void {
    this.#bytes.clear()
    this.#aside = undefined
    this.#partialBytes = 0
    this.#frames?.clear()
  }
}
