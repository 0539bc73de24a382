// A connection between two muxers: its ends as libp2p sees them, joined by two wires.
import { StreamStateError } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { AbstractMessageStream } from '@libp2p/utils'
import { pEvent } from 'p-event'
import { raceSignal } from 'race-signal'
import { copyOf, Wire } from './wire.ts'
import type { Timeline } from './timeline.ts'
import type { WireCounters, WireOptions } from './wire.ts'
import type { AbortOptions, MessageStreamDirection } from '@libp2p/interface'
import type { SendResult } from '@libp2p/utils'
import type { Uint8ArrayList } from 'uint8arraylist'

/** What passes one end of a link. The bytes are not to be changed. */
export interface Passage {
  atMs: number
  to: 'listener' | 'dialler'
  bytes: Uint8Array
}

export interface LinkOptions extends WireOptions {
  /** What is different from dialler to listener */
  toListener?: Partial<WireOptions>
  /** What is different from listener to dialler */
  toDialler?: Partial<WireOptions>
  /** Sees what each end hands to the wire */
  onSend?(passage: Passage): void
  /** Sees each piece that arrives, before the muxer does */
  onArrived?(passage: Passage): void
}

export interface Link {
  diallerEnd: LinkEnd
  listenerEnd: LinkEnd
  toListener: WireCounters
  toDialler: WireCounters
}

/** libp2p's own, which keeps what is sent after send() has returned false until the wire drains */
export class LinkEnd extends AbstractMessageStream {
  #wire: Wire | undefined
  readonly #onSend: (bytes: Uint8Array) => void

  constructor (direction: MessageStreamDirection, onSend: (bytes: Uint8Array) => void) {
    // what arrives at a paused end waits there: TCP would push back instead of failing
    super({ direction, log: defaultLogger().forComponent(`simulation:${direction}`), maxReadBufferLength: Infinity })
    this.#onSend = onSend
  }

  /** Must be called before anything else */
  writeTo (wire: Wire): void {
    this.#wire = wire
  }

  override get writeBufferLength (): number {
    return this.writeBuffer.byteLength + this.#ownWire.unsentBytes
  }

  override sendData (data: Uint8ArrayList): SendResult {
    const bytes = copyOf(data)
    this.#onSend(bytes)

    return { sentBytes: bytes.byteLength, canSendMore: this.#ownWire.send(bytes) }
  }

  /** libp2p's own keeps a promise for ever that it has once resolved */
  override async onDrain (options?: AbortOptions): Promise<void> {
    if (this.writableNeedsDrain) {
      await pEvent(this, 'drain', { ...options, rejectionEvents: ['close'] })
    }
  }

  /** Closes when all that was sent is on the wire */
  async close (options?: AbortOptions): Promise<void> {
    if (this.status === 'open') {
      this.status = 'closing'
      this.writeStatus = 'closing'

      if (this.writeBuffer.byteLength > 0) {
        await pEvent(this, 'idle', { ...options, rejectionEvents: ['close'] })
      }

      const sent = new Promise<void>(resolve => { this.#ownWire.end(resolve) })
      await raceSignal(sent, options?.signal)
      this.onTransportClosed()
    }
  }

  // What the wire from the other side brings

  arrived (bytes: Uint8Array): void {
    this.onData(bytes)
  }

  drained (): void {
    this.safeDispatchEvent('drain')
  }

  ended (): void {
    this.onTransportClosed()
  }

  wasReset (): void {
    if (this.status === 'open' || this.status === 'closing') {
      this.onRemoteReset()
    }
  }

  override sendReset (): void {
    this.#ownWire.reset()
  }

  override sendPause (): void {}

  override sendResume (): void {}

  get #ownWire (): Wire {
    if (this.#wire == null) {
      throw new StreamStateError('This end of the link has no wire')
    }

    return this.#wire
  }
}

export function createLink (timeline: Timeline, options: LinkOptions): Link {
  const { toListener = {}, toDialler = {}, onSend, onArrived, ...both } = options
  const passage = (to: Passage['to'], bytes: Uint8Array): Passage => ({ atMs: timeline.nowMs, to, bytes })
  const diallerEnd = new LinkEnd('outbound', bytes => onSend?.(passage('listener', bytes)))
  const listenerEnd = new LinkEnd('inbound', bytes => onSend?.(passage('dialler', bytes)))

  const join = (from: LinkEnd, end: LinkEnd, to: Passage['to'], wireOptions: WireOptions): Wire => {
    const wire = new Wire(timeline, wireOptions, {
      onArrived (bytes) {
        onArrived?.(passage(to, bytes))
        end.arrived(bytes)
      },
      onDrain: () => { from.drained() },
      onEnd: () => { end.ended() },
      onReset: () => { end.wasReset() }
    })

    from.writeTo(wire)
    return wire
  }

  return {
    diallerEnd,
    listenerEnd,
    toListener: join(diallerEnd, listenerEnd, 'listener', { ...both, ...toListener }),
    toDialler: join(listenerEnd, diallerEnd, 'dialler', { ...both, ...toDialler })
  }
}
