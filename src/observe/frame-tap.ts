/**
 * Splits the bytes of one direction of a connection into frames, for the trace or a capture.
 */
import { Decoder } from '../core/wire/decoder.ts'
import type { FrameSink } from '../core/wire/decoder.ts'

export type Bytes = Uint8Array | Iterable<Uint8Array>

/** Sees all bytes of a connection: sent ones before the transport gets them, received ones before they are handled */
export interface ConnectionObserver {
  readonly sent: { push (bytes: Bytes): void }
  readonly received: { push (bytes: Bytes): void }
}

export class FrameTap {
  readonly #decoder: Decoder
  #isReadable = true

  constructor (sink: FrameSink) {
    this.#decoder = new Decoder(sink)
  }

  push (bytes: Bytes): void {
    try {
      for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
        if (this.#isReadable) {
          this.#decoder.push(part)
        }
      }
    } catch {
      // not yamux: the session ends the connection and logs why
      this.#isReadable = false
    }
  }
}
