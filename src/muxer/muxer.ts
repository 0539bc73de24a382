/**
 * One connection's muxer as libp2p sees it: opening streams, pings and its end. What the bytes mean
 * is in core/session.ts, when they are written in coalescer.ts.
 */
import { MuxerClosedError } from '@libp2p/interface'
import { GoAwayCode } from '../core/frame/frame.ts'
import { Session } from '../core/session.ts'
import { createStreamLimits } from '../config.ts'
import { handled } from '../deferred.ts'
import { GuardedEmitter } from '../guarded-emitter.ts'
import { logDebug, logError } from '../thrown.ts'
import { EarlyStreams } from './early-streams.ts'
import { Ending } from './ending.ts'
import { Goodbye } from './goodbye.ts'
import { Housekeeping } from './housekeeping.ts'
import { Pinger } from './pinger.ts'
import { SessionDriver } from './session-driver.ts'
import { createFlushPolicy } from './strategy.ts'
import { StreamOpener } from './stream-opener.ts'
import { ConnectionMetrics } from '../metrics.ts'
import { LOW_WATER_MARK_BYTES } from '../stream/write-side.ts'
import { YamuxStream } from '../stream/stream.ts'
import type { CloseOptions, YamuxMuxer as Api } from '../api.ts'
import type { Clock } from '../clock.ts'
import type { Config, StreamLimits } from '../config.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { NodeMetrics } from '../metrics.ts'
import type { AbortOptions, CreateStreamOptions, Logger, MessageStream, StreamMessageEvent, StreamMuxerEvents, StreamMuxerStatus } from '@libp2p/interface'

export const YAMUX_PROTOCOL_ID = '/yamux/1.0.0'

export class YamuxMuxer extends GuardedEmitter<StreamMuxerEvents<YamuxStream>> implements Api {
  readonly protocol = YAMUX_PROTOCOL_ID
  /** `closing` from when either side says that it goes away, until the streams in flight and the transport have come to their end */
  status: StreamMuxerStatus = 'open'
  readonly #config: Config
  readonly #log: Logger
  readonly #session: Session<YamuxStream>
  readonly #driver: SessionDriver
  readonly #housekeeping: Housekeeping
  readonly #opener: StreamOpener
  readonly #pinger: Pinger
  #streams: YamuxStream[] | undefined
  #isClosingHere = false
  #closing: Promise<void> | undefined
  /** The peer has gone away, and no stream was left */
  #hasPeerLeft = false
  readonly #earlyStreams: EarlyStreams
  readonly #goodbye: Goodbye
  readonly #ending: Ending

