/**
 * One end of a link as a muxer sees it: libp2p's base class of every connection, with a way in each direction.
 */
import { defaultLogger } from '@libp2p/logger'
import { AbstractMessageStream } from '@libp2p/utils'
import type { SendResult } from '@libp2p/utils'
import type { MessageStreamDirection } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface OneWayEndHandler {
  /** The muxer hands down a write. Some of it may wait here, if the way said "wait". */
  onWrite? (bytes: Uint8Array | Uint8ArrayList): void
  /** Hands it to the line. Returns false when that wants no more until it has drained. */
  transmit (bytes: Uint8ArrayList): boolean
}

export class OneWayEnd extends AbstractMessageStream {
  readonly #handler: OneWayEndHandler

  constructor (direction: MessageStreamDirection, handler: OneWayEndHandler) {
    super({ direction, log: defaultLogger().forComponent(`live:${direction}`) })
    this.#handler = handler
  }

  override send (bytes: Uint8Array | Uint8ArrayList): boolean {
    this.#handler.onWrite?.(bytes)

    return super.send(bytes)
  }

  sendData (bytes: Uint8ArrayList): SendResult {
    return { sentBytes: bytes.byteLength, canSendMore: this.#handler.transmit(bytes) }
  }

  arrived (bytes: Uint8Array): void {
    this.onData(bytes)
  }

  drained (): void {
    this.safeDispatchEvent('drain')
  }

  // Nobody closes it: the worker ends as a whole

  async close (): Promise<void> {}
  sendReset (): void {}
  sendPause (): void {}
  sendResume (): void {}
}
