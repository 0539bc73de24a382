/**
 * One connection's muxer as libp2p sees it: opening streams, pings, and how it ends. What the bytes mean is in core/, what
 * joins them to the transport and to the streams in driver.ts, how the transport is ended in transport-end.ts.
 */
import { MuxerClosedError } from '@libp2p/interface'
import { ProtocolError } from '../core/errors.ts'
import { ON_OPENING } from '../core/flush.ts'
import { GoAwayCode } from '../core/wire/frame.ts'
import { GuardedEmitter } from '../foreign/emitter.ts'
import { RemoteGoAwayError, TransportClosedError } from '../api/errors.ts'
import { throwIfAborted, toError, toSignal } from '../foreign/values.ts'
import { logDebug, logError, reasonOf } from '../observe/log.ts'
import { createStreamLimits } from '../options/config.ts'
import { abortable, abortedAfter, handled } from '../foreign/promises.ts'
import { Driver } from '../host/driver.ts'
import { StreamList } from './streams.ts'
import { abortBehindLastWords, abortTransport, closeTransport, cutTransport } from './transport-end.ts'
import type { CloseOptions, YamuxMuxer } from '../api/types.ts'
import type { Clock } from '../host/clock.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { Config } from '../options/config.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { StreamAnnouncer } from './streams.ts'
import type { DriverHost, NodeParts } from '../host/driver.ts'
import type { AbortOptions, CreateStreamOptions, MessageStream, StreamMuxerEvents, StreamMuxerStatus } from '@libp2p/interface'

export const YAMUX_PROTOCOL_ID = '/yamux/1.0.0'

/** How long the peer may take to accept what is queued when a session is closed without a signal */
const CLOSE_TIMEOUT_MS = 5000
/** How long a closing session waits for a peer to answer its last ping */
const CONFIRM_TIMEOUT_MS = 500

/**
 * How a connection comes to its end:
 *
 * - close(): FINs, a ping that the peer answers when it has read all, GoAway. libp2p closes the transport.
 * - abort(): resets, GoAway. libp2p aborts the transport.
 * - the peer breaks a rule, or is gone: as abort(), and the transport is aborted from here
 * - the peer's GoAway(0): open streams get to finish, then the transport is closed from here
 * - another GoAway of the peer: all streams end, then the transport is cut from here
 * - the transport ends: all streams end
 *
 * Its phases beside `open`:
 *
 * - `goneAway`: the peer has said GoAway(0). It takes no streams; open ones get to finish, and so do those that it should not have opened behind it.
 * - `left`: all of them have finished since, and the transport is being closed
 * - `closing`: close() is in flight here, whatever the peer has said
 * - `closed`: close() is done, and the transport is still open
 * - `aborting`: all streams are being reset. What their listeners call begins no other end.
 * - `ended`: nothing can be sent or received any more
 */
type Phase = 'open' | 'goneAway' | 'left' | 'closing' | 'closed' | 'aborting' | 'ended'

const STATUS: Record<Phase, StreamMuxerStatus> = {
  open: 'open',
  goneAway: 'closing',
  left: 'closing',
  closing: 'closing',
  closed: 'closed',
  aborting: 'closing',
  ended: 'closed'
}

export class Muxer extends GuardedEmitter<StreamMuxerEvents<MuxedStream>> implements YamuxMuxer, DriverHost<MuxedStream>, StreamAnnouncer {
  readonly protocol = YAMUX_PROTOCOL_ID
  readonly #transport: MessageStream
  readonly #driver: Driver<MuxedStream>
  readonly #streamList: StreamList
  #phase: Phase = 'open'
  #closing: Promise<void> | undefined
  /** Aborts the transport without waiting for the last words; undefined when libp2p does it */
  #abortTransport: (() => void) | undefined

