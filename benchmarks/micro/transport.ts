// The muxer's end of a connection whose other end is the benchmark itself.
import { StreamMessageEvent, TypedEventEmitter } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { encodeHeader, HEADER_BYTES } from '../../src/core/wire/frame.ts'
import type { MessageStream, MessageStreamDirection, MessageStreamEvents } from '@libp2p/interface'

export class Transport extends TypedEventEmitter<MessageStreamEvents> {
  direction: MessageStreamDirection
  status = 'open'
  log = defaultLogger().forComponent('benchmark')
  writeCount = 0
  writtenBytes = 0

  constructor (direction: MessageStreamDirection) {
    super()
    this.direction = direction
  }

  /** With as much of a message stream as muxers use */
  get asMessageStream (): MessageStream {
    return this as unknown as MessageStream
  }

  send (bytes: { byteLength: number }): boolean {
    this.writeCount++
    this.writtenBytes += bytes.byteLength

    return true
  }

  deliver (bytes: Uint8Array): void {
    this.dispatchEvent(new StreamMessageEvent(bytes))
  }
}

/** `length` is what the header says: the payload's, or what a window update grants */
export function frameOf (type: number, flags: number, streamId: number, length: number, payloadBytes = 0): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES + payloadBytes)
  encodeHeader(bytes, 0, type, flags, streamId, length)

  return bytes
}
