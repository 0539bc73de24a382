/**
 * Inbound streams that came before anybody listened for them, as happens while libp2p is still
 * setting up the connection. They are announced when a listener comes.
 */
import { MaxEarlyStreamsError } from '@libp2p/utils'
import type { YamuxStream } from '../stream/stream.ts'

export class EarlyStreams {
  readonly #maxStreams: number
  readonly #announce: (stream: YamuxStream) => void
  #streams: YamuxStream[] = []

  constructor (maxStreams: number, announce: (stream: YamuxStream) => void) {
    this.#maxStreams = maxStreams
    this.#announce = announce
  }

  /** Returns an error when there are too many */
  add (stream: YamuxStream): Error | undefined {
    this.#streams.push(stream)

    return this.#streams.length <= this.#maxStreams
      ? undefined
      : new MaxEarlyStreamsError(`${this.#streams.length} streams were opened before anybody listened for them, maxEarlyStreams allows ${this.#maxStreams}`)
  }

  /** Somebody listens. Listeners are often added in constructors, which should have run before the first event. */
  announceSoon (): void {
    if (this.#streams.length > 0) {
      queueMicrotask(() => {
        for (const stream of this.#streams.splice(0)) {
          this.#announce(stream)
        }
      })
    }
  }
}
