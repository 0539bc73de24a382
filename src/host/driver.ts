/**
 * Joins a session to its transport and to its streams: feeds it what the transport brings, has the writer write what it says, and
 * tells the streams what has happened to them. Hot.
 *
 * What may run within what:
 *
 * | activity    | what runs                               | a chunk that comes    | what a program sends                    |
 * | ----------- | --------------------------------------- | --------------------- | --------------------------------------- |
 * | `idle`      | nothing of this connection              | is read               | is arranged to be written               |
 * | `receiving` | the core alone, on one chunk after the other | is read next     | no program runs; only replies that pile up are written |
 * | `telling`   | programs, as streams are told           | waits                 | is arranged when all have been told. An abort writes its stream's last bytes within the call. |
 * | `answering` | what a chunk has made due is written    | waits                 | is arranged to be written               |
 *
 * `idle` goes to `receiving`, `telling`, `answering` and back for each chunk, and to `telling` and back after a flush. While the writer is
 * flushing, in any of them, the transport runs and may call back: a chunk waits for the end of the flush; when the transport ends, so does
 * the connection, immediately.
 */
import { ON_CHUNK } from '../core/flush.ts'
import { URGENT } from '../core/scheduler/lane.ts'
import { Session } from '../core/session.ts'
import { EVENT_OPENED, EVENT_REMOTE_FIN } from '../core/stream-state.ts'
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
import type { createFrameTraces } from '../observe/frame-trace.ts'
import type { ConnectionMetrics, NodeMetrics } from '../observe/metrics.ts'
import type { Config } from '../options/config.ts'
import type { Clock } from './clock.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Logger, MessageStream } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

type Chunk = Uint8Array | Uint8ArrayList
type Activity = 'idle' | 'receiving' | 'telling' | 'answering'

/** What an entry of the package puts together for the connections of a node */
export interface NodeParts {
  readonly createPathControl: CreatePathControl
  readonly metrics?: NodeMetrics
  readonly createFrameTraces?: typeof createFrameTraces
}

/** Whom the driver tells of its connection: the muxer */
export interface DriverHost<Owner> {
  /** The peer has opened a stream */
  onOpened (state: StreamState<Owner>): void
  /** A stream has ended, which may be said twice */
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
  readonly #host: DriverHost<Owner>
  readonly #transport: MessageStream
  readonly #traces: ReturnType<typeof createFrameTraces>
  readonly #lateFins: LateFins
  /** Run when streams have been told, behind each chunk and each flush: nobody waits on most connections */
  readonly afterTelling = new Set<() => void>()
  /** From this length on writes and chunks make Node collect young memory */
  readonly #youngFromBytes: number
  #activity: Activity = 'idle'
  /** The session is over, or the peer has broken a rule */
  #hasStoppedReading = false
  /** A transport may bring a chunk while it is written to, or while another chunk is dealt with */
  readonly #waitingChunks: Chunk[] = []

  constructor (transport: MessageStream, config: Config, clock: Clock, parts: NodeParts, host: DriverHost<Owner>) {
    this.config = config
    this.clock = clock
    this.log = transport.log.newScope('yamux')
    this.#transport = transport
    this.#youngFromBytes = config.tuneGarbageCollection ? YOUNG_FROM_BYTES : Infinity
    this.#host = host
    this.session = new Session<Owner>({
      ...config,
      isDialler: transport.direction === 'outbound',
      initialWindowBytes: config.streamOptions.initialStreamWindowSize,
      maxWindowBytes: config.streamOptions.maxStreamWindowSize,
      createPathControl: parts.createPathControl
    }, this)
    this.metrics = parts.metrics?.connect(this.session, this.log)
    this.#traces = parts.createFrameTraces?.(this.log)
    this.streamLog = new StreamLog(() => this.log.newScope('stream'))
    this.timers = new Timers(this.session, clock, config, this)
    this.writer = new Writer(this.session, clock, config, this)
    this.stalls = new Stalls(this.session.credit, clock, this)
    this.#lateFins = new LateFins(this.session, clock, state => { this.closeWrite(state as StreamState<Owner>) })
    // also while a chunk is received
    this.session.control.onRepliesFull = () => { this.writer.flush('forced') }
  }

  // What streams ask for

  isFull (state: StreamState<Owner>): boolean {
    return this.session.lanes.isFull(state)
  }

  mayGoOn (state: StreamState<Owner>): boolean {
    return this.session.lanes.mayGoOn(state)
  }

