/**
 * Connects a session to its transport and to its streams: passes on the chunks of the transport, asks the writer to write, and tells the
 * streams what has happened to them. Hot.
 *
 * One activity at a time:
 *
 * | activity    | runs                          | a new chunk  | a flush                                                        |
 * | ----------- | ----------------------------- | ------------ | -------------------------------------------------------------- |
 * | `idle`      | nothing                       | is read      | is requested by each call of a stream or the muxer             |
 * | `receiving` | the core, chunk by chunk      | is read next | only replies that pile up are written                          |
 * | `telling`   | programs, stream by stream    | waits        | is requested once, at the end; an abort writes within the call |
 * | `answering` | the writer, after a chunk     | waits        | is requested by each call of a stream or the muxer             |
 *
 * A chunk leads from `idle` through `receiving`, `telling` and `answering` to the next chunk or back, a flush from `idle` to `telling` and
 * back. The transport runs during a flush and may call back. A chunk then waits for the end of the flush; if the transport ends, the
 * connection ends immediately.
 */
import { ON_CHUNK } from '../core/flush.ts'
import { URGENT } from '../core/scheduler/lane.ts'
import { Session } from '../core/session.ts'
import { EVENT_OPENED, EVENT_REMOTE_FIN } from '../core/stream-state.ts'
import { guardControl } from '../foreign/guarded-control.ts'
import { partsOf, toError } from '../foreign/values.ts'
import { logDebug, logError, StreamLog } from '../observe/log.ts'
import { abortable } from '../foreign/promises.ts'
import { LateFins } from './late-fins.ts'
import { Stalls } from './stalls.ts'
import { Timers } from './timers.ts'
import { Writer } from './writer.ts'
import { fillYoungMemory, YOUNG_FROM_BYTES } from './young-memory.ts'
import type { FlushReason } from '../core/flush.ts'
import type { CreatePathControl } from '../core/path-control.ts'
import type { SessionObserver } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { ConnectionObserver } from '../observe/frame-tap.ts'
import type { createFrameTraces } from '../observe/frame-trace.ts'
import type { ConnectionMetrics, NodeMetrics } from '../observe/metrics.ts'
import type { Config } from '../options/config.ts'
import type { Clock } from './clock.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Logger, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList
type Activity = 'idle' | 'receiving' | 'telling' | 'answering'

/** One for all connections */
const NO_OBSERVERS: readonly ConnectionObserver[] = []

/** The parts that an entry of the package chooses for the connections of a node */
export interface NodeParts {
  readonly createPathControl: CreatePathControl
  readonly metrics?: NodeMetrics
  readonly createFrameTraces?: typeof createFrameTraces
}

/** The muxer, as far as the driver calls it */
export interface DriverHost<Owner> {
  /** The peer has opened a stream */
  onOpened (state: StreamState<Owner>): void
  /** May be called twice for a stream */
  onStreamEnded (owner: Owner): void
  onGoAway (code: number): void
  /** The peer has broken a rule, or is gone */
  fail (err: Error): void
  onTransmitFailed (err: Error): void
}

export class Driver<Owner extends StreamOwner> implements SessionObserver {
  readonly session: Session<Owner>
  readonly timers: Timers
  readonly writer: Writer
  readonly metrics: ConnectionMetrics | undefined
  readonly config: Config
  readonly clock: Clock
  readonly log: Logger
  readonly streamLog: StreamLog
  readonly stalls: Stalls
  readonly transport: MessageStream
  /** Frames note when they begin to wait: for metrics, or because a snapshot was taken */
  timesWaits: boolean
  /** The trace, and captures */
  observers: readonly ConnectionObserver[]
  readonly #host: DriverHost<Owner>
  readonly #lateFins: LateFins
  /** Run after the streams have been told: after each chunk and each flush. Mostly empty. */
  readonly afterTelling = new Set<() => void>()
  /** Shorter writes and chunks leave young memory alone */
  readonly #youngFromBytes: number
  #activity: Activity = 'idle'
  /** The session is over, or the peer has broken a rule */
  #hasStoppedReading = false
  /** A transport may bring a chunk during a flush, or during the work on another chunk */
  readonly #waitingChunks: Chunk[] = []

  constructor (transport: MessageStream, config: Config, clock: Clock, parts: NodeParts, host: DriverHost<Owner>) {
    this.config = config
    this.clock = clock
    this.log = transport.log.newScope('yamux')
    this.transport = transport
    this.#youngFromBytes = config.tuneGarbageCollection ? YOUNG_FROM_BYTES : Infinity
    this.#host = host
    this.session = new Session<Owner>({
      ...config,
      isDialler: transport.direction === 'outbound',
      initialWindowBytes: config.streamOptions.initialStreamWindowSize,
      maxWindowBytes: config.streamOptions.maxStreamWindowSize,
      nowMs: clock.nowMs,
      createPathControl: (init, positions) => config.pathControl === undefined
        ? parts.createPathControl(init, positions)
        : guardControl(config.pathControl(init, positions), init, err => { this.fail(err) })
    }, this)
    this.metrics = parts.metrics?.connect(this.session, this.log)
    this.timesWaits = this.metrics !== undefined
    this.observers = parts.createFrameTraces?.(this.log) ?? NO_OBSERVERS
    this.streamLog = new StreamLog(() => this.log.newScope('stream'))
    this.timers = new Timers(this)
    this.writer = new Writer(this)
    this.stalls = new Stalls(this)
    this.#lateFins = new LateFins(this)
    // also while receiving
    this.session.control.onRepliesFull = () => { this.writer.flush('forced') }
  }

