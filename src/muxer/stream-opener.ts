/**
 * Who may open a stream now, who waits and who is refused.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { abortable } from '../abortable.ts'
import { StreamIdsExhaustedError } from '../errors.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { CreateStreamOptions } from '@libp2p/interface'

interface Turn extends PromiseWithResolvers<YamuxStream> {
  options: CreateStreamOptions
}

export interface StreamOpenerInit {
  session: Session<YamuxStream>
  maxOutboundStreams: number
  nowMs (): number
  /** Makes the stream that the state belongs to */
  create (state: StreamState<YamuxStream>, options: CreateStreamOptions): YamuxStream
}

export class StreamOpener {
  readonly #init: StreamOpenerInit
  readonly #session: Session<YamuxStream>
  /** Opens that wait for the peer to acknowledge earlier ones, in order */
  readonly #waiting = new Set<Turn>()
  #refusal: Error | undefined

  constructor (init: StreamOpenerInit) {
    this.#init = init
    this.#session = init.session
  }

  /** Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError */
  async open (options: CreateStreamOptions): Promise<YamuxStream> {
    options.signal?.throwIfAborted()
    this.#check()

    const { isAckBacklogFull } = this.#session.registry
    const stream = isAckBacklogFull || this.#waiting.size > 0 ? await this.#wait(options) : this.#open(options)

    if (this.#refusal != null) {
      stream.abort(this.#refusal)
      throw this.#refusal
    }

    return stream
  }

  /** The backlog may have room: opens a stream for those who wait longest */
  admit (): void {
    const { registry } = this.#session

    for (const turn of this.#waiting) {
      if (registry.isAckBacklogFull) {
        return
      }

      this.#waiting.delete(turn)

      if (registry.hasOutboundId) {
        // here and not where it is awaited, so that nobody slips in between
        turn.resolve(this.#open(turn.options))
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

  #check (): void {
    if (this.#refusal != null) {
      throw this.#refusal
    }

    const { outboundCount, hasOutboundId } = this.#session.registry

    if (outboundCount + this.#waiting.size >= this.#init.maxOutboundStreams) {
      throw new TooManyOutboundProtocolStreamsError(`${outboundCount} streams are open and ${this.#waiting.size} wait to be, maxOutboundStreams allows ${this.#init.maxOutboundStreams}`)
    }

    if (!hasOutboundId) {
      throw new StreamIdsExhaustedError()
    }
  }

  /** In one go: the SYN may leave, and the answer come, before anybody who awaits this runs again */
  #open (options: CreateStreamOptions): YamuxStream {
    return this.#init.create(this.#session.open(this.#init.nowMs()), options)
  }

  async #wait (options: CreateStreamOptions): Promise<YamuxStream> {
    const turn: Turn = { ...Promise.withResolvers<YamuxStream>(), options }
    this.#waiting.add(turn)

    try {
      return await abortable(turn.promise, options.signal)
    } catch (err: any) {
      this.#waiting.delete(turn)
      turn.reject(err)
      // admitted in the moment of the abort: nobody will use it
      turn.promise.then(stream => { stream.abort(err) }, () => {})
      throw err
    }
  }
}
