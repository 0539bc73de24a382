/**
 * The frames of one connection as packets of a pcapng file. A packet is the frame itself, with its payload as far as that is captured.
 */
import { encodeHeader, HEADER_BYTES, TYPE_DATA } from '../core/wire/frame.ts'
import { FrameTap } from './frame-tap.ts'
import type { FrameSink, UnfinishedFrame } from '../core/wire/decoder.ts'
import type { Bytes } from './frame-tap.ts'
import type { Packet } from './pcapng.ts'

/** Wireshark reads no file with a longer packet */
const MAX_PACKET_BYTES = 262_144

export interface FrameCaptureInit {
  /** Takes the packets of one write, or of one chunk of the transport */
  readonly write: (packets: readonly Packet[]) => void
  readonly payloadBytes: number
  /** Milliseconds since 1970, with fractions */
  readonly unixMs: () => number
}

/** One direction of a connection */
export class FrameCapture implements FrameSink {
  readonly #init: FrameCaptureInit
  readonly #direction: Packet['direction']
  readonly #tap: FrameTap
  /** Of a payload whose header is not in the capture */
  #skippedBytes: number
  /** Of the write or chunk that is being read */
  #packets: Packet[] = []
  /** The header of a DATA frame, and as much of its payload as is wanted; filled up to `#frameBytes` */
  #frame = new Uint8Array(0)
  #frameBytes = 0
  #originalBytes = 0

  /** `unfinished`: the frame in whose middle the capture begins */
  constructor (init: FrameCaptureInit, direction: Packet['direction'], unfinished?: UnfinishedFrame) {
    this.#init = init
    this.#direction = direction
    this.#tap = new FrameTap(this)
    this.#skippedBytes = unfinished?.bodyBytes ?? 0

    if (unfinished !== undefined) {
      this.#tap.push(unfinished.header)
    }
  }

  push (bytes: Bytes): void {
    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      const skippedBytes = Math.min(this.#skippedBytes, part.byteLength)
      this.#skippedBytes -= skippedBytes
      this.#tap.push(part.subarray(skippedBytes))
    }

    if (this.#packets.length > 0) {
      this.#init.write(this.#packets)
      this.#packets = []
    }
  }

  onHeader (type: number, flags: number, streamId: number, length: number): boolean {
    const payloadBytes = type === TYPE_DATA ? length : 0
    this.#frame = new Uint8Array(Math.min(HEADER_BYTES + Math.min(payloadBytes, this.#init.payloadBytes), MAX_PACKET_BYTES))
    this.#frameBytes = encodeHeader(this.#frame, 0, type, flags, streamId, length)
    this.#originalBytes = HEADER_BYTES + payloadBytes
    this.#finish()

    return this.#frameBytes < this.#frame.byteLength
  }

  onBody (piece: Uint8Array): void {
    const missingBytes = this.#frame.byteLength - this.#frameBytes

    if (missingBytes > 0) {
      const wanted = piece.subarray(0, missingBytes)
      this.#frame.set(wanted, this.#frameBytes)
      this.#frameBytes += wanted.byteLength
      this.#finish()
    }
  }

  onBodyEnd (): void {}

  /** Adds the packet when its last byte has arrived */
  #finish (): void {
    if (this.#frameBytes === this.#frame.byteLength) {
      this.#packets.push({ direction: this.#direction, unixMs: this.#init.unixMs(), captured: this.#frame, originalBytes: this.#originalBytes })
    }
  }
}
