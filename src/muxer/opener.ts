/**
 * Who may open a stream now, who waits and who is refused.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { StreamIdsExhaustedError } from '../errors.ts'
import { abortable } from '../promises.ts'
import type { StreamLimits } from '../options/config.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { StreamTable } from '../core/stream-table.ts'

interface Waiting extends PromiseWithResolvers<MuxedStream> {
  limits: StreamLimits
}

export class Opener {
  readonly #streams: StreamTable<MuxedStream>
  readonly #maxOutboundStreams: number
  readonly #open: (limits: StreamLimits) => MuxedStream
  readonly #afterTelling: Set<() => void>
  /** Opens that wait for the peer to acknowledge earlier ones, or for their resets to be written, in order */
  readonly #waiting = new Set<Waiting>()
  #refusal: Error | undefined

  /**
   * `open` has to be synchronous: the SYN may leave, and the answer come, before anybody who awaits it runs again. What is in
   * `afterTelling` runs when the peer may have made room.
   */
  constructor (streams: StreamTable<MuxedStream>, maxOutboundStreams: number, open: (limits: StreamLimits) => MuxedStream, afterTelling: Set<() => void>) {
    this.#streams = streams
    this.#maxOutboundStreams = maxOutboundStreams
    this.#open = open
    this.#afterTelling = afterTelling
  }

  /** Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError */
  async open (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    signal?.throwIfAborted()
    this.#check()

    const stream = this.#hasPlace && this.#waiting.size === 0 ? this.#open(limits) : await this.#wait(limits, signal)

    if (this.#refusal != null) {
      stream.abort(this.#refusal)
      throw this.#refusal
    }

    return stream
  }

  /** Opens streams as far as there is room, for those who have waited longest first */
  readonly #admit = (): void => {
    for (const waiting of this.#waiting) {
      if (!this.#hasPlace) {
        return
      }

      this.#waiting.delete(waiting)

      if (this.#streams.hasOutboundId) {
        // here and not where it is awaited, so that nobody slips in between
        waiting.resolve(this.#open(waiting.limits))
      } else {
        waiting.reject(new StreamIdsExhaustedError())
      }
    }

    this.#afterTelling.delete(this.#admit)
  }

  /** Nobody may open a stream any more */
  close (reason: Error): void {
    this.#refusal ??= reason

    for (const waiting of this.#waiting) {
      waiting.reject(this.#refusal)
    }

    this.#waiting.clear()
  }

  /** The peer takes another stream, and the reset of an earlier one does not hold its place */
  get #hasPlace (): boolean {
    const { isAckBacklogFull, outboundCount } = this.#streams

    return !isAckBacklogFull && outboundCount < this.#maxOutboundStreams
  }

  #check (): void {
    if (this.#refusal != null) {
      throw this.#refusal
    }

    const { openOutboundCount, hasOutboundId } = this.#streams

    if (openOutboundCount + this.#waiting.size >= this.#maxOutboundStreams) {
      throw new TooManyOutboundProtocolStreamsError(`${openOutboundCount} streams are open, ${this.#waiting.size} wait to be, maxOutboundStreams allows ${this.#maxOutboundStreams}`)
    }

    if (!hasOutboundId) {
      throw new StreamIdsExhaustedError()
    }
  }

  async #wait (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    const waiting: Waiting = { ...Promise.withResolvers<MuxedStream>(), limits }
    this.#waiting.add(waiting)
    this.#afterTelling.add(this.#admit)

    try {
      return await abortable(waiting.promise, signal)
    } catch (err: any) {
      this.#waiting.delete(waiting)
      waiting.reject(err)
      // admitted in the moment of the abort: nobody will use it
      waiting.promise.then(stream => { stream.abort(err) }, () => {})
      throw err
    }
  }
}
