/**
 * One stream as libp2p sees it: its events and statuses, and how it is written to. How it is read is in readable-half.ts, what the
 * protocol makes of it in core/session.ts.
 */
import { StreamBufferError, StreamStateError } from '@libp2p/interface'
import { StreamClosedError } from '@libp2p/utils'
import { LANES } from '../core/scheduler/lane.ts'
import { CROWDED_WATERMARK_BYTES } from '../core/scheduler/lanes.ts'
import { EVENT_DATA, EVENT_DRAINED, EVENT_FAILED, EVENT_LOCAL_FIN, EVENT_REMOTE_FIN, EVENT_REMOTE_RST, EVENT_STALLED } from '../core/stream-state.ts'
import { OwnAbortEvent, OwnCloseEvent, OwnResetEvent } from '../foreign/emitter.ts'
import { RemoteResetError } from '../api/errors.ts'
import { errorCodeOf, toError } from '../foreign/values.ts'
import { logDebug, logError, reasonOf } from '../observe/log.ts'
import { toLaneIndex } from '../options/priority.ts'
import { number } from '../options/rules.ts'
import { abortable, handled, withHandledRejection } from '../foreign/promises.ts'
import { ReadableHalf } from './readable-half.ts'
import type { YamuxStream } from '../api/types.ts'
import type { PieceQueue } from '../core/buffers/piece-queue.ts'
import type { Lane } from '../core/scheduler/lane.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { StreamLimits } from '../options/config.ts'
import type { StreamHost, StreamRegistry } from './stream-host.ts'
import type { AbortOptions, Logger, MessageStreamDirection, MessageStreamReadStatus, MessageStreamStatus, MessageStreamTimeline, MessageStreamWriteStatus } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export class MuxedStream extends ReadableHalf<MuxedStream> implements YamuxStream {
  readonly id: string
  readonly direction: MessageStreamDirection
  readonly timeline: MessageStreamTimeline = { open: Date.now() }
  status: MessageStreamStatus = 'open'
  writeStatus: MessageStreamWriteStatus = 'writable'
  remoteReadStatus: MessageStreamReadStatus = 'readable'
  maxWriteBufferLength: number

  readonly #registry: StreamRegistry<MuxedStream>
  #log: Logger | undefined
  #protocol = ''
  #inactivityTimeout: number
  /** Settled when the FIN is handed down, or the stream ends before that */
  #finished: PromiseWithResolvers<void> | undefined
  /** Settled at the next drain */
  #drained: PromiseWithResolvers<void> | undefined
  /** EVENT_REMOTE_FIN, and a reset behind it, that came before any program was told of the stream */
  #untold = 0
  /** Why the stream is over. Made only for those who wait: an error takes a stack trace. */
  #createError: (() => Error) | undefined

  constructor (state: StreamState<MuxedStream>, host: StreamHost<MuxedStream>, registry: StreamRegistry<MuxedStream>, limits: StreamLimits) {
    super(state, host, limits)
    this.#registry = registry
    this.id = String(state.id)
    this.direction = state.isOutbound ? 'outbound' : 'inbound'
    this.#inactivityTimeout = limits.inactivityTimeout
    this.maxWriteBufferLength = limits.maxWriteBufferLength
  }

  /** Made when somebody wants it */
  get log (): Logger {
    this.#log ??= this.host.streamLog.of(this.#label)

    return this.#log
  }

  get protocol (): string {
    return this.#protocol
  }

  /** Set by libp2p when it is agreed on; the stream changes to the lane that `priority` gives the protocol */
  set protocol (protocol: string) {
    this.#protocol = protocol
    this.host.setLane(this.state, this.host.config.laneOf(protocol))
  }

  get inactivityTimeout (): number {
    return this.#inactivityTimeout
  }

  set inactivityTimeout (timeoutMs: number) {
    this.#inactivityTimeout = number()(timeoutMs, 'stream.inactivityTimeout')
    this.host.timers.watch(this.state)
  }

  get priority (): Lane {
    return LANES[this.state.lane]
  }

  set priority (lane: Lane) {
    this.host.setLane(this.state, toLaneIndex(lane, 'stream.priority'))
  }

  get writableNeedsDrain (): boolean {
    return this.state.awaitsDrain
  }

  get writeBufferLength (): number {
    return this.state.sendQueue.byteLength
  }

  /** What is queued; libp2p's own tests look for it by this name */
  get writeBuffer (): PieceQueue {
    return this.state.sendQueue
  }

  /** For logs: a stream holds its whole connection, which is no tree */
  toJSON (): object {
    const { id, direction, protocol, status, readStatus, writeStatus, readBufferLength, writeBufferLength, timeline } = this

    return { id, direction, protocol, status, readStatus, writeStatus, readBufferLength, writeBufferLength, timeline }
  }

  // Writing

  /** Queues data. False means: wait for 'drain' before sending more. Hot. */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (this.writeStatus !== 'writable') {
      // its cause is why the stream has ended, if it has: the writer may have been at something else then
      throw Object.assign(new StreamStateError(`Cannot write to a stream that is ${this.writeStatus}`), { cause: this.#createError?.() })
    }

    const state = this.state
    const wasToldToWait = state.awaitsDrain
    this.host.write(state, data)
    const queuedBytes = state.sendQueue.byteLength

    if (wasToldToWait && queuedBytes > this.maxWriteBufferLength) {
      this.abort(new StreamBufferError(`Write buffer length of ${queuedBytes} exceeded limit of ${this.maxWriteBufferLength}, write status is ${this.writeStatus}`))
      return false
    }

    if (queuedBytes < CROWDED_WATERMARK_BYTES || !this.host.isFull(state)) {
      return true
    }

    state.awaitsDrain = true

    return false
  }

  async onDrain (options?: AbortOptions): Promise<void> {
    if (!this.state.awaitsDrain) {
      return
    }

    if (this.#createError !== undefined) {
      // between send() and here the stream has ended: no drain will come
      throw this.#createError()
    }

    this.#drained ??= withHandledRejection()
    await abortable(this.#drained.promise, options?.signal)
  }

  close (options?: AbortOptions): Promise<void> {
    // many programs do not wait: the stream's own events say how it ends
    return handled(this.#close(options))
  }

  async #close (options?: AbortOptions): Promise<void> {
    if (this.writeStatus === 'closed') {
      return
    }

    this.#finished ??= withHandledRejection()
    const { promise } = this.#finished

    if (this.writeStatus === 'writable') {
      this.writeStatus = 'closing'
      this.sendCloseWrite()
    }

    await abortable(promise, options?.signal).catch(async err => {
      // Stock writes within the call, and so resolves although the signal is aborted. Not in the next turn: before that the peer's
      // answer can come, which @libp2p/ping takes for impossible; it ended the process of a DHT.
      if (options?.signal?.aborted === true) {
        // a FIN that waits for the peer to leave does not wait when it is asked for again
        this.host.closeWrite(this.state)
        this.host.flushWhile(() => this.state.life.writeStatus === 'closing')
      }

      if (this.writeStatus === 'closing') {
        throw err
      }

      await promise
    })
  }

  override onListenerAdded (type: string): void {
    if (type === 'message') {
      this.onReader()
    } else if (type === 'idle') {
      this.state.awaitsIdle = true
    }
  }

  /** Asks for the FIN. Like sendCloseRead a step of its own. */
  protected sendCloseWrite (): void {
    this.host.closeWrite(this.state)
  }

  // Its end

  abort (reason: Error): void {
    const err = toError(reason, 'The stream was aborted with')

    if (this.status !== 'open') {
      // a program that aborts the first stream of the list until there is none comes to its end
      this.#registry.settle()
      this.discardUnread(err)
      return
    }

    const hasQueued = this.writeBufferLength > 0
    this.#end('aborted', err)
    logError(this, 'aborted - %e', err)
    this.host.flushBeforeReset(this.state)
    this.host.reset(this.state, errorCodeOf(err))

    if (hasQueued) {
      this.safeDispatchEvent('idle')
    }

    this.discard(err)
    this.dispatchEvent(new OwnAbortEvent(err))
  }

  /** The handler is in no state to go on: the stream ends, and nothing else does */
  onListenerError (err: Error, evt: Event): void {
    logError(this, `a listener of ${evt.type} failed - %e`, err)
    this.abort(err)
  }

  // What the driver and the muxer say

  /** Bits of EVENT_*. A listener of one may end the stream before the next. Hot: runs once per chunk, and per flush. */
  handle (events: number): void {
    // what comes while the last bytes of an abort are handed down is not wanted any more
    if ((events & EVENT_DATA) !== 0 && this.status !== 'aborted') {
      this.onData()
    }

    if ((events & EVENT_DRAINED) !== 0 && this.status === 'open') {
      this.#onDrained()
    }

    if ((events & ~(EVENT_DATA | EVENT_DRAINED)) !== 0) {
      this.#handleRare(events)
    }
  }

  /** In the order in which it happened, as far as it matters: close() resolves by a FIN that was taken before the peer's RST came */
  #handleRare (told: number): void {
    const events = !this.state.isOutbound && this.#registry.isUnannounced(this) ? this.#holdBack(told) : told

    if ((events & EVENT_LOCAL_FIN) !== 0) {
      this.onFinHandedDown()
    }

    if ((events & EVENT_STALLED) !== 0) {
      this.host.stalls.suspect(this.state)
    }

    if ((events & EVENT_REMOTE_FIN) !== 0) {
      this.#onRemoteFin()
    }

    if ((events & EVENT_FAILED) !== 0) {
      this.abort(this.state.failure as Error)
    }

    if ((events & EVENT_REMOTE_RST) !== 0) {
      this.onEnded(new RemoteResetError(this.state.id, this.state.errorCode))
    }
  }

  #onDrained (): void {
    const state = this.state

    if (state.awaitsDrain && this.host.mayGoOn(state)) {
      state.awaitsDrain = false
      this.#drained?.resolve()
      this.#drained = undefined
      this.safeDispatchEvent('drain')
    }

    if (state.sendQueue.byteLength === 0) {
      this.safeDispatchEvent('idle')
    }
  }

  /** A program was told of the stream, and may listen: what has come since the SYN is told in the order in which it came */
  onAnnounced (): void {
    this.handle(EVENT_DATA | this.#untold)
  }

  /** What has come in whole can be read, also behind a reset. A stream that was reset before is announced to nobody. Returns what the stream is told of now. */
  #holdBack (events: number): number {
    this.#untold |= events & EVENT_REMOTE_FIN

    if (this.#untold !== 0) {
      this.#untold |= events & EVENT_REMOTE_RST
    } else if ((events & EVENT_REMOTE_RST) !== 0) {
      this.#registry.forget(this)
    }

    return events & ~this.#untold
  }

  #onRemoteFin (): void {
    if (this.status === 'open') {
      this.remoteWriteStatus = 'closed'
      this.safeDispatchEvent('remoteCloseWrite')
      this.onRemoteFin()
      this.#closeIfDone()
    }
  }

  /** Nothing more will be sent */
  onFinHandedDown (): void {
    if (this.status === 'open') {
      this.writeStatus = 'closed'
      this.#finished?.resolve()
      this.#closeIfDone()

      if (this.state.hasAnswered) {
        this.host.stalls.suspect(this.state)
      }
    }
  }

  /** This side has said all, and nobody reads: the peer need not send the rest. That is no error, but to a reader that comes after all. */
  refuseRest (): void {
    this.host.reset(this.state, 0)
    this.#end('closed')
    this.discard(new StreamBufferError(`${this.readBufferLength} bytes were discarded: the stream was closed for writing, and nobody read it`))
    this.dispatchEvent(new OwnCloseEvent())
  }

  /** The peer or the transport ended the stream. What had arrived can still be read; the reader gets the error if that is not all. */
  onEnded (err: Error): void {
    if (this.status === 'open') {
      this.#end('reset', err)
      this.onOver(err)
      this.dispatchEvent(new OwnResetEvent(err))
    }
  }

  /** Both directions have come to their end, or the connection is gone and nothing is missing */
  onClosed (): void {
    if (this.status === 'open') {
      this.#end('closed')
      this.onOver()
      this.dispatchEvent(new OwnCloseEvent())
    }
  }

  #closeIfDone (): void {
    if (this.writeStatus === 'closed' && this.remoteWriteStatus === 'closed') {
      this.onClosed()
    }
  }

  #end (status: MessageStreamStatus, err?: Error): void {
    const createError = (): Error => err ?? new StreamClosedError('The stream is closed')

    if (this.writeStatus === 'closing') {
      this.#finished?.reject(createError())
    }

    this.#createError = createError
    this.#drained?.reject(createError())
    this.#drained = undefined
    this.status = status
    this.writeStatus = 'closed'
    this.remoteWriteStatus = 'closed'
    this.remoteReadStatus = 'closed'
    this.timeline.close = Date.now()
    logDebug(this.host.streamLog.shared, () => `${this.#label}: ${status}${reasonOf(err)}`)
  }

  get #label (): string {
    return `${this.direction} ${this.id}`
  }
}
