/**
 * Connects a session to its transport and its streams. The reader handles input and the writer output; streams and the muxer call the driver. Hot.
 */
import { URGENT } from '../core/scheduler/lane.ts'
import { Session } from '../core/session.ts'
import { guardControl } from '../foreign/guarded-control.ts'
import { partsOf } from '../foreign/values.ts'
import { logDebug, logError, StreamLog } from '../observe/log.ts'
import { abortable } from '../foreign/promises.ts'
import { LateFins } from './late-fins.ts'
import { Reader } from './reader.ts'
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
import type { Chunk, ReaderEvents, ReaderHost } from './reader.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Logger, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

/** The parts that an entry of the package chooses for the connections of a node */
export interface NodeParts {
  readonly createPathControl: CreatePathControl
  readonly metrics?: NodeMetrics
  readonly createFrameTraces?: typeof createFrameTraces
}

/** The muxer, as far as the driver calls it */
export interface DriverHost<Owner> extends ReaderEvents<Owner> {
  onGoAway (code: number): void
  onTransmitFailed (err: Error): void
}

export class Driver<Owner extends StreamOwner> implements SessionObserver, ReaderHost<Owner> {
  readonly session: Session<Owner>
  readonly timers: Timers
  readonly writer: Writer
  readonly reader: Reader<Owner>
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
  /** Shorter writes and chunks leave young memory alone */
  readonly youngFromBytes: number

  constructor (transport: MessageStream, config: Config, clock: Clock, parts: NodeParts, host: DriverHost<Owner>) {
    this.config = config
    this.clock = clock
    this.log = transport.log.newScope('yamux')
    this.transport = transport
    this.youngFromBytes = config.tuneGarbageCollection ? YOUNG_FROM_BYTES : Infinity
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
    this.observers = parts.createFrameTraces?.(this.log) ?? []
    this.streamLog = new StreamLog(() => this.log.newScope('stream'))
    this.timers = new Timers(this)
    this.writer = new Writer(this)
    this.reader = new Reader(this, host)
    this.stalls = new Stalls(this)
    this.#lateFins = new LateFins(this)
    this.session.control.onRepliesFull = () => {
      this.writer.flush('forced')
      // the rest of the chunk may answer a ping of this write
      this.session.receivedMs = this.clock.nowMs()
    }
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
    } else if (this.reader.activity !== 'telling' || this.writer.policy.isOff) {
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
      // metrics must not count the wait, as it was in another lane
      state.waitsSinceMs = undefined
      this.session.setLane(state, URGENT)
      this.flushWhile(() => state.canSendData)
      this.session.setLane(state, lane)
    }
  }

  /** Writes queued data within the call while `shouldGoOn` returns true, as far as credit and the transport permit. Not while receiving. */
  flushWhile (shouldGoOn: () => boolean): void {
    if (this.reader.activity !== 'receiving' && !this.writer.isTransportFull) {
      this.writer.flush('forced', shouldGoOn)
    }
  }

  reset (state: StreamState<Owner>, errorCode: number): void {
    this.session.reset(state, errorCode, this.clock.nowMs())

    if (state.owner !== undefined) {
      this.#host.onStreamEnded(state.owner)
    }

    this.#requestForStream()
  }

  /** The application has read these bytes. Hot: runs once per event. */
  read (state: StreamState<Owner>, payloadBytes: number): void {
    if (!this.config.creditsOnReceipt) {
      this.session.credit.giveBack(state, payloadBytes)
    }

    if (this.reader.activity !== 'telling') {
      this.request()
    }
  }

  // What the muxer asks for

  /** Tells the writer that there may be output. The end of `receiving` and `telling` does it once for all that happened meanwhile. */
  request (occasion?: number): void {
    if (this.reader.activity !== 'telling' && this.reader.activity !== 'receiving') {
      this.writer.request(occasion)

      if (this.session.credit.portions !== undefined && this.session.credit.isWithheld) {
        this.timers.scheduleCreditLook()
      }
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

    this.reader.afterTelling.add(look)
    look()

    try {
      await abortable(promise, signal)
    } finally {
      this.reader.afterTelling.delete(look)
    }
  }

  stop (): void {
    this.reader.stop()
    this.#lateFins.stop()
    this.writer.stop()
    this.stalls.stop()
    this.timers.stop()
    this.session.path.end()
    this.reader.afterTelling.forEach(look => { look() })
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
    if (byteLength >= this.youngFromBytes) {
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

    if (this.reader.waitingChunks.length > 0) {
      this.reader.receiveWaiting()
    }

    if (this.session.eventful.length > 0 || this.reader.afterTelling.size > 0) {
      this.reader.tell()
    }

    if (this.session.hasOutput || this.session.credit.portions !== undefined) {
      this.request()
    }

    // sinks are foreign code, which must not run in the middle of a chunk
    if (this.reader.activity !== 'receiving') {
      this.metrics?.report()
    }
  }

  /** Output of a program. With coalescing off it does not wait for the end of `telling`. */
  #requestForStream (): void {
    if (this.reader.activity !== 'telling' || this.writer.policy.isOff) {
      this.writer.request()
    }
  }
}
