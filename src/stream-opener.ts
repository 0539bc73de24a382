/**
 * Who may open a stream now, who waits and who is refused.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { raceSignal } from 'race-signal'
import { MAX_UNACKED_STREAMS } from './core/stream-registry.ts'
import { StreamIdsExhaustedError } from './errors.ts'
import type { Session } from './core/session.ts'
import type { StreamState } from './core/stream-state.ts'
import type { YamuxStream } from './stream.ts'
import type { AbortOptions } from '@libp2p/interface'

export class StreamOpener {
  readonly #session: Session<YamuxStream>
  readonly #maxOutboundStreams: number
  /** Opens that wait for the peer to acknowledge earlier ones, in order */
  #waiting: Array<PromiseWithResolvers<void>> = []
  #refusal: Error | undefined

  constructor (session: Session<YamuxStream>, maxOutboundStreams: number) {
    this.#session = session
    this.#maxOutboundStreams = maxOutboundStreams
  }

  /** Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError */
  async open (nowMs: () => number, options: AbortOptions): Promise<StreamState<YamuxStream>> {
    options.signal?.throwIfAborted()
    this.#check()

    if (this.#session.registry.isAckBacklogFull || this.#waiting.length > 0) {
      await this.#wait(options)
      this.#check()
    }

    return this.#session.open(nowMs())
  }

  /** Lets in as many as the backlog has room for; they leave the queue in the microtasks that follow */
  admit (): void {
    const count = Math.min(this.#waiting.length, MAX_UNACKED_STREAMS - this.#session.registry.unackedCount)

    for (let i = 0; i < count; i++) {
      this.#waiting[i].resolve()
    }
  }

  /** Nobody may open a stream any more */
  close (reason: Error): void {
    this.#refusal ??= reason

    for (const turn of this.#waiting) {
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

  async #wait (options: AbortOptions): Promise<void> {
    const turn = Promise.withResolvers<void>()
    this.#waiting.push(turn)

    try {
      await raceSignal(turn.promise, options.signal)
    } finally {
      this.#waiting = this.#waiting.filter(waiting => waiting !== turn)
    }
  }
}