  constructor (maConn: MessageStream, config: Config, clock: Clock, nodeMetrics?: NodeMetrics) {
    super()
    this.#config = config
    this.#log = maConn.log.newScope('yamux')
    this.#session = new Session({
      ...config,
      isDialler: maConn.direction === 'outbound',
      initialWindowBytes: config.streamOptions.initialStreamWindowSize,
      maxWindowBytes: config.streamOptions.maxStreamWindowSize,
      lowWaterMarkBytes: LOW_WATER_MARK_BYTES,
      onWaited: (lane, waitedMs) => { metrics?.onWaited(lane, waitedMs) },
      onRefused: streamId => {
        metrics?.onRefused()
        logDebug(this.#log, () => `refused stream ${streamId}, ${this.#isClosingHere ? 'this side has said GoAway' : `maxInboundStreams allows ${config.maxInboundStreams}`}`)
      },
      onRepliesFull: () => { this.#driver.flush() }
    })
    const onStreamsChanged = (): void => { this.#streams = undefined }
    const metrics = nodeMetrics === undefined ? undefined : new ConnectionMetrics(nodeMetrics, this.#session, this.#log)
    this.#driver = new SessionDriver({
      ...config,
      session: this.#session,
      clock,
      log: this.#log,
      policy: createFlushPolicy(config, clock.shortestTimerMs),
      send: bytes => maConn.send(bytes),
      onOpened: state => { this.#onOpened(state) },
      onStreamsChanged,
      onTransportFull: () => { this.#housekeeping.onTransportFull(clock.nowMs()) },
      onTransportDrained: () => { this.#housekeeping.onTransportDrained() },
      onDeadlineChanged: state => { this.#housekeeping.watch(state) },
      onReceiving: nowMs => { this.#housekeeping.onReceived(nowMs) },
      onReceived: violation => { this.#onReceived(violation) },
      onSendFailed: err => { this.#ending.onSendFailed(this.#isClosingHere, err) },
      metrics,
      onSettled: () => { this.#onSettled() }
    })
    this.#earlyStreams = new EarlyStreams(config.maxEarlyStreams, clock, this.#announce, err => { this.#ending.fail(err) })
    this.#goodbye = new Goodbye(this.#session, this.#driver)
    this.#opener = new StreamOpener({
      session: this.#session,
      maxOutboundStreams: config.maxOutboundStreams,
      nowMs: () => clock.nowMs(),
      create: (state, limits) => this.#createStream(state, limits)
    })
    this.#pinger = new Pinger(this.#session.roundTrip, () => {
      this.#session.ping()
      this.#driver.requestIfOutput()
    })
    this.#housekeeping = new Housekeeping({
      clock,
      keepAliveIntervalMs: config.enableKeepAlive ? config.keepAliveInterval : Infinity,
      timeouts: config.limits,
      streams: () => this.#session.registry.values(),
      ping: () => { this.#pinger.start() },
      pendingPing: () => this.#session.roundTrip.pendingValue,
      onDead: err => { this.#ending.fail(err) }
    })
    this.#ending = new Ending({
      maConn,
      clock,
      log: this.#log,
      session: this.#session,
      driver: this.#driver,
      opener: this.#opener,
      pinger: this.#pinger,
      goodbye: this.#goodbye,
      housekeeping: this.#housekeeping,
      metrics,
      onEnded: () => { this.status = 'closed' },
      onStreamsChanged
    })
    this.#start(maConn)
  }

  #start (maConn: MessageStream): void {
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
   * Opens a stream. Waits while 256 streams are not acknowledged by the peer, or resets that wait to be written hold its place.
   *
   * Throws MuxerClosedError when the connection is ending, TooManyOutboundProtocolStreamsError
   * beyond `maxOutboundStreams`, StreamIdsExhaustedError when 2^31 streams were opened, InvalidParametersError for an option out
   * of its range.
   */
  async createStream (options: CreateStreamOptions = {}): Promise<YamuxStream> {
    const limits = createStreamLimits(options, this.#config.streamOptions)
    const stream = await this.#opener.open(limits, options.signal)
    this.#driver.requestForOpened()

    return stream
  }

  async ping (options?: AbortOptions): Promise<number> {
    if (this.status !== 'open') {
      throw new MuxerClosedError()
    }

    return this.#pinger.ping(options)
  }

  getRTT (): number {
    return this.#session.roundTrip.lastMs ?? -1
  }

  close (options: CloseOptions = {}): Promise<void> {
    return handled(this.#close(options))
  }

  async #close (options: CloseOptions): Promise<void> {
    if (this.#isClosingHere || this.status === 'closed') {
      await this.#closing?.catch(() => {})
      return
    }

    this.#isClosingHere = true
    this.status = 'closing'
    this.#opener.close(new MuxerClosedError())
    const { reason = GoAwayCode.NormalTermination, signal } = options
    this.#ending.logClosed('this side', reason)
    this.#closing = this.#goodbye.say(this.streams, reason, signal)

    try {
      await this.#closing
    } finally {
      this.#housekeeping.stop()
      this.status = 'closed'
    }
  }

  /** Ends the session at once: every stream is reset and everything queued is discarded */
  abort (err: Error): void {
    this.#ending.abort(err)
  }

  override onListenerAdded (type: string): void {
    if (type === 'stream') {
      this.#earlyStreams.announceSoon()
    }
  }

  /** A stream whose handler failed is nobody's */
  onListenerError (err: Error, evt: CustomEvent<YamuxStream | null>): void {
    logError({ log: this.#log }, `a listener of ${evt.type} failed - %e`, err)
    evt.detail?.abort(err)
  }

  #onTransportClosed (cause?: Error): void {
    this.#driver.receiveLast()
    this.#ending.onTransportClosed(this.#isClosingHere, cause)
  }

  readonly #onMessage = (evt: StreamMessageEvent): void => {
    if (!this.#ending.isRunning) {
      return
    }

    this.#driver.receive(evt.data)
  }

  #onReceived (violation: Error | undefined): void {
    if (violation !== undefined) {
      this.#ending.fail(violation)
    } else if ((this.#session.remoteGoAwayCode ?? GoAwayCode.NormalTermination) !== GoAwayCode.NormalTermination) {
      this.#ending.onRemoteGoAway(this.#session.remoteGoAwayCode as number)
    }
  }

  #onSettled (): void {
    if (this.#session.remoteGoAwayCode !== undefined) {
      this.#onRemoteLeaving()
    }

    this.#opener.admit()
    this.#pinger.settle()
    this.#goodbye.settle()
  }

  /** The peer opens no more streams and takes none; those in flight get to finish */
  #onRemoteLeaving (): void {
    // once: an error takes a stack trace, and this runs for every chunk
    if (!this.#opener.isClosed) {
      this.status = 'closing'
      this.#opener.close(new MuxerClosedError('The peer is going away'))
      this.#ending.logClosed('the peer', this.#session.remoteGoAwayCode)
    }

    const { remoteGoAwayCode, registry, hasOutput } = this.#session
    const isLast = remoteGoAwayCode === GoAwayCode.NormalTermination && registry.size === 0 && !hasOutput

    if (isLast && !this.#hasPeerLeft && !this.#isClosingHere && !this.#ending.hasEnded) {
      this.#hasPeerLeft = true
      this.#ending.onRemoteLeft()
    }
  }

  #onOpened (state: StreamState<YamuxStream>): void {
    if (this.#ending.hasEnded) {
      return
    }

    const stream = this.#createStream(state, this.#config.streamOptions)

    if (this.listenerCount('stream') > 0) {
      this.#announce(stream)
    } else {
      this.#earlyStreams.add(stream)
    }
  }

  readonly #announce = (stream: YamuxStream): void => {
    this.safeDispatchEvent('stream', { detail: stream })
  }

  #createStream (state: StreamState<YamuxStream>, limits: StreamLimits): YamuxStream {
    const stream = new YamuxStream({ state, host: this.#driver, limits })
    state.owner = stream
    this.#streams = undefined
    this.#housekeeping.watch(state)

    return stream
  }
}