  /** Hot: runs once per send */
  write (state: StreamState<Owner>, data: Chunk): void {
    this.session.write(state, data instanceof Uint8Array ? data : partsOf(data, 'send()'))

    if (this.metrics !== undefined && state.sendQueue.byteLength > 0) {
      state.waitsSinceMs ??= this.clock.nowMs()
    }

    if (!state.isInDataLane) {
      this.stalls.suspect(state)
    } else if (this.#activity !== 'telling' || this.writer.policy.isOff) {
      // as #requestForStream, without a call for each send
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
    if (!this.#lateFins.keepBack(state)) {
      this.session.closeWrite(state, this.clock.nowMs())
      this.timers.watch(state)
      this.#requestForStream()
    }
  }

  /** Writes what is queued inside the call, as far as credit, the transport and what urgent data may have in flight allow. The reset behind it discards the rest. */
  flushBeforeReset (state: StreamState<Owner>): void {
    if (state.canSendData) {
      // as urgent data: ahead of others, and a little of it also when enough is in flight
      const { lane } = state
      this.session.setLane(state, URGENT)
      this.flushWhile(() => state.canSendData)
      this.session.setLane(state, lane)
    }
  }

  /** Writes what is queued as far as credit and transport allow, while `isDue` says so; within the call, unless a chunk is being read */
  flushWhile (isDue: () => boolean): void {
    if (this.#activity !== 'receiving') {
      this.writer.flushWhile(isDue)
    }
  }

  reset (state: StreamState<Owner>, errorCode: number): void {
    this.session.reset(state, errorCode, this.clock.nowMs())
    this.#onEnded(state)
    this.#requestForStream()
  }

  /** The application has read so much. Hot: runs once per event. */
  read (state: StreamState<Owner>, payloadBytes: number): void {
    if (!this.config.creditsOnReceipt) {
      this.session.credit.giveBack(state, payloadBytes)
    }

    if (this.#activity !== 'telling') {
      this.request()
    }
  }

  // What the muxer asks for

  /** Has the writer write what there is, when it is time. While a chunk is received and streams are told, one request at the end does for all. */
  request (occasion?: number): void {
    if (this.#activity !== 'telling' && this.#activity !== 'receiving') {
      this.writer.request(occasion)
    }
  }

  ping (): void {
    this.session.ping()
    this.request()
  }

  /** Resolves when `isSo`, at the latest when the connection has ended; rejects when the signal is aborted before */
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

  /** What the transport brings from here on is dropped */
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

  /** Reads what the transport has brought, and acts on it, when that may be done now. Also behind a flush, and when the transport is gone (`isLast`). */
  receiveWaiting (isLast = false): void {
    const before = this.#activity

    if (before !== 'idle' && !(isLast && before === 'telling')) {
      return
    }

    try {
      // what is written because of a chunk may bring the next
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
      // also those that come meanwhile
      for (let i = 0; i < this.#waitingChunks.length; i++) {
        const chunk = this.#waitingChunks[i]
        const parts = chunk instanceof Uint8Array ? chunk : partsOf(chunk, 'The muxer')
        const nowMs = this.clock.nowMs()
        this.#traces?.received.push(parts)

        if (chunk.byteLength >= this.#youngFromBytes) {
          fillYoungMemory(chunk.byteLength)
        }

        this.session.receive(parts, nowMs, loop.onChunk(nowMs))
      }
    } catch (err) {
      violation = toError(err, 'A chunk could not be read:')
      this.#hasStoppedReading = true
    } finally {
      // most chunks are alone. To pop one takes 4 ns, to set the length 86, as V8 then drops the memory of the list.
      if (this.#waitingChunks.length === 1) {
        this.#waitingChunks.pop()
      } else {
        this.#waitingChunks.length = 0
      }

      this.#activity = next
    }

    this.#tell()

    if (violation === undefined) {
      this.request(ON_CHUNK)
    }

    this.metrics?.report()

    if (violation !== undefined) {
      this.#host.fail(violation)
    }
  }

  // What the session and the writer say

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

  /** Hands a write down. Returns false when the transport wants no more until it drains. */
  transmit (bytes: Uint8ArrayList, byteLength: number): boolean {
    if (byteLength >= this.#youngFromBytes) {
      fillYoungMemory(byteLength)
    }

    this.#traces?.sent.push(bytes)
    const takesMore = this.#transport.send(bytes)

    if (this.session.finsInBatch.length > 0) {
      this.session.onTransportTook()
    }

    return takesMore
  }

  /** Runs after each flush, outside of it: what it makes the application write is the next flush */
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

    // sinks may do as they like, but not in the middle of a chunk
    if (this.#activity !== 'receiving') {
      this.metrics?.report()
    }
  }

  /** May be said twice of a stream */
  #onEnded ({ owner }: StreamState<Owner>): void {
    if (owner !== undefined) {
      this.#host.onStreamEnded(owner)
    }
  }

  /** A program has said something, so no chunk is being read. While streams are told it waits for the request at the end, but where each frame is a write of its own. */
  #requestForStream (): void {
    if (this.#activity !== 'telling' || this.writer.policy.isOff) {
      this.writer.request()
    }
  }

  /** Tells the streams what has happened to them */
  #tell (): void {
    const before = this.#activity

    if (before === 'telling' || before === 'receiving') {
      // in a listener, whose caller comes to the new entries too, or in the middle of a chunk
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

        // opened and reset in one chunk: nobody need see it, unless all has come
        if ((events & EVENT_OPENED) !== 0 && (!state.life.isReset || ((events & EVENT_REMOTE_FIN) !== 0 && state.readBuffer.byteLength > 0))) {
          this.#host.onOpened(state)
        }

        if (state.life.isOver) {
          this.#onEnded(state)
        }

        state.owner?.handle(events)
      }
    } finally {
      if (told === 1 && eventful.length === 1) {
        // alone, as most chunks are
        eventful.pop()
      } else {
        // behind an exception, such as the end of the stack, the rest is told next time
        eventful.splice(0, told)
      }

      this.#activity = before
    }

    if (this.afterTelling.size > 0) {
      this.afterTelling.forEach(look => { look() })
    }

    // behind a flush: a listener has made the transport bring it
    if (before === 'idle' && this.#waitingChunks.length > 0) {
      this.receiveWaiting()
    }
  }
}