  // What streams ask for

  /** Hot: runs once per send */
  send (state: StreamState<Owner>, data: Chunk): void {
    this.session.send(state, data instanceof Uint8Array ? data : partsOf(data, 'send()'))

    if (this.timesWaits && state.sendQueue.byteLength > 0) {
      state.waitsSinceMs ??= this.clock.nowMs()
    }

    if (!state.isInDataLane) {
      this.stalls.suspect(state)
    } else if (this.#activity !== 'telling' || this.writer.policy.isOff) {
      // #requestForStream, inlined: a call for each send
      this.writer.request()
    }
  }

  setLane (state: StreamState<Owner>, lane: number): void {
    if (lane !== state.lane) {
      this.session.setLane(state, lane)
      this.request()
    }
  }

  closeWrite (state: StreamState<Owner>): void {
    if (!this.#lateFins.tryDelay(state)) {
      this.session.closeWrite(state, this.clock.nowMs())
      this.timers.watch(state)
      this.#requestForStream()
    }
  }

  /** Writes queued data within the call, as far as credit, the transport and the path control allow. The reset that follows discards the rest. */
  flushBeforeReset (state: StreamState<Owner>): void {
    if (state.canSendData) {
      // as urgent data it goes first, and a little of it even while data is held
      const { lane } = state
      this.session.setLane(state, URGENT)
      this.flushWhile(() => state.canSendData)
      this.session.setLane(state, lane)
    }
  }

  /** Writes queued data within the call while `shouldGoOn` returns true, as far as credit and the transport permit. Not while receiving. */
  flushWhile (shouldGoOn: () => boolean): void {
    if (this.#activity !== 'receiving') {
      this.writer.flushWhile(shouldGoOn)
    }
  }

  reset (state: StreamState<Owner>, errorCode: number): void {
    this.session.reset(state, errorCode, this.clock.nowMs())
    this.#unlist(state)
    this.#requestForStream()
  }

  /** The application has read these bytes. Hot: runs once per event. */
  read (state: StreamState<Owner>, payloadBytes: number): void {
    if (!this.config.creditsOnReceipt) {
      this.session.credit.giveBack(state, payloadBytes)
    }

    if (this.#activity !== 'telling') {
      this.request()
    }
  }

  // What the muxer asks for

  /** Tells the writer that there may be output. The end of `receiving` and `telling` does it once for all that happened meanwhile. */
  request (occasion?: number): void {
    if (this.#activity !== 'telling' && this.#activity !== 'receiving') {
      this.writer.request(occasion)
    }
  }

  ping (): void {
    this.session.ping()
    this.request()
  }

  /** Resolves when `isSo` returns true or the connection has ended; rejects if the signal is aborted before that */
  async until (isSo: () => boolean, signal?: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const look = (): void => {
      if (isSo() || this.writer.isStopped) {
        resolve()
      }
    }

    this.afterTelling.add(look)
    look()

    try {
      await abortable(promise, signal)
    } finally {
      this.afterTelling.delete(look)
    }
  }

  /** Drops all further chunks */
  stopReading (): void {
    this.#hasStoppedReading = true
  }

  stop (): void {
    this.stopReading()
    this.#lateFins.stop()
    this.writer.stop()
    this.stalls.stop()
    this.timers.stop()
    this.session.path.end()
    this.afterTelling.forEach(look => { look() })
  }

  /** Takes what the transport brings. Hot: runs once per chunk. */
  receive (chunk: Chunk): void {
    if (this.#hasStoppedReading) {
      return
    }

    this.#waitingChunks.push(chunk)

    if (!this.writer.isFlushing) {
      this.receiveWaiting()
    }
  }

  /** Reads the chunks that wait, unless another activity will. The last chunks of a transport that has ended (`isLast`) are read even while telling. */
  receiveWaiting (isLast = false): void {
    const before = this.#activity

    if (before !== 'idle' && !(isLast && before === 'telling')) {
      return
    }

    try {
      // the answers to a chunk may bring the next
      while (this.#waitingChunks.length > 0 && !this.#hasStoppedReading) {
        this.#readWaiting(before === 'idle' ? 'answering' : before)
      }
    } finally {
      this.#activity = before
    }
  }

  #readWaiting (next: Activity): void {
    let violation: Error | undefined
    const { loop } = this.writer.turn
    this.#activity = 'receiving'

