/**
 * The streams of a connection as programs see them: when this side may open one, when a program is told of those that the peer has opened,
 * and the list of all that are open.
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { MaxEarlyStreamsError } from '@libp2p/utils'
import { StreamIdsExhaustedError } from '../api/errors.ts'
import { throwIfAborted } from '../foreign/values.ts'
import { abortable } from '../foreign/promises.ts'
import { MuxedStream } from '../stream/stream.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Session } from '../core/session.ts'
import type { Clock } from '../host/clock.ts'
import type { Config, StreamLimits } from '../options/config.ts'
import type { StreamHost, StreamRegistry } from '../stream/stream-host.ts'

/** libp2p has work to do for each, and a chunk of 64 KiB may open a thousand. Announced together those made a turn of 28 to 94 ms; 32 at a time, 13 to 48. */
const MAX_ANNOUNCED_PER_TURN = 32

/** Opens that wait for the peer: a program that asks for more is not held back by anything, and each takes memory */
const MAX_WAITING_OPENS = 10_000

interface WaitingOpen extends PromiseWithResolvers<MuxedStream> {
  limits: StreamLimits
}

/** What the list needs of its connection, and its streams too */
export interface StreamListHost extends StreamHost<MuxedStream> {
  readonly session: Session<MuxedStream>
  readonly clock: Clock
  readonly config: Config
  readonly afterTelling: Set<() => void>
  ping (): void
}

/** Who tells programs of streams */
export interface StreamAnnouncer {
  listenerCount (type: string): number
  announce (stream: MuxedStream): void
  fail (err: Error): void
}

export class StreamList implements StreamRegistry<MuxedStream> {
  readonly #host: StreamListHost
  readonly #announcer: StreamAnnouncer
  readonly #streams: MuxedStream[] = []
  /** Still in the list */
  readonly #ended: MuxedStream[] = []
  /** For the peer to acknowledge earlier streams, or for resets to be written, in order */
  readonly #waitingOpens = new Set<WaitingOpen>()
  /** Why this side may open no stream any more */
  #refusal: Error | undefined
  /** The peer's, which no program was told of: nobody listens yet, or a turn of the event loop has brought too many */
  readonly #unannounced = new Set<MuxedStream>()
  /** Since the event loop was last asked to say where a turn ends */
  #announced = 0

  constructor (host: StreamListHost, announcer: StreamAnnouncer) {
    this.#host = host
    this.#announcer = announcer
  }

  /**
   * The open streams: one list, which a program may keep. A stream that has ended leaves the list a microtask later, or when somebody asks
   * for the list, so that a loop over the list that aborts each stream comes to all of them.
   */
  get current (): MuxedStream[] {
    this.settle()

    return this.#streams
  }