  constructor (transport: MessageStream, config: Config, clock: Clock, parts: NodeParts) {
    super()
    this.#transport = transport
    this.#driver = new Driver<MuxedStream>(transport, config, clock, parts, this)
    this.#streamList = new StreamList(this.#driver, this)
    transport.addEventListener('message', evt => { this.#driver.receive(evt.data) })
    transport.addEventListener('drain', () => { this.#driver.writer.drained() })
    transport.addEventListener('close', evt => { this.#onTransportClosed(evt.error) })
    this.#driver.timers.start()
  }

  /** `closing` from when either side says that it goes away; `closed` when close() is done, or the connection has ended */
  get status (): StreamMuxerStatus {
    return STATUS[this.#phase]
  }

  /** The open streams, always in the same list */
  get streams (): MuxedStream[] {
    return this.#streamList.current
  }

  /**
   * Opens a stream. Waits while 256 streams are not acknowledged by the peer, or resets that wait to be written hold its place.
   *
   * Throws MuxerClosedError when the connection is ending, TooManyOutboundProtocolStreamsError
   * beyond `maxOutboundStreams`, StreamIdsExhaustedError when 2^31 streams were opened, InvalidParametersError for an option out
   * of its range.
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

    // one that has just been sent is shared
    if (!roundTrip.isPending || roundTrip.isStale(clock.nowMs())) {
      this.#driver.ping()
    }

    // by its own value: others may be in flight when it is answered, or have been begun since
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
    const { roundTrip } = this.#driver.session

    return roundTrip.lastMs ?? -1
  }

  close (options: CloseOptions = {}): Promise<void> {
    return handled(this.#close(options))
  }

  async #close ({ reason = GoAwayCode.NormalTermination, signal: by }: CloseOptions): Promise<void> {
    const signal = toSignal(by)

    if (this.#isClosingHere || this.#isCut) {
      // how that one ends concerns its own caller; behind the end there is nothing to wait for
      await abortable(Promise.resolve(this.#closing).catch(() => {}), this.#phase === 'closing' ? signal : undefined)
      return
    }

    const { session } = this.#driver
    this.#phase = 'closing'
    session.close(this.#driver.clock.nowMs())
    this.#streamList.refuseOpens(new MuxerClosedError())
    this.#streamList.takeUnannounced().forEach(stream => { stream.abort(new MuxerClosedError()) })
    this.#logClosed('this side', reason)
    this.#closing = this.#sayGoodbye(reason, signal)

    try {
      await this.#closing
    } finally {
      this.#driver.timers.stop()

      if (this.#phase === 'closing') {
        this.#phase = 'closed'
      }
    }
  }

  /** Ends the session at once: every stream is reset, and what the transport does not take now is discarded */
  abort (err: Error): void {
    if (!this.#isCut) {
      this.#resetAll(toError(err, 'The connection was aborted with'), 'aborted - %e')
    }
  }

  override onListenerAdded (type: string): void {
    if (type === 'stream') {
      this.#streamList.onListener()
    }
  }

  /** Nobody will use a stream whose handler failed */
  onListenerError (err: Error, evt: CustomEvent<MuxedStream | null>): void {
    logError(this.#driver, `a listener of ${evt.type} failed - %e`, err)
    evt.detail?.abort(err)
  }

  // What the driver says

  /** The peer goes away, and opens no stream any more; said in the middle of a chunk */
  onGoAway (code: number): void {
    if (this.#phase === 'open') {
      this.#phase = 'goneAway'
      this.#streamList.refuseOpens(new MuxerClosedError('The peer is going away'))
      this.#logClosed('the peer', code)
    }

    this.#driver.afterTelling.add(this.#onRemoteLeaving)
  }

  /** The peer has opened a stream */
  onOpened (state: StreamState<MuxedStream>): void {
    if (this.#isClosingHere || this.#isCut) {
      // it came in the same chunk as one whose handler has ended the session
      this.#driver.reset(state, 0)
    } else {
      this.#streamList.onOpenedByPeer(state)
    }
  }

  onStreamEnded (stream: MuxedStream): void {
    this.#streamList.remove(stream)
  }

  /** A program is told of a stream of the peer */
  announce (stream: MuxedStream): void {
    this.safeDispatchEvent('stream', { detail: stream })
    stream.onAnnounced()
  }

  /** The peer has broken a rule, is gone, or cannot be served: tells the peer why, and ends the connection */
  fail (err: Error & { code?: string }): void {
    if (!this.#isCut) {
      this.#driver.metrics?.gather('violations', { [err.code ?? err.name]: 1 })
      // arranged first: a peer that hears the last words within the call, or a transport that fails at them, ends it otherwise
      this.#abortTransport = abortBehindLastWords(this.#transport, this.#driver.clock, err)
      this.#resetAll(err, 'connection ended - %e')
    }
  }

  /** The transport refuses to send */
  onTransmitFailed (err: Error): void {
    // the last words: whoever ends the connection knows why, and need not wait for them
    if (this.#phase === 'aborting') {
      this.#abortTransport?.()
      return
    }

    // behind close() all was handed down: what it refuses is credit or a pong, and no loss
    this.#onTransportClosed(this.#phase === 'closed' ? undefined : err)

    // whoever holds the connection learns that it is of no use; one that is being closed is theirs
    if (this.#transport.status === 'open') {
      abortTransport(this.#transport, err)
    }
  }

  /** The session ends by force, or has ended */
  get #isCut (): boolean {
    return this.#phase === 'ended' || this.#phase === 'aborting'
  }

  /** This side has begun to take its leave */
  get #isClosingHere (): boolean {
    return this.#phase === 'closing' || this.#phase === 'closed'
  }

  /** Streams are closed for writing, then comes GoAway. Resolves when all is handed down; rejects only when the caller's signal is aborted. */
  async #sayGoodbye (reason: GoAwayCode, callersSignal?: AbortSignal): Promise<void> {
    const signal = callersSignal ?? abortedAfter(CLOSE_TIMEOUT_MS)
    const { session } = this.#driver

    // in one write with the FINs: a peer that closes at the same time may be gone before a second
    if (session.lanes.queuedBytes === 0 && this.#awaitsAnswer) {
      session.requestConfirmation()
    }

    await Promise.all([...this.streams].map(async stream => {
      await stream.close({ signal }).catch((err: Error) => {
        // one whose peer gives no credit never will be closed; one that has ended meanwhile may have bytes to be read
        if (stream.status === 'open') {
          stream.abort(err)
        }
      })
    }))

    await this.#awaitLastPong(signal)

    // one that has said GoAway is about to close its end, and needs no other
    if (this.#phase === 'closing' && session.remoteGoAwayCode === undefined) {
      session.goAway(reason)
      this.#driver.request()
      await this.#driver.until(() => !session.hasOutput, signal).catch(() => { throwIfAborted(callersSignal) })
    }
  }

  /** The peer may not have read all yet, and can be asked. Not one that has gone away: the write might meet the end of its transport. */
  get #awaitsAnswer (): boolean {
    const { hasUnconfirmedData, remoteGoAwayCode } = this.#driver.session

    return hasUnconfirmedData && remoteGoAwayCode === undefined
  }

  /**
   * Waits until a mark behind the last bytes is answered. Whoever closes the transport sooner lets the peer write to a socket that is
   * closed, credit for instance, and then its kernel drops what it has not read yet. Before the GoAway, for which go-libp2p hangs up.
   */
  async #awaitLastPong (signal: AbortSignal): Promise<void> {
    if (this.#phase !== 'closing' || !this.#awaitsAnswer) {
      return
    }

    // from here on what the peer sends is dropped, as it would be if the transport were closed
    this.#endStreams(stream => { stream.onClosed() })
    this.#driver.session.requestConfirmation()
    this.#driver.request()
    // all is handed down: to wait no longer is no failure
    await abortable(this.#driver.until(() => !this.#awaitsAnswer, abortedAfter(CONFIRM_TIMEOUT_MS)), signal).catch(() => {})
    // when the peer closes at the same time its GoAway is seen by then: one in return would meet the end of its transport
    await new Promise<void>(resolve => { this.#driver.clock.nextTurn(resolve) })
  }

  /** The peer has gone away. With the last stream the connection is of no use to anybody. */
  readonly #onRemoteLeaving = (): void => {
    const { streams, hasOutput } = this.#driver.session
    // it was said before this runs
    const code = this.#driver.session.remoteGoAwayCode as number

    if (code !== GoAwayCode.NormalTermination) {
      this.#onRemoteFailure(code)
    } else if (this.#phase === 'goneAway' && streams.size === 0 && !hasOutput) {
      // nothing is written any more, no answer either, for the peer may be closing its end
      this.#phase = 'left'
      this.#driver.stopReading()
      closeTransport(this.#transport, new RemoteGoAwayError(code))
    }
  }

  /** The peer ends the session for a reason */
  #onRemoteFailure (code: number): void {
    if (this.#phase !== 'ended') {
      const err = new RemoteGoAwayError(code)
      logError(this.#driver, '%e', err)
      this.#announceAll()
      this.#end(stream => { stream.onEnded(err) })
      // the peer ends the connection itself, and knows why; nor may the transport be in the middle of a write
      this.#driver.clock.nextTurn(() => { cutTransport(this.#transport, err) })
    }
  }

  /** Nothing can be sent or received any more */
  #onTransportClosed (cause?: Error): void {
    // what it has brought comes first, and programs are told of it
    this.#driver.receiveWaiting(true)

    this.#announceAll()

    if (this.#phase === 'ended') {
      return
    }

    this.#logClosed('the transport', undefined, cause)
    const hasPeerLeft = this.#driver.session.remoteGoAwayCode === GoAwayCode.NormalTermination
    const wasClosedHere = this.#isClosingHere

    this.#end((stream, hasUnsent) => {
      const isComplete = stream.remoteWriteStatus === 'closed' && !hasUnsent

      if (isComplete && hasPeerLeft) {
        // the peer left cleanly: our FIN counts as sent
        stream.onFinHandedDown()
      } else if (cause == null && (wasClosedHere || isComplete)) {
        stream.onClosed()
      } else {
        stream.onEnded(new TransportClosedError({ cause }))
      }
    })
  }

  /** What came before the connection ended can be read like all else */
  #announceAll (): void {
    if (this.#phase !== 'aborting') {
      this.#streamList.announceAll()
    }
  }

  #resetAll (err: Error, message: string): void {
    const { session } = this.#driver
    this.#phase = 'aborting'
    this.#streamList.refuseOpens(new MuxerClosedError())
    this.#driver.stopReading()
    logError(this.#driver, message, err)
    const code = err instanceof ProtocolError ? err.goAwayCode : GoAwayCode.InternalError
    this.#logClosed('this side', code, err)

    for (const state of [...session.streams.values()]) {
      state.owner?.abort(err)
      // one that is being aborted already, and hands down its last bytes
      session.reset(state, 0, this.#driver.clock.nowMs())
    }

    session.goAway(code)
    this.#driver.writer.flushFinal()
    this.#end(stream => { stream.abort(err) })
  }

  /** Every stream learns why, and all that waits is settled. Runs twice if the transport ends while streams are reset: no stream is left the second time. */
  #end (endStream: (stream: MuxedStream, hasUnsent: boolean) => void): void {
    const { metrics } = this.#driver
    this.#phase = 'ended'
    this.#streamList.refuseOpens(new MuxerClosedError())
    this.#streamList.takeUnannounced()
    this.#driver.stop()
    this.#endStreams(endStream)
    metrics?.end()
  }

  /** Without a word to the peer */
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

  /** By whom, with which GoAway, and why */
  #logClosed (who: string, code?: number, err?: Error): void {
    const { log, session } = this.#driver
    logDebug(log, () => `closed by ${who} with ${session.streams.size} open streams${code === undefined ? '' : `, GoAway code ${code}`}${reasonOf(err)}`)
  }
}
