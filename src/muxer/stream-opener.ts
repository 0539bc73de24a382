/**
 * Who may open a stream now, who waits and who is refused.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { StreamIdsExhaustedError } from '../errors.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { AbortOptions } from '@libp2p/interface'

export class StreamOpener {
  readonly #session: Session<YamuxStream>
  readonly #maxOutboundStreams: number
  readonly #nowMs: () => number
  /** Opens that wait for the peer to acknowledge earlier ones, in order */
  #waiting: Array<PromiseWithResolvers<StreamState<YamuxStream>>> = []
  #refusal: Error | undefined

  constructor (session: Session<YamuxStream>, maxOutboundStreams: number, nowMs: () => number) {
    this.#session = session
    this.#maxOutboundStreams = maxOutboundStreams
    this.#nowMs = nowMs
  }

  /** Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError */
  async open (options: AbortOptions): Promise<StreamState<YamuxStream>> {
    options.signal?.throwIfAborted()
    this.#check()

    const { isAckBacklogFull } = this.#session.registry
    const state = isAckBacklogFull || this.#waiting.length > 0 ? await this.#wait(options) : this.#session.open(this.#nowMs())

    if (this.#refusal != null) {
      this.#session.reset(state, 0)
      throw this.#refusal
    }

    return state
  }

  /** The backlog may have room: opens a stream for those who wait longest */
  admit (): void {
    const { registry } = this.#session

    while (this.#waiting.length > 0 && !registry.isAckBacklogFull) {
      const turn = this.#waiting.shift()

      if (registry.hasOutboundId) {
        // here and not where it is awaited, so that nobody slips in between
        turn?.resolve(this.#session.open(this.#nowMs()))
      } else {
        turn?.reject(new StreamIdsExhaustedError())
      }
    }
  }

  /** Nobody may open a stream any more */
  close (reason: Error): void {
    this.#refusal ??= reason

    for (const turn of this.#waiting.splice(0)) {
      turn.reject(this.#refusal)
    }
  }

  #check (): void {
    if (this.#refusal != null) {
      throw this.#refusal
    }

    const { outboundCount, hasOutboundId } = this.#session.registry

    if (outboundCount + this.#waiting.length >= this.#maxOutboundStreams) {
      throw new TooManyOutboundProtocolStreamsError(`${outboundCount} streams are open and ${this.#waiting.length} wait to be, maxOutboundStreams allows ${this.#maxOutboundStreams}`)
    }

    if (!hasOutboundId) {
      throw new StreamIdsExhaustedError()
    }
  }

  async #wait (options: AbortOptions): Promise<StreamState<YamuxStream>> {
    const turn = Promise.withResolvers<StreamState<YamuxStream>>()
    this.#waiting.push(turn)

    try {
      return await raceSignal(turn.promise, options.signal)
    } catch (err: any) {
      this.#waiting = this.#waiting.filter(waiting => waiting !== turn)
      turn.reject(err)
      // admitted in the moment of the abort: nobody will use it
      turn.promise.then(state => { this.#session.reset(state, 0) }, () => {})
      throw err
    }
  }
}
