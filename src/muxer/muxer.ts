/**
 * One connection's muxer as libp2p sees it: opening streams, pings, and how a session ends. What
 * the bytes mean is in core/session.ts, when they are written in coalescer.ts.
 */
import { MuxerClosedError, TypedEventEmitter } from '@libp2p/interface'
import { off } from '../core/flush/off.ts'
import { turn } from '../core/flush/turn.ts'
import { GoAwayCode } from '../core/frame/frame.ts'
import { ProtocolError } from '../core/protocol-error.ts'
import { Session } from '../core/session.ts'
import { RemoteGoAwayError, TransportClosedError } from '../errors.ts'
import { EarlyStreams } from './early-streams.ts'
import { closeTransport, Goodbye } from './goodbye.ts'
import { Housekeeping } from './housekeeping.ts'
import { Pinger } from './pinger.ts'
import { SessionDriver } from './session-driver.ts'
import { StreamOpener } from './stream-opener.ts'
import { LOW_WATER_MARK_BYTES } from '../stream/write-side.ts'
import { YamuxStream } from '../stream/stream.ts'
import type { Clock } from '../clock.ts'
import type { Config, YamuxStreamOptions } from '../config.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { AbortOptions, CreateStreamOptions, EventHandler, Logger, MessageStream, StreamMessageEvent, StreamMuxer, StreamMuxerEvents, StreamMuxerStatus } from '@libp2p/interface'

export const YAMUX_PROTOCOL_ID = '/yamux/1.0.0'

export interface CloseOptions extends AbortOptions {
  /**
   * @default GoAwayCode.NormalTermination
   */
  reason?: GoAwayCode
}

export class YamuxMuxer extends TypedEventEmitter<StreamMuxerEvents<YamuxStream>> implements StreamMuxer<YamuxStream> {
  readonly protocol = YAMUX_PROTOCOL_ID
  status: StreamMuxerStatus = 'open'
  readonly #maConn: MessageStream
  readonly #config: Config
  readonly #clock: Clock
  readonly #log: Logger
  readonly #session: Session<YamuxStream>
  readonly #driver: SessionDriver
  readonly #housekeeping: Housekeeping
  readonly #opener: StreamOpener
  readonly #pinger: Pinger
  #streams: YamuxStream[] | undefined
  readonly #earlyStreams: EarlyStreams
  readonly #goodbye: Goodbye
  #hasEnded = false

  constructor (maConn: MessageStream, config: Config, clock: Clock) {
    super()
    this.#maConn = maConn
    this.#config = config
    this.#clock = clock
    this.#log = maConn.log.newScope('yamux')
    this.#session = new Session({
      isDialler: maConn.direction === 'outbound',
      frameBytes: config.frameBytes,
      loneFrameBytes: config.loneFrameBytes,
      initialWindowBytes: config.streamOptions.initialStreamWindowSize,
      maxWindowBytes: config.streamOptions.maxStreamWindowSize,
      mergesMessages: config.mergesMessages,
      lowWaterMarkBytes: LOW_WATER_MARK_BYTES,
      maxInboundStreams: config.maxInboundStreams,
      onRepliesFull: () => { this.#driver.flush() }
    })
    this.#driver = new SessionDriver({
      session: this.#session,
      clock,
      log: this.#log,
      policy: config.strategy === 'off' ? off : turn,
      maxBatchBytes: config.maxBatchBytes,
      mergesMessages: config.mergesMessages,
      send: bytes => maConn.send(bytes),
      onOpened: state => { this.#onOpened(state) },
      onStreamsChanged: () => { this.#streams = undefined },
      onSendFailed: err => { this.#onTransportClosed(err) },
      onSettled: () => { this.#onSettled() }
    })
    this.#earlyStreams = new EarlyStreams(config.maxEarlyStreams, stream => { this.safeDispatchEvent('stream', { detail: stream }) })
    this.#goodbye = new Goodbye(this.#session, this.#driver)
    this.#opener = new StreamOpener(this.#session, config.maxOutboundStreams, () => clock.nowMs())
    this.#pinger = new Pinger(this.#session.roundTrip, () => {
      this.#session.ping()
      this.#driver.requestIfOutput()
    })
    this.#housekeeping = new Housekeeping({
      clock,
      keepAliveIntervalMs: config.enableKeepAlive ? config.keepAliveInterval : Infinity,
      streams: () => this.#session.registry.values(),
      ping: () => { this.#pinger.start() },
      onSilence: err => { this.#fail(err) }
    })

