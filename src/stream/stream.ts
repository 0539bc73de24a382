/**
 * One stream as libp2p sees it: its events, statuses and buffers. How its bytes are read and
 * written is in read-side.ts and write-side.ts, what the protocol makes of it in core/session.ts.
 */
import { StreamAbortEvent, StreamCloseEvent, StreamResetEvent } from '@libp2p/interface'
import { StreamClosedError } from '@libp2p/utils'
import { LANES } from '../core/schedule/lane.ts'
import { handled } from '../deferred.ts'
import { errorCodeOf } from '../errors.ts'
import { GuardedEmitter } from '../guarded-emitter.ts'
import { OptionReader } from '../option-reader.ts'
import { toLaneIndex } from '../priority.ts'
import { logError, reasonOf, toError } from '../thrown.ts'
import { ReadSide } from './read-side.ts'
import { WriteSide } from './write-side.ts'
import type { YamuxStream as Api } from '../api.ts'
import type { Lane } from '../core/schedule/lane.ts'
import type { StreamHost } from './stream-host.ts'
import type { PieceQueue } from '../core/buffer/piece-queue.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { StreamLimits } from '../config.ts'
import type { AbortOptions, Logger, MessageStreamDirection, MessageStreamEvents, MessageStreamReadStatus, MessageStreamStatus, MessageStreamTimeline, MessageStreamWriteStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface YamuxStreamInit {
  state: StreamState<YamuxStream>
  host: StreamHost
  limits: StreamLimits
}

export class YamuxStream extends GuardedEmitter<MessageStreamEvents> implements Api {
  readonly id: string
  readonly direction: MessageStreamDirection
  readonly timeline: MessageStreamTimeline = { open: Date.now() }
  status: MessageStreamStatus = 'open'
  remoteReadStatus: MessageStreamReadStatus = 'readable'
  remoteWriteStatus: MessageStreamWriteStatus = 'writable'
  maxReadBufferLength: number
  maxWriteBufferLength: number

  readonly #state: StreamState<YamuxStream>
  readonly #host: StreamHost
  readonly #reading: ReadSide
  readonly #writing: WriteSide
  #log: Logger | undefined
  #protocol = ''
  #inactivityTimeout: number

  constructor (init: YamuxStreamInit) {
    super()
    this.#state = init.state
    this.#host = init.host
    this.id = String(init.state.id)
    this.direction = init.state.isOutbound ? 'outbound' : 'inbound'
    this.#inactivityTimeout = init.limits.inactivityTimeout
    this.maxReadBufferLength = init.limits.maxReadBufferLength
    this.maxWriteBufferLength = init.limits.maxWriteBufferLength
    this.#writing = new WriteSide(init.state, init.host, this)
    this.#reading = new ReadSide(init.state, init.host, this)
  }

  /** Made when somebody wants it */
  get log (): Logger {
    this.#log ??= this.#host.createLog(this.#label)

    return this.#log
  }

  get protocol (): string {
    return this.#protocol
  }

  /** Set by libp2p when it is agreed on; the stream changes to the lane that `priority` gives the protocol */
  set protocol (protocol: string) {
    this.#protocol = protocol
    this.#host.setLane(this.#state, this.#host.laneOf(protocol))
  }

  get inactivityTimeout (): number {
    return this.#inactivityTimeout
  }

  set inactivityTimeout (timeoutMs: number) {
    this.#inactivityTimeout = new OptionReader({ inactivityTimeout: timeoutMs }, 'stream.').number('inactivityTimeout', NaN, 0, Infinity)
    this.#host.onTimeoutChanged(this.#state)
  }

  get priority (): Lane {
    return LANES[this.#state.lane]
  }

  set priority (lane: Lane) {
    this.#host.setLane(this.#state, toLaneIndex(lane, 'stream.priority'))
  }

  get writeStatus (): MessageStreamWriteStatus {
    return this.#writing.status
  }

  get writableNeedsDrain (): boolean {
    return this.#writing.needsDrain
  }

  get readStatus (): MessageStreamReadStatus {
    return this.#reading.status
  }

  get readableEnded (): boolean {
    return this.#reading.hasEnded
  }

  get readBufferLength (): number {
    return this.#state.readBuffer.byteLength
  }

  get writeBufferLength (): number {
    return this.#state.sendQueue.byteLength
  }

  /** What is queued; libp2p's own tests look for it by this name */
  get writeBuffer (): PieceQueue {
    return this.#state.sendQueue
  }

  /** Queues data. False means: wait for 'drain' before sending more. Hot. */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    return this.#writing.send(data)
  }

  async onDrain (options?: AbortOptions): Promise<void> {
    await this.#writing.onDrain(options)
  }

  pause (): void {
    this.#reading.pause()
  }

  resume (): void {
    this.#reading.resume()
  }

  push (data: Uint8Array | Uint8ArrayList): void {
    this.#reading.push(data)
  }

  unshift (data: Uint8Array | Uint8ArrayList): void {
    this.#reading.unshift(data)
  }

  [Symbol.asyncIterator] (): AsyncGenerator<Uint8Array | Uint8ArrayList> {
    return this.#reading.iterate()
  }

  override onListenerAdded (type: string): void {
    if (type === 'message') {
      this.#reading.onListener()
    }
  }

  close (options?: AbortOptions): Promise<void> {
    // many programs do not wait: the stream's own events say how it ends
    return handled(this.#close(options))
  }

  async #close (options?: AbortOptions): Promise<void> {
    const hasBegun = this.#writing.beginClose()

    if (hasBegun) {
      this.sendCloseWrite()
    }

    await this.#writing.closed(hasBegun, options)
  }

  async closeRead (options?: AbortOptions): Promise<void> {
    options?.signal?.throwIfAborted()

    if (this.readStatus === 'readable' || this.readStatus === 'paused') {
      this.sendCloseRead()
      this.#reading.close()
    }
  }

  /** Asks for the FIN. Like sendCloseRead a step of its own because libp2p's own tests watch it. */
  protected sendCloseWrite (): void {
    this.#host.closeWrite(this.#state)
  }

  /** Yamux has no frame that says "I will not read": what comes is discarded, and credit given back */
  protected sendCloseRead (): void {}

  abort (reason: Error): void {
    const err = toError(reason, 'The stream was aborted with')

    if (this.#isOver) {
      this.#reading.discardUnread(err)
      return
    }

    const hasQueued = this.writeBufferLength > 0
    this.#end('aborted', err)
    logError(this, 'aborted - %e', err)
    this.#host.handDown(this.#state)
    this.#host.reset(this.#state, errorCodeOf(err))

    if (hasQueued) {
      this.safeDispatchEvent('idle')
    }

    this.#reading.abort(err)
    this.dispatchEvent(new StreamAbortEvent(err))
  }

  /** The handler is in no state to go on: the stream ends, and nothing else does */
  onListenerError (err: Error, evt: Event): void {
    logError(this, `a listener of ${evt.type} failed - %e`, err)
    this.abort(err)
  }

  // What the muxer tells

  onData (): void {
    // what comes while the last bytes are handed down is not wanted any more
    if (this.status !== 'aborted') {
      this.#reading.onData()
    }
  }

  onRemoteCloseWrite (): void {
    if (this.#isOver) {
      return
    }

    this.remoteWriteStatus = 'closed'
    this.safeDispatchEvent('remoteCloseWrite')
    this.#reading.onRemoteDone(false)
    this.#closeIfDone()
  }

  onTaken (): void {
    // another stream's drain listener may have ended this one
    if (!this.#isOver) {
      this.#writing.onTaken()
    }
  }

  onFinHandedDown (): void {
    if (!this.#isOver) {
      this.#writing.onFinHandedDown()
      this.#closeIfDone()
    }
  }

  /** The peer or the transport ended the stream; what had arrived can still be read */
  onEnded (err: Error): void {
    if (!this.#isOver) {
      this.#end('reset', err)
      this.#reading.onRemoteDone(true, err)
      this.dispatchEvent(new StreamResetEvent(err))
    }
  }

  /** The connection is gone, and nothing of this stream is missing */
  onClosed (): void {
    if (!this.#isOver) {
      this.#end('closed')
      this.#reading.onRemoteDone(true)
      this.dispatchEvent(new StreamCloseEvent())
    }
  }

  /** In both directions */
  #end (status: MessageStreamStatus, err?: Error): void {
    this.status = status
    this.#writing.end(() => err ?? new StreamClosedError('The stream is closed'))
    this.remoteWriteStatus = 'closed'
    this.remoteReadStatus = 'closed'
    this.timeline.close = Date.now()
    this.#host.logDebug(() => `${this.#label}: ${status}${reasonOf(err)}`)
  }

  get #label (): string {
    return `${this.direction} ${this.id}`
  }

  get #isOver (): boolean {
    return this.status === 'aborted' || this.status === 'reset' || this.status === 'closed'
  }

  #closeIfDone (): void {
    if (this.writeStatus === 'closed' && this.remoteWriteStatus === 'closed') {
      this.onClosed()
    }
  }
}
