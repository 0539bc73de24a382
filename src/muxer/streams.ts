/**
 * How streams come to programs: who may open one now (Opener), when a program is told of those that the peer has opened (Announcer), and the
 * list of all that are open (StreamList).
 */
import { TooManyOutboundProtocolStreamsError } from '@libp2p/interface'
import { MaxEarlyStreamsError } from '@libp2p/utils'
import { StreamIdsExhaustedError } from '../errors.ts'
import { abortable } from '../promises.ts'
import type { Clock } from '../clock.ts'
import type { StreamTable } from '../core/stream-table.ts'
import type { StreamLimits } from '../options/config.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { Muxer } from './muxer.ts'

interface Waiting extends PromiseWithResolvers<MuxedStream> {
  limits: StreamLimits
}

/** Opens streams, makes those who open too many wait, and refuses them when the connection ends */
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

/** libp2p has work to do for each, and a chunk of 64 KiB may open a thousand: announced together they took a turn of 28 to 94 ms, so 13 to 48 */
const MAX_PER_TURN = 32

/**
 * Tells the application of inbound streams. Those that came before anybody listened, as happens while libp2p is still setting up the
 * connection, wait for a listener; those beyond what a turn of the event loop may bring wait for the next one.
 */
export class Announcer {
  readonly #maxEarlyStreams: number
  readonly #clock: Clock
  readonly #muxer: Muxer
  readonly #waiting = new Set<MuxedStream>()
  #announcedInTurn = 0

  constructor (maxEarlyStreams: number, clock: Clock, muxer: Muxer) {
    this.#maxEarlyStreams = maxEarlyStreams
    this.#clock = clock
    this.#muxer = muxer
  }

  /** The peer has opened it */
  add (stream: MuxedStream): void {
    const isListenedTo = this.#muxer.listenerCount('stream') > 0

    if (isListenedTo && this.#waiting.size === 0 && this.#announcedInTurn < MAX_PER_TURN) {
      this.#announce(stream)
      return
    }

    this.#waiting.add(stream)

    if (!isListenedTo && this.#waiting.size > this.#maxEarlyStreams) {
      // libp2p listens some microtasks after it has made a muxer. The first chunk comes sooner, and may open any number of streams.
      this.#clock.nextTurn(this.#checkEarly)
    }
  }

  /** It has ended: nobody need see it */
  remove (stream: MuxedStream): void {
    this.#waiting.delete(stream)
  }

  /** Nobody is told of those that wait, which it returns: the session ends */
  close (): MuxedStream[] {
    const waiting = [...this.#waiting]
    this.#waiting.clear()

    return waiting
  }

  /** Somebody listens. Listeners are often added in constructors, which should have run before the first event. */
  onListener (): void {
    if (this.#waiting.size > 0) {
      queueMicrotask(this.#goOn)
    }
  }

  #announce (stream: MuxedStream): void {
    // only so many streams cost a look at where the turn ends
    if (++this.#announcedInTurn === MAX_PER_TURN) {
      this.#clock.nextTurn(() => {
        this.#announcedInTurn = 0
        this.#goOn()
      })
    }

    this.#muxer.announce(stream)
  }

  readonly #goOn = (): void => {
    for (const stream of this.#waiting) {
      if (this.#announcedInTurn === MAX_PER_TURN) {
        break
      }

      this.#waiting.delete(stream)
      this.#announce(stream)
    }
  }

  readonly #checkEarly = (): void => {
    const { size } = this.#waiting

    if (this.#muxer.listenerCount('stream') === 0 && size > this.#maxEarlyStreams) {
      this.#muxer.fail(new MaxEarlyStreamsError(`${size} streams were opened before anybody listened for them, maxEarlyStreams allows ${this.#maxEarlyStreams}`))
    }
  }
}

/**
 * The open streams as programs see them: one list, which a program may keep. A stream that has ended leaves it a microtask later, or when
 * somebody asks for the list, so that a loop over it that aborts each stream comes to all of them.
 */
export class StreamList {
  readonly #streams: MuxedStream[] = []
  readonly #ended: MuxedStream[] = []

  get current (): MuxedStream[] {
    this.settle()

    return this.#streams
  }

  add (stream: MuxedStream): void {
    this.#streams.push(stream)
  }

  remove (stream: MuxedStream): void {
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
}
