/**
 * Who may open a stream now, who waits and who is refused.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { abortable } from '../abortable.ts'
import { StreamIdsExhaustedError } from '../errors.ts'
import type { StreamLimits } from '../config.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'

interface Turn extends PromiseWithResolvers<YamuxStream> {
  limits: StreamLimits
}

export interface StreamOpenerInit {
  session: Session<YamuxStream>
  maxOutboundStreams: number
  nowMs (): number
  /** Makes the stream that the state belongs to */
  create (state: StreamState<YamuxStream>, limits: StreamLimits): YamuxStream
}

export class StreamOpener {
  readonly #init: StreamOpenerInit
  readonly #session: Session<YamuxStream>
  /** Opens that wait for the peer to acknowledge earlier ones, or for their resets to be written, in order */
  readonly #waiting = new Set<Turn>()
  #refusal: Error | undefined

  constructor (init: StreamOpenerInit) {
    this.#init = init
    this.#session = init.session
  }

  /** Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError */
  async open (limits: StreamLimits, signal?: AbortSignal): Promise<YamuxStream> {
    signal?.throwIfAborted()
    this.#check()

    const stream = this.#hasPlace && this.#waiting.size === 0 ? this.#open(limits) : await this.#wait(limits, signal)

    if (this.#refusal != null) {
      stream.abort(this.#refusal)
      throw this.#refusal
    }

    return stream
  }

  /** There may be room: opens a stream for those who wait longest */
  admit (): void {
    for (const turn of this.#waiting) {
      if (!this.#hasPlace) {
        return
      }

      this.#waiting.delete(turn)

      if (this.#session.registry.hasOutboundId) {
        // here and not where it is awaited, so that nobody slips in between
        turn.resolve(this.#open(turn.limits))
      } else {
        turn.reject(new StreamIdsExhaustedError())
      }
    }
  }

  get isClosed (): boolean {
    return this.#refusal != null
  }

  /** Nobody may open a stream any more */
  close (reason: Error): void {
    this.#refusal ??= reason

    for (const turn of this.#waiting) {
      turn.reject(this.#refusal)
    }

    this.#waiting.clear()
  }

  /** The peer takes another stream, and the reset of an earlier one does not hold its place */
  get #hasPlace (): boolean {
    const { isAckBacklogFull, outboundCount } = this.#session.registry

    return !isAckBacklogFull && outboundCount < this.#init.maxOutboundStreams
  }

  #check (): void {
    if (this.#refusal != null) {
      throw this.#refusal
    }

    const { openOutboundCount, hasOutboundId } = this.#session.registry

    if (openOutboundCount + this.#waiting.size >= this.#init.maxOutboundStreams) {
      throw new TooManyOutboundProtocolStreamsError(`${openOutboundCount} streams are open and ${this.#waiting.size} wait to be, maxOutboundStreams allows ${this.#init.maxOutboundStreams}`)
    }

    if (!hasOutboundId) {
      throw new StreamIdsExhaustedError()
    }
  }

  /** In one go: the SYN may leave, and the answer come, before anybody who awaits this runs again */
  #open (limits: StreamLimits): YamuxStream {
    return this.#init.create(this.#session.open(this.#init.nowMs()), limits)
  }

  async #wait (limits: StreamLimits, signal?: AbortSignal): Promise<YamuxStream> {
    const turn: Turn = { ...Promise.withResolvers<YamuxStream>(), limits }
    this.#waiting.add(turn)

    try {
      return await abortable(turn.promise, signal)
    } catch (err: any) {
      this.#waiting.delete(turn)
      turn.reject(err)
      // admitted in the moment of the abort: nobody will use it
      turn.promise.then(stream => { stream.abort(err) }, () => {})
      throw err
    }
  }
}
