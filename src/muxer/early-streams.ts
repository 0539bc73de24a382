/**
 * Inbound streams that came before anybody listened for them, as happens while libp2p is still
 * setting up the connection. They are announced when a listener comes.
 */
import { MaxEarlyStreamsError } from '@libp2p/utils'
import type { Clock } from '../clock.ts'
import type { MuxedStream } from '../stream/stream.ts'

export class EarlyStreams {
  readonly #maxStreams: number
  readonly #clock: Clock
  readonly #announce: (stream: MuxedStream) => void
  readonly #onTooMany: (err: Error) => void
  #streams: MuxedStream[] = []

  constructor (maxStreams: number, clock: Clock, announce: (stream: MuxedStream) => void, onTooMany: (err: Error) => void) {
    this.#maxStreams = maxStreams
    this.#clock = clock
    this.#announce = announce
    this.#onTooMany = onTooMany
  }

  /**
   * They are counted when the event loop comes round. libp2p listens some microtasks after it has made a muxer; the first chunk comes sooner, and may
   * open any number of streams.
   */
  add (stream: MuxedStream): void {
    if (this.#streams.push(stream) > this.#maxStreams) {
      this.#clock.nextTurn(() => { this.#check() })
    }
  }

  /** Somebody listens. Listeners are often added in constructors, which should have run before the first event. */
  announceSoon (): void {
    const streams = this.#streams.splice(0)

    if (streams.length > 0) {
      queueMicrotask(() => { streams.forEach(stream => { this.#announce(stream) }) })
    }
  }

  #check (): void {
    const { length } = this.#streams.filter(({ status }) => status === 'open')

    if (length > this.#maxStreams) {
      this.#onTooMany(new MaxEarlyStreamsError(`${length} streams were opened before anybody listened for them, maxEarlyStreams allows ${this.#maxStreams}`))
    }
  }
}
