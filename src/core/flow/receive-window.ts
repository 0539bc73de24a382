/**
 * How many payload bytes the peer may send on one stream, and when to give credit back.
 *
 * Invariant: availableBytes + unread + readBytes = windowBytes, where `unread` is
 * what has arrived and was not read yet. So what a stream holds never exceeds its window.
 */
import { INITIAL_WINDOW_BYTES } from '../frame/frame.ts'
import { ProtocolError } from '../protocol-error.ts'

/**
 * The part of the window that must have been read before credit is given back.
 * Half keeps the sender busy while the update travels, and costs two updates a
 * window (go-yamux, rust-yamux since 0.8 and nghttp2 do the same; at zero an adsl2+ line loses 41 %).
 */
const UPDATE_AT_PART_OF_WINDOW = 0.5

export class ReceiveWindow {
  /** The window that the peer was told of */
  windowBytes = INITIAL_WINDOW_BYTES
  /** What the peer may still send */
  availableBytes = INITIAL_WINDOW_BYTES
  /** Read by the application, not yet given back */
  #readBytes = 0
  /** Growth that is decided but not yet advertised */
  #growthBytes: number

  constructor (targetBytes: number) {
    this.#growthBytes = Math.max(0, targetBytes - INITIAL_WINDOW_BYTES)
  }

  /** Accounts for a DATA header; called before any of its body is kept */
  receive (payloadBytes: number, streamId: number): void {
    if (payloadBytes > this.availableBytes) {
      throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${payloadBytes} bytes on stream ${streamId}, allowed ${this.availableBytes}`)
    }

    this.availableBytes -= payloadBytes
  }

  /** Accounts for what the application has read, and tells whether an update is due */
  read (payloadBytes: number): boolean {
    this.#readBytes += payloadBytes

    return this.#readBytes >= this.windowBytes * UPDATE_AT_PART_OF_WINDOW
  }

  /** A window larger than the initial one waits to be advertised */
  get hasGrowth (): boolean {
    return this.#growthBytes > 0
  }

  /** The delta for a window update that is being written now; from here on the peer may use it */
  takeUpdate (): number {
    const deltaBytes = this.#readBytes + this.#growthBytes
    this.windowBytes += this.#growthBytes
    this.availableBytes += deltaBytes
    this.#readBytes = 0
    this.#growthBytes = 0

    return deltaBytes
  }
}
