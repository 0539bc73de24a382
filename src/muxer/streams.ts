/**
 * The streams of a connection as the application sees them: the list of open streams, when this side may open another, and when the
 * application is told of streams that the peer has opened.
 */
import { MuxerClosedError, TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { MaxEarlyStreamsError } from '@libp2p/utils'
import { StreamIdsExhaustedError } from '../api/errors.ts'
import { throwIfAborted } from '../foreign/values.ts'
import { abortable } from '../foreign/promises.ts'
import { MuxedStream } from '../stream/stream.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Driver } from '../host/driver.ts'
import type { StreamLimits } from '../options/config.ts'
import type { StreamRegistry } from '../stream/stream-host.ts'

/** libp2p has work to do for each stream, and a chunk of 64 KiB may open a thousand. Announced together they would block the event loop. */
const MAX_ANNOUNCED_PER_TURN = 32

/** Each call that waits to open a stream takes memory, and nothing else limits how many an application makes */
const MAX_WAITING_OPENS = 10_000

interface WaitingOpen extends PromiseWithResolvers<MuxedStream> {
  limits: StreamLimits
}

/** The muxer, as far as the list calls it */
export interface StreamAnnouncer {
  listenerCount (type: string): number
  announce (stream: MuxedStream): void
  fail (err: Error): void
}

export class StreamList implements StreamRegistry<MuxedStream> {
  readonly #driver: Driver<MuxedStream>
  readonly #announcer: StreamAnnouncer
  readonly #streams: MuxedStream[] = []
  /** Have ended, and are still in the list */
  readonly #ended: MuxedStream[] = []
  /** In order. They wait for the peer to acknowledge earlier streams. */
  readonly #waitingOpens = new Set<WaitingOpen>()
  /** Why this side may open no stream any more */
  #refusal: Error | undefined
  /** Streams of the peer that the application does not know of: it has added no listener yet, or too many came in one turn */
  readonly #unannounced = new Set<MuxedStream>()
  /** Streams announced since the end of a turn was last awaited */
  #announced = 0

  constructor (driver: Driver<MuxedStream>, announcer: StreamAnnouncer) {
    this.#driver = driver
    this.#announcer = announcer
  }

  /**
   * The open streams, in one array that the application may keep. A stream that has ended leaves it a microtask later, or when this is read.
   * So a loop over the array that aborts each stream reaches all of them.
   */
  get current (): MuxedStream[] {
    this.settle()

    return this.#streams
  }

  /**
   * Opens a stream, after the calls that wait already. The stream is made synchronously: its SYN may leave, and the answer come, before the
   * caller's `await` returns. Throws MuxerClosedError, TooManyOutboundProtocolStreamsError or StreamIdsExhaustedError.
   */
  async open (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    throwIfAborted(signal)
    const refusal = this.#reasonToRefuse()

    if (refusal !== undefined) {
      throw refusal
    }

    const stream = !this.#driver.session.streams.isAckBacklogFull && this.#waitingOpens.size === 0 ? this.#openNow(limits) : await this.#awaitPlace(limits, signal)

    if (this.#refusal != null) {
      stream.abort(this.#refusal)
      throw this.#refusal
    }

    return stream
  }

  /** This side may open no stream any more */
  refuseOpens (reason = new MuxerClosedError()): void {
    this.#refusal ??= reason

    for (const waiting of this.#waitingOpens) {
      waiting.reject(this.#refusal)
    }

    this.#waitingOpens.clear()
  }

  /** The peer has opened a stream */
  onOpenedByPeer (state: StreamState<MuxedStream>): void {
    // streams that have ended wait too, with their data
    if (this.#unannounced.size >= this.#driver.config.maxInboundStreams) {
      this.#driver.reset(state, 0)
      return
    }

    this.#unannounced.add(this.#create(state, this.#driver.config.streamOptions))
    this.#announceWaiting()

    if (this.#hasTooManyEarly) {
      // libp2p adds its listener some microtasks after it has made a muxer. The first chunk comes sooner, and may open many streams.
      this.#driver.clock.nextTurn(this.#checkEarly)
    }
  }

  /** The application was not told of the stream yet */
  isUnannounced (stream: MuxedStream): boolean {
    return this.#unannounced.has(stream)
  }

  /** A 'stream' listener was added. Listeners are often added in constructors, which should finish before the first event. */
  onListener (): void {
    if (this.#unannounced.size > 0) {
      queueMicrotask(this.#announceWaiting)
    }
  }

  /** Announces all streams now, as the connection ends before the next turn */
  announceAll (): void {
    this.#announced = -Infinity
    this.#announceWaiting()
  }

  /** Removes and returns the streams that were not announced */
  takeUnannounced (): MuxedStream[] {
    const unannounced = [...this.#unannounced]
    this.#unannounced.clear()

    return unannounced
  }

  /** The stream is not announced any more */
  cancelAnnouncement (stream: MuxedStream): void {
    this.#unannounced.delete(stream)
  }

  /** The stream has ended; may run twice for a stream. If its data is complete it is still announced, unless this side has aborted it. */
  remove (stream: MuxedStream): void {
    if (stream.status !== 'open') {
      this.cancelAnnouncement(stream)
    }

    if (this.#ended.push(stream) === 1) {
      queueMicrotask(this.settle)
    }
  }

  /** Removes ended streams, the last to end first. Searches from the end, where short-lived streams are, so the end of all streams takes linear time. */
  readonly settle = (): void => {
    for (let stream = this.#ended.pop(); stream !== undefined; stream = this.#ended.pop()) {
      const index = this.#streams.lastIndexOf(stream)

      if (index !== -1) {
        this.#streams.splice(index, 1)
      }
    }
  }

  #create (state: StreamState<MuxedStream>, limits: StreamLimits): MuxedStream {
    const stream = new MuxedStream(state, this.#driver, this, limits)
    state.owner = stream
    this.#streams.push(stream)
    this.#driver.timers.watch(state)

    return stream
  }

  #openNow (limits: StreamLimits): MuxedStream {
    const { session, clock } = this.#driver

    return this.#create(session.open(clock.nowMs()), limits)
  }

  /** Why no stream can be opened, not even by waiting for the peer */
  #reasonToRefuse (waitingCount = this.#waitingOpens.size): Error | undefined {
    const { outboundCount, hasOutboundId } = this.#driver.session.streams
    const { maxOutboundStreams } = this.#driver.config

    if (this.#refusal !== undefined || !hasOutboundId) {
      return this.#refusal ?? new StreamIdsExhaustedError()
    }

    if (outboundCount >= maxOutboundStreams || waitingCount >= MAX_WAITING_OPENS) {
      return new TooManyOutboundProtocolStreamsError(`${outboundCount} streams are open, maxOutboundStreams allows ${maxOutboundStreams}; ${waitingCount} wait for the peer, at most ${MAX_WAITING_OPENS} may`)
    }

    return undefined
  }

  async #awaitPlace (limits: StreamLimits, signal?: AbortSignal): Promise<MuxedStream> {
    const waiting: WaitingOpen = { ...Promise.withResolvers<MuxedStream>(), limits }
    this.#waitingOpens.add(waiting)
    this.#driver.reader.afterTelling.add(this.#admit)

    const { streams, roundTrip } = this.#driver.session

    // a peer may acknowledge a stream only with its first data, which may never come; its pong is an answer as well
    if (!streams.isAnswered && !roundTrip.isPending) {
      this.#driver.ping()
    }

    try {
      return await abortable(waiting.promise, signal)
    } catch (err: any) {
      this.#waitingOpens.delete(waiting)
      waiting.reject(err)
      // opened at the moment of the abort, so nothing will use it
      waiting.promise.then(stream => { stream.abort(err) }, () => {})
      throw err
    }
  }

  /** Opens the streams that may be opened now, in order. Those that are open by then count against the limit. */
  readonly #admit = (): void => {
    for (const waiting of this.#waitingOpens) {
      const refusal = this.#reasonToRefuse(0)

      if (refusal !== undefined) {
        waiting.reject(refusal)
      } else if (!this.#driver.session.streams.isAckBacklogFull) {
        // opened here, and not after the caller's `await`, so that no other call takes the place
        waiting.resolve(this.#openNow(waiting.limits))
      } else {
        return
      }

      this.#waitingOpens.delete(waiting)
    }

    this.#driver.reader.afterTelling.delete(this.#admit)
  }

  readonly #announceWaiting = (): void => {
    for (const stream of this.#unannounced) {
      if (this.#announced === MAX_ANNOUNCED_PER_TURN || this.#announcer.listenerCount('stream') === 0) {
        break
      }

      this.#unannounced.delete(stream)

      // counted across turns, so that only every 32nd stream awaits the end of a turn
      if (++this.#announced === MAX_ANNOUNCED_PER_TURN) {
        this.#driver.clock.nextTurn(() => {
          this.#announced = 0
          this.#announceWaiting()
        })
      }

      this.#announcer.announce(stream)
    }
  }

  get #hasTooManyEarly (): boolean {
    return this.#unannounced.size > this.#driver.config.maxEarlyStreams && this.#announcer.listenerCount('stream') === 0
  }

  readonly #checkEarly = (): void => {
    if (this.#hasTooManyEarly) {
      this.#announcer.fail(new MaxEarlyStreamsError(`${this.#unannounced.size} streams were opened before a 'stream' listener was added, maxEarlyStreams allows ${this.#driver.config.maxEarlyStreams}`))
    }
  }
}
