/**
 * One stream as libp2p sees it: events, statuses, writing, and the end. Reading is in readable-half.ts, the protocol in core/session.ts.
 *
 * A stream ends once, in one of these ways:
 *
 * | method       | because                                                | frame | unread data  | status    |
 * | ------------ | ------------------------------------------------------ | ----- | ------------ | --------- |
 * | `onClosed`   | both directions have ended, and nothing is missing     | none  | can be read  | `closed`  |
 * | `onEnded`    | the peer has reset it, or the connection has ended     | none  | can be read  | `reset`   |
 * | `abort`      | the application calls it, or something has failed here | RST   | is discarded | `aborted` |
 * | `refuseRest` | this side has closed it, and nothing reads it          | RST   | is discarded | `closed`  |
 */
import { StreamBufferError, StreamStateError } from '@libp2p/interface'
import { StreamClosedError } from '@libp2p/utils'
import { LANES } from '../core/scheduler/lane.ts'
import { CROWDED_WATERMARK_BYTES } from '../core/scheduler/watermarks.ts'
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
  /** Settles when the FIN is handed to the transport, or the stream ends before that */
  #finished: PromiseWithResolvers<void> | undefined
  /** Settles at the next drain, or when the stream ends */
  #drained: PromiseWithResolvers<void> | undefined
  /** EVENT_REMOTE_FIN, and a reset after it, that came before the stream was announced */
  #heldBackEvents = 0
  /** Why the stream has ended. A function, as an error takes a stack trace and is rarely needed. */
  #createError: (() => Error) | undefined

  constructor (state: StreamState<MuxedStream>, host: StreamHost<MuxedStream>, registry: StreamRegistry<MuxedStream>, limits: StreamLimits) {
    super(state, host, limits)
    this.#registry = registry
    this.id = String(state.id)
    this.direction = state.isOutbound ? 'outbound' : 'inbound'
    this.#inactivityTimeout = limits.inactivityTimeout
    this.maxWriteBufferLength = limits.maxWriteBufferLength
  }

  /** Created on first use */
  get log (): Logger {
    this.#log ??= this.host.streamLog.of(this.#label)

    return this.#log
  }

  get protocol (): string {
    return this.#protocol
  }

  /** Set by libp2p after negotiation. Moves the stream to the lane that the `priority` option gives the protocol. */
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

  /** The queued data, under the name that libp2p's own tests use */
  get writeBuffer (): PieceQueue {
    return this.state.sendQueue
  }

  /** For logs: a stream refers to its whole connection, which has cycles */
  toJSON (): object {
    const { id, direction, protocol, status, readStatus, writeStatus, readBufferLength, writeBufferLength, timeline } = this

    return { id, direction, protocol, status, readStatus, writeStatus, readBufferLength, writeBufferLength, timeline }
  }

  // Writing

  /** Queues data. Returns false if the caller should wait for 'drain' before it sends more. Hot. */
  send (data: Uint8Array | Uint8ArrayList): boolean {
    if (this.writeStatus !== 'writable') {
      // the cause is why the stream has ended, if it has: the writer may not have noticed
      throw Object.assign(new StreamStateError(`Cannot write to a stream that is ${this.writeStatus}`), { cause: this.#createError?.() })
    }

    const state = this.state
    const wasToldToWait = state.awaitsDrain
    this.host.send(state, data)
    const queuedBytes = state.sendQueue.byteLength

    if (wasToldToWait && queuedBytes > this.maxWriteBufferLength) {
      this.abort(new StreamBufferError(`Write buffer length of ${queuedBytes} exceeded limit of ${this.maxWriteBufferLength}, write status is ${this.writeStatus}`))
      return false
    }

    if (queuedBytes < CROWDED_WATERMARK_BYTES || !this.host.session.lanes.isFull(state)) {
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
      // the stream has ended since send(): no drain will come
      throw this.#createError()
    }

    this.#drained ??= withHandledRejection()
    await abortable(this.#drained.promise, options?.signal)
  }

  close (options?: AbortOptions): Promise<void> {
    // many applications do not await it: the stream's events report how it ends
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
      // The stock muxer writes within the call, and so resolves even if the signal is aborted. This writes within the call too: by the next
      // turn the peer's answer could have come, which @libp2p/ping does not expect.
      if (options?.signal?.aborted === true) {
        // LateFins delays a FIN only once
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
      this.onMessageListener()
    } else if (type === 'idle') {
      this.state.awaitsIdle = true
    }
  }

  /** Requests the FIN. A method because libp2p's own tests spy on it, like sendCloseRead. */
  protected sendCloseWrite (): void {
    this.host.closeWrite(this.state)
  }

  // The end of the stream

  abort (reason: Error): void {
    const err = toError(reason, 'The stream was aborted with')

    if (this.status !== 'open') {
      // so that a loop which keeps aborting the first stream in the list terminates
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

  /** A failed handler cannot go on: this ends its stream, and nothing else */
  onListenerError (err: Error, evt: Event): void {
    logError(this, `a listener of ${evt.type} failed - %e`, err)
    this.abort(err)
  }

  // Called by the driver and the muxer

  /** Takes bits of EVENT_*. A listener of one event may end the stream before the next. Hot: runs once per chunk, and per flush. */
  handle (events: number): void {
    // data that comes while abort() writes the last bytes is dropped
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

  /** Handled in the order they happened, where that matters: if our FIN was sent before the peer's RST arrived, close() resolves */
  #handleRare (allEvents: number): void {
    const events = !this.state.isOutbound && this.#registry.isUnannounced(this) ? this.#holdBack(allEvents) : allEvents

    if ((events & EVENT_LOCAL_FIN) !== 0) {
      this.onFinSent()
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

    if (state.awaitsDrain && this.host.session.lanes.mayResume(state)) {
      state.awaitsDrain = false
      this.#drained?.resolve()
      this.#drained = undefined
      this.safeDispatchEvent('drain')
    }

    if (state.sendQueue.byteLength === 0) {
      this.safeDispatchEvent('idle')
    }
  }

  /** The application may have added listeners: handles the events since the SYN, in their order */
  onAnnounced (): void {
    this.handle(EVENT_DATA | this.#heldBackEvents)
  }

  /**
   * Holds back the end of a stream that is not announced yet. Complete data can be read even if a reset follows; a stream that is reset
   * before its FIN is never announced. Returns the events to handle now.
   */
  #holdBack (events: number): number {
    this.#heldBackEvents |= events & EVENT_REMOTE_FIN

    if (this.#heldBackEvents !== 0) {
      this.#heldBackEvents |= events & EVENT_REMOTE_RST
    } else if ((events & EVENT_REMOTE_RST) !== 0) {
      this.#registry.cancelAnnouncement(this)
    }

    return events & ~this.#heldBackEvents
  }

  #onRemoteFin (): void {
    if (this.status === 'open') {
      this.remoteWriteStatus = 'closed'
      this.safeDispatchEvent('remoteCloseWrite')
      this.onRemoteFin()
      this.#closeIfDone()
    }
  }

  /** The FIN is handed to the transport */
  onFinSent (): void {
    if (this.status === 'open') {
      this.writeStatus = 'closed'
      this.#finished?.resolve()
      this.#closeIfDone()

      if (this.state.hasClosedPeersStream) {
        this.host.stalls.suspect(this.state)
      }
    }
  }

  /** This side has sent its FIN and has no reader, so a reset refuses further data. Only a reader that comes later sees an error. */
  refuseRest (): void {
    // before the reset, whose write may call listeners that abort this stream
    this.#end('closed')
    this.host.reset(this.state, 0)
    this.discard(new StreamBufferError(`Stream ${this.id} was closed for writing and not read, ${this.readBufferLength} bytes were discarded`))
    this.dispatchEvent(new OwnCloseEvent())
  }

  /** The peer or the transport has ended the stream. Data that has arrived can still be read; the reader gets the error if data is missing. */
  onEnded (err: Error): void {
    if (this.status === 'open') {
      this.#end('reset', err)
      this.onOver(err)
      this.dispatchEvent(new OwnResetEvent(err))
    }
  }

  /** Both directions have ended, or the connection is gone and no data is missing */
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

    this.host.stalls.forget(this.state)
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