    maConn.addEventListener('message', this.#onMessage)
    maConn.addEventListener('drain', () => { this.#driver.drained() })
    maConn.addEventListener('close', evt => { this.#onTransportClosed(evt.error) })
    this.#housekeeping.start()
  }

  /** The open streams; a new list only when they have changed */
  get streams (): YamuxStream[] {
    if (this.#streams == null) {
      this.#streams = []

      for (const { owner } of this.#session.registry.values()) {
        if (owner != null) {
          this.#streams.push(owner)
        }
      }
    }

    return this.#streams
  }

  /**
   * Opens a stream. Waits while 256 streams are not acknowledged by the peer.
   *
   * Throws MuxerClosedError when the connection is ending, TooManyOutboundProtocolStreamsError
   * beyond `maxOutboundStreams`, StreamIdsExhaustedError when 2^31 streams were opened.
   */
  async createStream (options: CreateStreamOptions & YamuxStreamOptions = {}): Promise<YamuxStream> {
    const state = await this.#opener.open(options)
    const stream = this.#createStream(state, options)
    this.#driver.requestIfOutput()

    return stream
  }

  /** Measures the round trip, in milliseconds. Calls while a ping is under way share it. */
  async ping (options?: AbortOptions): Promise<number> {
    if (this.status !== 'open') {
      throw new MuxerClosedError()
    }

    return this.#pinger.ping(options)
  }

  /** The last measured round trip in milliseconds, -1 before the first */
  getRTT (): number {
    return this.#session.roundTrip.lastMs ?? -1
  }

  /**
   * Ends the session in good order: every stream is closed for writing, all that is queued is
   * handed down, then GoAway. Does not wait for what the peer still wants to send.
   */
  async close (options: CloseOptions = {}): Promise<void> {
    if (this.status !== 'open') {
      return
    }

    this.status = 'closing'
    this.#opener.close(new MuxerClosedError())

    try {
      await this.#goodbye.say(this.streams, options.reason ?? GoAwayCode.NormalTermination, options.signal)
    } finally {
      this.#housekeeping.stop()
      this.status = 'closed'
    }
  }

  /** Ends the session at once: every stream is reset and everything queued is discarded */
  abort (err: Error): void {
    if (!this.#hasEnded) {
      this.#log.error('aborted - %e', err)
      this.#resetAll(err)
    }
  }

  override addEventListener<K extends keyof StreamMuxerEvents<YamuxStream>>(type: K, listener: EventHandler<StreamMuxerEvents<YamuxStream>[K]> | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: EventHandler<Event>, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: any, listener: any, options?: boolean | AddEventListenerOptions): void {
    super.addEventListener(type, listener, options)

    if (type === 'stream') {
      this.#earlyStreams.announceSoon()
    }
  }

  readonly #onMessage = (evt: StreamMessageEvent): void => {
    if (this.#hasEnded) {
      return
    }

    const nowMs = this.#clock.nowMs()
    this.#housekeeping.onReceived(nowMs)
    const violation = this.#driver.receive(evt.data, nowMs)

    if (violation != null) {
      this.#fail(violation)
    } else if (this.#session.remoteGoAwayCode != null) {
      this.#onRemoteGoAway(this.#session.remoteGoAwayCode)
    }
  }

  #onSettled (): void {
    if (this.#session.remoteGoAwayCode != null) {
      this.#opener.close(new MuxerClosedError('The peer is going away'))
    }

    this.#opener.admit()
    this.#pinger.settle()
    this.#goodbye.settle()
  }

  #onOpened (state: StreamState<YamuxStream>): void {
    if (this.#hasEnded) {
      return
    }

    const stream = this.#createStream(state, {})

    if (this.listenerCount('stream') > 0) {
      this.safeDispatchEvent('stream', { detail: stream })
      return
    }

    const tooMany = this.#earlyStreams.add(stream)

    if (tooMany != null) {
      this.#fail(tooMany)
    }
  }

  #createStream (state: StreamState<YamuxStream>, options: CreateStreamOptions & YamuxStreamOptions): YamuxStream {
    const stream = new YamuxStream({
      state,
      host: this.#driver,
      defaults: this.#config.streamOptions,
      options
    })

    state.owner = stream
    this.#streams = undefined
    this.#housekeeping.onStream(stream.inactivityTimeout)

    return stream
  }

  // The end

  #onRemoteGoAway (code: number): void {
    if (code !== GoAwayCode.NormalTermination && !this.#hasEnded) {
      const err = new RemoteGoAwayError(code)
      this.#log.error('%e', err)
      this.#end(stream => { stream.onEnded(err) })
      closeTransport(this.#maConn, err)
    }
  }

  #onTransportClosed (cause?: Error): void {
    if (this.#hasEnded) {
      return
    }

    const wasClosedHere = this.status !== 'open'
    this.#end((stream, hasUnsent) => {
      const isComplete = stream.remoteWriteStatus === 'closed' && !hasUnsent

      if (cause == null && (wasClosedHere || isComplete)) {
        stream.onClosed()
      } else {
        stream.onEnded(new TransportClosedError({ cause }))
      }
    })
  }

  /** The peer has broken a rule, or cannot be served: tells it why, and ends the connection */
  #fail (err: Error): void {
    if (!this.#hasEnded) {
      this.#log.error('connection ended - %e', err)
      this.#resetAll(err)
      closeTransport(this.#maConn, err)
    }
  }

  #resetAll (err: Error): void {
    for (const stream of this.streams) {
      stream.abort(err)
    }

    this.#session.goAway(err instanceof ProtocolError ? err.goAwayCode : GoAwayCode.InternalError)
    this.#driver.flushRegardless()
    this.#end(stream => { stream.abort(err) })
  }

  /** Nothing is sent or received any more; all that waits is settled */
  #end (endStream: (stream: YamuxStream, hasUnsent: boolean) => void): void {
    this.#hasEnded = true
    this.status = 'closed'
    this.#driver.stop()
    this.#housekeeping.stop()
    this.#opener.close(new MuxerClosedError())
    this.#pinger.reject(new MuxerClosedError())
    this.#goodbye.end()

    for (const state of [...this.#session.registry.values()]) {
      const hasUnsent = state.sendQueue.byteLength > 0
      this.#session.forget(state)
      this.#streams = undefined

      if (state.owner != null) {
        endStream(state.owner, hasUnsent)
      }
    }
  }
}
