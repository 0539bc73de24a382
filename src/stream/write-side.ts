/**
 * How an application's writes reach the session: when a writer must wait, when it may go on, and
 * when everything including the FIN is handed down.
 */
import { StreamBufferError, StreamStateError } from '@libp2p/interface'
import { abortable } from '../abortable.ts'
import { withHandledRejection } from '../deferred.ts'
import type { YamuxStream } from './stream.ts'
import type { StreamHost } from './stream-host.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { AbortOptions, MessageStreamWriteStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * `send()` returns false from here on. Four Noise records: with 64 KiB a writer stops so often
 * that the number of records doubles.
 */
export const HIGH_WATER_MARK_BYTES = 262_144
/** 'drain' follows at or below half of it, so that the writer is back before the queue is empty */
export const LOW_WATER_MARK_BYTES = 131_072

export class WriteSide {
  status: MessageStreamWriteStatus = 'writable'
  needsDrain = false
  readonly #state: StreamState<YamuxStream>
  readonly #host: StreamHost
  readonly #stream: YamuxStream
  /** Settled when the FIN is handed down, or the stream ends before that */
  #finished: PromiseWithResolvers<void> | undefined
  /** Settled at the next drain */
  #drained: PromiseWithResolvers<void> | undefined
  /** Why the stream is over */
  #createError: (() => Error) | undefined

  constructor (state: StreamState<YamuxStream>, host: StreamHost, stream: YamuxStream) {
    this.#state = state
    this.#host = host
    this.#stream = stream
  }

  /** Returns false when the writer should wait. Hot. */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (this.status !== 'writable') {
      throw new StreamStateError(`Cannot write to a stream that is ${this.status}`)
    }

    const wasToldToWait = this.needsDrain
    this.#host.write(this.#state, data)
    const queuedBytes = this.#state.sendQueue.byteLength

    if (wasToldToWait && queuedBytes > this.#stream.maxWriteBufferLength) {
      this.#stream.abort(new StreamBufferError(`Write buffer length of ${queuedBytes} exceeded limit of ${this.#stream.maxWriteBufferLength}, write status is ${this.status}`))
      return false
    }

    if (queuedBytes < HIGH_WATER_MARK_BYTES) {
      return true
    }

    this.#state.awaitsDrain = true
    this.needsDrain = true

    return false
  }

  async onDrain (options?: AbortOptions): Promise<void> {
    if (this.needsDrain && this.#createError != null) {
      // between send() and here the stream has ended: no drain will come
      throw this.#createError()
    }

    if (this.needsDrain) {
      this.#drained ??= withHandledRejection()
      await abortable(this.#drained.promise, options?.signal)
    }
  }

  /** Returns false if it is closing or closed already */
  beginClose (): boolean {
    if (this.status !== 'writable') {
      return false
    }

    this.status = 'closing'
    this.#finished = withHandledRejection()

    return true
  }

  /** Resolves when the FIN is handed down. `hasBegun`: it was this caller that began, and may have failed at once. */
  async closed (hasBegun: boolean, options?: AbortOptions): Promise<void> {
    if (this.#finished !== undefined && (hasBegun || this.status === 'closing')) {
      await abortable(this.#finished.promise, options?.signal)
    }
  }

  /** Some or all of the queue was taken */
  onTaken (): void {
    const state = this.#state

    if (state.awaitsDrain && state.sendQueue.byteLength <= LOW_WATER_MARK_BYTES) {
      state.awaitsDrain = false
      this.needsDrain = false
      this.#drained?.resolve()
      this.#drained = undefined
      this.#stream.safeDispatchEvent('drain')
    }

    if (state.sendQueue.byteLength === 0) {
      this.#stream.safeDispatchEvent('idle')
    }
  }

  onFinHandedDown (): void {
    this.status = 'closed'
    this.#finished?.resolve()
  }

  /** The stream is over: whoever waits learns why. The error is made only for them: it takes a stack trace. */
  end (createError: () => Error): void {
    if (this.status === 'closing') {
      this.#finished?.reject(createError())
    }

    this.status = 'closed'
    this.#createError = createError
    this.#drained?.reject(createError())
    this.#drained = undefined
  }
}