    try {
      // a flush of replies may bring more
      for (let i = 0; i < this.#waitingChunks.length; i++) {
        const chunk = this.#waitingChunks[i]
        const parts = chunk instanceof Uint8Array ? chunk : partsOf(chunk, 'The muxer')
        const nowMs = this.clock.nowMs()

        for (const { received } of this.observers) {
          received.push(parts)
        }

        // a Uint8ArrayList adds up its length at each call
        const { byteLength } = chunk

        if (byteLength >= this.#youngFromBytes) {
          fillYoungMemory(byteLength)
        }

        this.session.receive(parts, nowMs, loop.onChunk(nowMs), byteLength)
      }
    } catch (err) {
      violation = toError(err, 'A chunk could not be read:')
      this.#hasStoppedReading = true
    } finally {
      // most chunks are alone, and V8 keeps the list's memory on pop()
      if (this.#waitingChunks.length === 1) {
        this.#waitingChunks.pop()
      } else {
        this.#waitingChunks.length = 0
      }

      // telling returns to this
      this.#activity = next
    }

    this.#tell()

    if (violation === undefined) {
      this.request(ON_CHUNK)

      if (this.session.credit.portions?.isWaiting === true) {
        this.timers.scheduleLook()
      }
    }

    this.metrics?.report()

    if (violation !== undefined) {
      this.#host.fail(violation)
    }
  }

  // Called by the session, the timers and the writer

  onGoAway (code: number): void {
    this.#host.onGoAway(code)
  }

  onRefused (streamId: number): void {
    this.metrics?.gather('refusals', 1)
    logDebug(this.log, () => `refused stream ${streamId}, ${this.session.isClosing ? 'this side is closing' : `maxInboundStreams allows ${this.config.maxInboundStreams}`}`)
  }

  onTolerated (streamId: number): void {
    const { initialStreamWindowSize, maxReadBufferLength } = this.config.streamOptions
    logError(this, '%e', new Error(`The peer has sent more on stream ${streamId} than this side allows, as its initialStreamWindowSize is larger than ${initialStreamWindowSize}: set this side's to the same. Up to maxReadBufferLength (${maxReadBufferLength}) is tolerated`))
  }

  fail (err: Error): void {
    this.#host.fail(err)
  }

  onTransmitFailed (err: Error): void {
    this.#host.onTransmitFailed(err)
  }

  /** Hands a write to the transport. Returns false if the transport wants no more until it drains. */
  transmit (bytes: Uint8ArrayList, byteLength: number): boolean {
    if (byteLength >= this.#youngFromBytes) {
      fillYoungMemory(byteLength)
    }

    for (const { sent } of this.observers) {
      sent.push(bytes)
    }

    const takesMore = this.transport.send(bytes)

    if (this.session.finsInBatch.length > 0) {
      this.session.onTransportTook()
    }

    return takesMore
  }

  /** Runs after each flush, so that output of the application becomes the next flush */
  onFlushed (reason: FlushReason, writtenBytes: number): void {
    this.metrics?.onFlush(reason, writtenBytes)

    if (this.#waitingChunks.length > 0) {
      this.receiveWaiting()
    }

    if (this.session.eventful.length > 0 || this.afterTelling.size > 0) {
      this.#tell()
    }

    if (this.session.hasOutput) {
      this.request()
    }

    // sinks are foreign code, which must not run in the middle of a chunk
    if (this.#activity !== 'receiving') {
      this.metrics?.report()
    }
  }

  /** Takes a stream off the list before it is told that it has ended. May run twice for a stream. */
  #unlist ({ owner }: StreamState<Owner>): void {
    if (owner !== undefined) {
      this.#host.onStreamEnded(owner)
    }
  }

  /** Output of a program. With coalescing off it does not wait for the end of `telling`. */
  #requestForStream (): void {
    if (this.#activity !== 'telling' || this.writer.policy.isOff) {
      this.writer.request()
    }
  }

  /** Tells the streams what has happened to them */
  #tell (): void {
    const before = this.#activity

    if (before === 'telling' || before === 'receiving') {
      // the loop below reaches new entries, too; and the middle of a chunk is no time to tell
      return
    }

    const { eventful } = this.session
    let told = 0
    this.#activity = 'telling'

    try {
      while (told < eventful.length) {
        const state = eventful[told++]
        const { events } = state
        state.events = 0

        // a stream that was opened and reset in one chunk is announced only if its data is complete
        if ((events & EVENT_OPENED) !== 0 && (!state.life.isReset || ((events & EVENT_REMOTE_FIN) !== 0 && state.readBuffer.byteLength > 0))) {
          this.#host.onOpened(state)
        }

        if (state.life.isOver) {
          this.#unlist(state)
        }

        state.owner?.handle(events)
      }
    } finally {
      if (told === 1 && eventful.length === 1) {
        // the usual case, without a new array
        eventful.pop()
      } else {
        // after an exception, such as a full stack, the rest is told next time
        eventful.splice(0, told)
      }

      this.#activity = before
    }

    if (this.afterTelling.size > 0) {
      this.afterTelling.forEach(look => { look() })
    }

    // a listener has made the transport bring it
    if (before === 'idle' && this.#waitingChunks.length > 0) {
      this.receiveWaiting()
    }
  }
}