  /**
   * Waits for those who came first. Streams are made without awaiting anything: the SYN may leave, and the answer come, before anybody who
   * awaits the stream runs again. Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError.
   */
  async open (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    throwIfAborted(signal)
    const refusal = this.#refuse()

    if (refusal !== undefined) {
      throw refusal
    }

    const stream = this.#hasPlace && this.#waitingOpens.size === 0 ? this.#openNow(limits) : await this.#awaitPlace(limits, signal)

    if (this.#refusal != null) {
      stream.abort(this.#refusal)
      throw this.#refusal
    }

    return stream
  }

  /** This side may open no stream any more */
  refuseOpens (reason: Error): void {
    this.#refusal ??= reason

    for (const waiting of this.#waitingOpens) {
      waiting.reject(this.#refusal)
    }

    this.#waitingOpens.clear()
  }

  /** The peer has opened a stream */
  onOpenedByPeer (state: StreamState<MuxedStream>): void {
    const stream = this.#create(state, this.#host.config.streamOptions)
    const isListenedTo = this.#announcer.listenerCount('stream') > 0

    if (isListenedTo && this.#unannounced.size === 0 && this.#announced < MAX_ANNOUNCED_PER_TURN) {
      this.#announce(stream)
      return
    }

    this.#unannounced.add(stream)

    if (!isListenedTo && this.#unannounced.size > this.#host.config.maxEarlyStreams) {
      // libp2p listens some microtasks after it has made a muxer. The first chunk comes sooner, and may open any number of streams.
      this.#host.clock.nextTurn(this.#checkEarly)
    }
  }

  /** No program was told of it yet */
  isUnannounced (stream: MuxedStream): boolean {
    return this.#unannounced.has(stream)
  }

  /** Somebody listens. Listeners are often added in constructors, which should have run before the first event. */
  onListener (): void {
    if (this.#unannounced.size > 0) {
      queueMicrotask(this.#announceWaiting)
    }
  }

  /** The connection ends, so no turn will come: announces all now */
  announceAll (): void {
    this.#announced = -Infinity
    this.#announceWaiting()
  }

  /** Forgets the streams that no program was told of yet, and returns them */
  takeUnannounced (): MuxedStream[] {
    const unannounced = [...this.#unannounced]
    this.#unannounced.clear()

    return unannounced
  }

  /** No program will be told of the stream */
  forget (stream: MuxedStream): void {
    this.#unannounced.delete(stream)
  }

  /** The stream has ended, which may be said twice. One that has come in whole is announced nevertheless, unless this side has aborted it. */
  remove (stream: MuxedStream): void {
    if (stream.status !== 'open') {
      this.forget(stream)
    }

    if (this.#ended.push(stream) === 1) {
      queueMicrotask(this.settle)
    }
  }

  /** Looks from the end, where streams that live shortly are, for those that ended last: when all end it looks at each once */
  readonly settle = (): void => {
    for (let stream = this.#ended.pop(); stream !== undefined; stream = this.#ended.pop()) {
      const index = this.#streams.lastIndexOf(stream)

      if (index !== -1) {
        this.#streams.splice(index, 1)
      }
    }
  }

  #create (state: StreamState<MuxedStream>, limits: StreamLimits): MuxedStream {
    const stream = new MuxedStream(state, this.#host, this, limits)
    state.owner = stream
    this.#streams.push(stream)
    this.#host.timers.watch(state)

    return stream
  }

  #openNow (limits: StreamLimits): MuxedStream {
    const { session, clock } = this.#host

    return this.#create(session.open(clock.nowMs()), limits)
  }

  /** The peer takes another stream, and the reset of an earlier one does not hold its place */
  get #hasPlace (): boolean {
    const { isAckBacklogFull, outboundCount } = this.#host.session.streams

    return !isAckBacklogFull && outboundCount < this.#host.config.maxOutboundStreams
  }

  /** Why no stream can be opened now, nor by waiting for the peer */
  #refuse (waitingCount = this.#waitingOpens.size): Error | undefined {
    const { openOutboundCount, hasOutboundId } = this.#host.session.streams
    const { maxOutboundStreams } = this.#host.config

    if (this.#refusal !== undefined || !hasOutboundId) {
      return this.#refusal ?? new StreamIdsExhaustedError()
    }

    if (openOutboundCount >= maxOutboundStreams || waitingCount >= MAX_WAITING_OPENS) {
      return new TooManyOutboundProtocolStreamsError(`${openOutboundCount} streams are open, maxOutboundStreams allows ${maxOutboundStreams}; ${waitingCount} wait for the peer, of ${MAX_WAITING_OPENS} at most`)
    }

    return undefined
  }

  async #awaitPlace (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    const waiting: WaitingOpen = { ...Promise.withResolvers<MuxedStream>(), limits }
    this.#waitingOpens.add(waiting)
    this.#host.afterTelling.add(this.#admit)

    const { streams, roundTrip } = this.#host.session

    // a peer may acknowledge a stream with its first data only, which may never come
    if (!streams.isAnswered && !roundTrip.isPending) {
      this.#host.ping()
    }

    try {
      return await abortable(waiting.promise, signal)
    } catch (err: any) {
      this.#waitingOpens.delete(waiting)
      waiting.reject(err)
      // admitted in the moment of the abort: nobody will use it
      waiting.promise.then(stream => { stream.abort(err) }, () => {})
      throw err
    }
  }

  /** Opens streams as far as there is room, for those who have waited longest first. What is open by then counts against the limit. */
  readonly #admit = (): void => {
    for (const waiting of this.#waitingOpens) {
      const refusal = this.#refuse(0)

      if (refusal !== undefined) {
        waiting.reject(refusal)
      } else if (this.#hasPlace) {
        // here and not where it is awaited, so that nobody slips in between
        waiting.resolve(this.#openNow(waiting.limits))
      } else {
        return
      }

      this.#waitingOpens.delete(waiting)
    }

    this.#host.afterTelling.delete(this.#admit)
  }

  #announce (stream: MuxedStream): void {
    // counted across turns: only every 32nd stream costs a look at where the turn ends
    if (++this.#announced === MAX_ANNOUNCED_PER_TURN) {
      this.#host.clock.nextTurn(() => {
        this.#announced = 0
        this.#announceWaiting()
      })
    }

    this.#announcer.announce(stream)
  }

  readonly #announceWaiting = (): void => {
    for (const stream of this.#unannounced) {
      if (this.#announced === MAX_ANNOUNCED_PER_TURN || this.#announcer.listenerCount('stream') === 0) {
        break
      }

      this.#unannounced.delete(stream)
      this.#announce(stream)
    }
  }

  readonly #checkEarly = (): void => {
    const { size } = this.#unannounced
    const { maxEarlyStreams } = this.#host.config

    if (this.#announcer.listenerCount('stream') === 0 && size > maxEarlyStreams) {
      this.#announcer.fail(new MaxEarlyStreamsError(`${size} streams were opened before anybody listened for them, maxEarlyStreams allows ${maxEarlyStreams}`))
    }
  }
}
