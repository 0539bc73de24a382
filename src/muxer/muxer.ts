/**
 * The muxer of one connection as libp2p sees it: opens streams, pings, and ends the connection. The protocol is in core/. driver.ts connects
 * it to the transport and to the streams, and transport-end.ts ends the transport.
 */
import { MuxerClosedError } from '@libp2p/interface'
import { MaxEarlyStreamsError } from '@libp2p/utils'
import { ProtocolError } from '../core/errors.ts'
import { ON_OPENING } from '../core/flush.ts'
import { GoAwayCode } from '../core/wire/frame.ts'
import { GuardedEmitter } from '../foreign/emitter.ts'
import { RemoteGoAwayError, TransportClosedError, YamuxTimeoutError } from '../api/errors.ts'
import { throwIfAborted, toError, toSignal } from '../foreign/values.ts'
import { logDebug, logError, reasonOf } from '../observe/log.ts'
import { createStreamLimits } from '../options/config.ts'
import { abortable, handled } from '../foreign/promises.ts'
import { Driver } from '../host/driver.ts'
import { DRIVER } from './driver-key.ts'
import { StreamList } from './streams.ts'
import { cutAfterFinalFrames, abortTransport, closeTransport, cutTransport } from './transport-end.ts'
import type { CloseOptions, YamuxMuxer } from '../api/types.ts'
import type { Clock } from '../host/clock.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Config } from '../options/config.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { StreamAnnouncer } from './streams.ts'
import type { DriverHost, NodeParts } from '../host/driver.ts'
import type { AbortOptions, CreateStreamOptions, MessageStream, StreamMuxerEvents, StreamMuxerStatus } from '@libp2p/interface'

export const YAMUX_PROTOCOL_ID = '/yamux/1.0.0'

/** Errors that end a connection because of its peer */
const PEERS_ERRORS = [ProtocolError, YamuxTimeoutError, MaxEarlyStreamsError]
/** How long the peer may take to accept queued data if a session is closed without a signal */
const CLOSE_TIMEOUT_MS = 5000
/** How long a closing session waits for a peer to answer its last ping */
const CONFIRM_TIMEOUT_MS = 500

/**
 * The ways in which a connection ends:
 *
 * - close(): sends FINs, a ping that the peer answers once it has read all data, and GoAway. libp2p closes the transport.
 * - abort(): sends resets and GoAway. libp2p aborts the transport.
 * - The peer breaks a rule, or is gone: as abort(), but the muxer cuts the transport.
 * - The peer sends GoAway(0): open streams may finish, then the muxer closes the transport.
 * - The peer sends another GoAway: all streams end, then the muxer cuts the transport.
 * - The transport ends: all streams end.
 * - A flush throws: as if the transport had ended, and the muxer aborts it.
 *
 * The phases after `open`:
 *
 * - `peerGoneAway`: the peer has sent GoAway(0), and accepts no streams. Open streams may finish, and so may those that it opens in breach of the protocol.
 * - `closing`: close() is running, whether or not the peer has sent GoAway
 * - `closed`: close() is done, and the transport is still open
 * - `aborting`: all streams are being reset. Calls of their listeners cannot end the connection in another way.
 * - `ended`: nothing can be sent or received any more
 */
type Phase = 'open' | 'peerGoneAway' | 'closing' | 'closed' | 'aborting' | 'ended'

export class Muxer extends GuardedEmitter<StreamMuxerEvents<MuxedStream>> implements YamuxMuxer, DriverHost<MuxedStream>, StreamAnnouncer {
  readonly protocol = YAMUX_PROTOCOL_ID
  readonly #transport: MessageStream
  readonly #driver: Driver<MuxedStream>
  readonly #streamList: StreamList
  #phase: Phase = 'open'
  #closing: Promise<void> | undefined
  /** Cuts the transport without waiting for the final frames; undefined if libp2p ends it */
  #cutNow: (() => void) | undefined

