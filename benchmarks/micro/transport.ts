// The muxer's end of a connection whose other end is the benchmark itself.
import { StreamMessageEvent, TypedEventEmitter } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
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