  constructor (transport: MessageStream, config: Config, clock: Clock, parts: NodeParts) {
    super()
    this.#transport = transport
    this.#driver = new Driver<MuxedStream>(transport, config, clock, parts, this)
    this.#streamList = new StreamList(this.#driver, this)
    transport.addEventListener('message', evt => { this.#driver.reader.receive(evt.data) })
    transport.addEventListener('drain', () => { this.#driver.writer.drained() })
    transport.addEventListener('close', evt => { this.#onTransportClosed(evt.error) })
    this.#driver.timers.start()
  }

  /** `closing` after close() was called or the peer has sent GoAway; `closed` after close() is done or the connection has ended */
  get status (): StreamMuxerStatus {
    const phase = this.#phase

    return phase === 'open' || phase === 'closed' ? phase : phase === 'ended' ? 'closed' : 'closing'
  }

  /** The open streams. Always the same array. */
  get streams (): MuxedStream[] {
    return this.#streamList.current
  }

  /** For snapshots */
  get [DRIVER] (): Driver<MuxedStream> {
    return this.#driver
  }

  /**
   * Opens a stream. Waits while the peer has 256 streams to acknowledge.
   *
   * Throws MuxerClosedError if the connection is ending, and TooManyOutboundProtocolStreamsError beyond `maxOutboundStreams` or if 10,000
   * calls wait. Throws StreamIdsExhaustedError after 2^31 streams, and InvalidParametersError for an option out of its range.
   */
  async createStream (options: CreateStreamOptions = {}): Promise<MuxedStream> {
    const limits = createStreamLimits(options, this.#driver.config.streamOptions)
    const stream = await this.#streamList.open(limits, options.signal)
    this.#driver.request(ON_OPENING)

    return stream
  }

  async ping (options?: AbortOptions): Promise<number> {
    if (this.#phase !== 'open') {
      throw new MuxerClosedError()
    }

    const { session: { roundTrip }, clock } = this.#driver

    // a recent ping is shared
    if (!roundTrip.isPending || roundTrip.isStale(clock.nowMs())) {
      this.#driver.ping()
    }

    // by value, as other pings may be in flight when this one is answered
    const { lastValue } = roundTrip
    let roundTripMs: number | undefined
    await this.#driver.until(() => {
      roundTripMs ??= roundTrip.isAwaited(lastValue) ? undefined : roundTrip.lastMs

      return roundTripMs !== undefined
    }, options?.signal)

    if (roundTripMs === undefined) {
      throw new MuxerClosedError()
    }

    return roundTripMs
  }

  getRTT (): number {
    return this.#driver.session.roundTrip.lastMs ?? -1
  }

  close (options: CloseOptions = {}): Promise<void> {
    return handled(this.#close(options))
  }

  async #close ({ reason = GoAwayCode.NormalTermination, signal: by }: CloseOptions): Promise<void> {
    const signal = toSignal(by)

    if (this.#isClosingHere || this.#isOver) {
      // a failure concerns the first caller; after the end there is nothing to wait for
      await abortable(Promise.resolve(this.#closing).catch(() => {}), this.#phase === 'closing' ? signal : undefined)
      return
    }

    const { session } = this.#driver
    this.#phase = 'closing'
    session.close(this.#driver.clock.nowMs())
    this.#streamList.refuseOpens()
    this.#streamList.takeUnannounced().forEach(stream => { stream.abort(new MuxerClosedError()) })
    this.#logClosed('this side', reason)
    this.#closing = this.#shutDown(reason, signal)

    try {
      await this.#closing
    } finally {
      this.#driver.timers.stop()

      if (this.#phase === 'closing') {
        this.#phase = 'closed'
      }
    }
  }

  /** Ends the session at once: resets every stream, and discards data that the transport does not take now */
  abort (err: Error): void {
    if (!this.#isOver) {
      this.#abortSession(toError(err, 'The connection was aborted with'), 'aborted - %e')
    }
  }

  override onListenerAdded (type: string): void {
    if (type === 'stream') {
      this.#streamList.onListener()
    }
  }

  /** Aborts a stream whose handler has failed, as nothing will use it */
  onListenerError (err: Error, evt: CustomEvent<MuxedStream | null>): void {
    logError(this.#driver, `a listener of ${evt.type} failed - %e`, err)
    evt.detail?.abort(err)
  }

  // Called by the driver and the stream list

  /** The peer opens no more streams. Runs in the middle of a chunk. */
  onGoAway (code: number): void {
    if (this.#phase === 'open') {
      this.#phase = 'peerGoneAway'
      this.#streamList.refuseOpens(new MuxerClosedError('The peer is going away'))
      this.#logClosed('the peer', code)
    }

    this.#driver.reader.afterTelling.add(this.#checkRemoteGoAway)
  }

  /** The peer has opened a stream */
  onOpened (state: StreamState<MuxedStream>): void {
    if (this.#isClosingHere || this.#isOver) {
      // it came in one chunk with a stream whose handler has ended the session
      this.#driver.reset(state, 0)
    } else {
      this.#streamList.onOpenedByPeer(state)
    }
  }

  onStreamEnded (stream: MuxedStream): void {
    this.#streamList.remove(stream)
  }

  /** Announces a stream of the peer to the application */
  announce (stream: MuxedStream): void {
    this.safeDispatchEvent('stream', { detail: stream })
    stream.onAnnounced()
  }

  /** The peer has broken a rule, is gone, or cannot be served. Ends the connection, and gives the peer the reason. */
  fail (err: Error & { code?: string }): void {
    if (!this.#isOver) {
      // all other errors are this program's: from its path control, its listeners or its transport
      if (PEERS_ERRORS.some(PeersError => err instanceof PeersError)) {
        this.#driver.metrics?.gather('violations', { [err.code ?? err.name]: 1 })
      }

      // set up first, as the transport may fail or end within the call that sends the final frames
      this.#cutNow = cutAfterFinalFrames(this.#transport, this.#driver.clock, err)
      this.#abortSession(err, 'connection ended - %e')
    }
  }

  /** A flush has thrown: the transport in send(), or anything else that runs in a flush */
  onTransmitFailed (err: Error): void {
    // these were the final frames, so there is nothing left to wait for
    if (this.#phase === 'aborting') {
      this.#cutNow?.()
      return
    }

    // after close() all data has been handed to the transport: only credit or a pong is lost
    this.#onTransportClosed(this.#phase === 'closed' ? undefined : err)

    // libp2p must learn that the connection is useless, unless it is closing the transport already
    if (this.#transport.status === 'open') {
      abortTransport(this.#transport, err)
    }
  }

  /** Aborting, or ended: nothing more is read, and no further stream begins */
  get #isOver (): boolean {
    return this.#phase === 'ended' || this.#phase === 'aborting'
  }

  /** close() was called here */
  get #isClosingHere (): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  /** Closes all streams for writing, then sends GoAway. Resolves when the transport has all output; rejects only if the caller's signal is aborted. */
  async #shutDown (reason: GoAwayCode, callersSignal?: AbortSignal): Promise<void> {
    const signal = callersSignal ?? AbortSignal.timeout(CLOSE_TIMEOUT_MS)
    const { session } = this.#driver

    // in one write with the FINs, as a peer that closes at the same time may be gone before a second
    if (session.lanes.queuedBytes === 0 && this.#needsConfirmation) {
      session.requestConfirmation()
    }

    await Promise.all([...this.streams].map(async stream => {
      await stream.close({ signal }).catch((err: Error) => {
        // without credit the stream would never close; a stream that has ended meanwhile may still have unread data
        if (stream.status === 'open') {
          stream.abort(err)
        }
      })
    }))

    await this.#dropStreamsAndAwaitPong(signal)

    // a peer that has sent GoAway is about to close its end, and needs none
    if (this.#phase === 'closing' && session.remoteGoAwayCode === undefined) {
      session.goAway(reason)
      this.#driver.request()
      await this.#driver.until(() => !session.hasOutput, signal).catch(() => {
        // without output the transport has all frames
        if (session.hasOutput) {
          throwIfAborted(callersSignal)
        }
      })
    }
  }

  /** The peer may not have read all data, and may be asked. A peer that has sent GoAway is not asked, as its transport may have ended. */
  get #needsConfirmation (): boolean {
    const { hasUnconfirmedData, remoteGoAwayCode } = this.#driver.session

    return hasUnconfirmedData && remoteGoAwayCode === undefined
  }

  /**
   * Ends the streams, drops what the peer still sends, and waits until a mark behind the last data is answered. If the transport closed earlier, the peer might write to a closed socket, credit for
   * instance, and its kernel would then drop data that it has not read. Comes before the GoAway, at which go-libp2p hangs up.
   */
  async #dropStreamsAndAwaitPong (signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'closing' || !this.#needsConfirmation) {
      return
    }

    this.#endStreams(stream => { stream.onClosed() })
    this.#driver.session.requestConfirmation()
    this.#driver.request()
    // all data is handed to the transport, so a timeout is no failure
    await abortable(this.#driver.until(() => !this.#needsConfirmation, AbortSignal.timeout(CONFIRM_TIMEOUT_MS)), signal).catch(() => {})
    // if the peer closes at the same time, its GoAway is read in this turn; another in reply might meet the end of its transport
    await new Promise<void>(resolve => { this.#driver.clock.nextTurn(resolve) })
  }

  /** Runs after each chunk and flush once the peer has sent GoAway: the connection is of no use after the last stream has ended */
  readonly #checkRemoteGoAway = (): void => {
    const { streams, hasOutput } = this.#driver.session
    // set by the GoAway that registered this
    const code = this.#driver.session.remoteGoAwayCode as number

    if (code !== GoAwayCode.NormalTermination) {
      this.#onRemoteFailure(code)
    } else if (this.#phase === 'peerGoneAway' && streams.size === 0 && !hasOutput) {
      // no frame is answered any more, as the peer may be closing its end
      this.#driver.reader.stop()
      this.#driver.reader.afterTelling.delete(this.#checkRemoteGoAway)
      closeTransport(this.#transport, new RemoteGoAwayError(code))
    }
  }

  /** The peer has ended the session with another code than 0 */
  #onRemoteFailure (code: number): void {
    if (this.#phase !== 'ended') {
      const err = new RemoteGoAwayError(code)
      logError(this.#driver, '%e', err)
      this.#announceAll()
      this.#end(stream => { stream.onEnded(err) })
      // without final frames, as the peer ends the connection itself; in the next turn, as the transport may be in the middle of a write
      this.#driver.clock.nextTurn(() => { cutTransport(this.#transport, err) })
    }
  }

  /** Nothing can be sent or received any more */
  #onTransportClosed (cause?: Error): void {
    // chunks that wait are read first, and the application is told of them
    this.#driver.reader.receiveWaiting(true)

    this.#announceAll()

    if (this.#phase === 'ended') {
      return
    }

    this.#logClosed('the transport', undefined, cause)
    const isPeerLeaving = this.#driver.session.remoteGoAwayCode === GoAwayCode.NormalTermination
    const wasClosedHere = this.#isClosingHere

    this.#end((stream, hasUnsent) => {
      const isComplete = stream.remoteWriteStatus === 'closed' && !hasUnsent

      if (isComplete && isPeerLeaving) {
        // the peer left cleanly, so this side's FIN counts as sent
        stream.onFinSent()
      } else if (cause == null && (wasClosedHere || isComplete)) {
        stream.onClosed()
      } else {
        stream.onEnded(new TransportClosedError({ cause }))
      }
    })
  }

  /** Streams that came before the end of the connection can be read */
  #announceAll (): void {
    if (this.#phase !== 'aborting') {
      this.#streamList.announceAll()
    }
  }

  #abortSession (err: Error, message: string): void {
    const { session } = this.#driver
    this.#phase = 'aborting'
    this.#streamList.refuseOpens()
    this.#driver.reader.stop()
    logError(this.#driver, message, err)
    const code = err instanceof ProtocolError ? err.goAwayCode : GoAwayCode.InternalError
    this.#logClosed('this side', code, err)

    for (const state of [...session.streams.values()]) {
      state.owner?.abort(err)
      // a stream may be in the middle of abort() already, while it writes its last data
      session.reset(state, 0, this.#driver.clock.nowMs())
    }

    session.goAway(code)
    this.#driver.writer.flushFinal()
    this.#end(stream => { stream.abort(err) })
  }

  /** Ends every stream and rejects all waiting calls. Runs twice if the transport ends while streams are reset; then no stream is left. */
  #end (endStream: (stream: MuxedStream, hasUnsent: boolean) => void): void {
    const { metrics } = this.#driver
    this.#phase = 'ended'
    this.#streamList.refuseOpens()
    this.#streamList.takeUnannounced()
    this.#driver.stop()
    this.#endStreams(endStream)
    metrics?.end()
  }

  /** Ends every stream without a frame to the peer */
  #endStreams (endStream: (stream: MuxedStream, hasUnsent: boolean) => void): void {
    const { session } = this.#driver

    for (const state of [...session.streams.values()]) {
      const hasUnsent = state.sendQueue.byteLength > 0
      session.abandon(state)

      if (state.owner != null) {
        this.#streamList.remove(state.owner)
        endStream(state.owner, hasUnsent)
      }
    }
  }

  /** Logs who has ended the connection, the GoAway code and the reason */
  #logClosed (who: string, code?: number, err?: Error): void {
    const { log, session } = this.#driver
    logDebug(log, () => `closed by ${who} with ${session.streams.size} open streams${code === undefined ? '' : `, GoAway code ${code}`}${reasonOf(err)}`)
  }
}
