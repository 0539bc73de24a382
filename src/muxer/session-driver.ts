/**
 * Drives a session: feeds it what the transport brings, writes what it has to say when the
 * coalescer finds it time, and tells the streams what has happened to them.
 */
import { partsOf } from '../bytes.ts'
import { Coalescer } from './coalescer.ts'
import { createFrameTraces } from './frame-trace.ts'
import { InboundChunks } from './inbound-chunks.ts'
import { LateFins } from './late-fins.ts'
import { Stalls } from './stalls.ts'
import { StreamLog } from './stream-log.ts'
import { NEWS_DATA, NEWS_FAILED, NEWS_LOCAL_FIN, NEWS_OPENED, NEWS_REMOTE_FIN, NEWS_REMOTE_RST, NEWS_STALLED, NEWS_TAKEN } from '../core/stream-state.ts'
import { RemoteResetError } from '../errors.ts'
import { logDebug } from '../thrown.ts'
import type { Clock } from '../clock.ts'
import type { ConnectionMetrics } from '../metrics.ts'
import type { FlushOccasion, FlushPolicy } from '../core/flush/flush-policy.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { LaneOf } from '../priority.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { StreamHost } from '../stream/stream-host.ts'
import type { Logger } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SessionDriverInit {
  session: Session<YamuxStream>
  clock: Clock
  log: Logger
  policy: FlushPolicy
  maxBatchBytes: number
  /** What is left to urgent data of each write while the transport is slower than the streams */
  reservedBytes: number
  metrics: ConnectionMetrics | undefined
  laneOf: LaneOf
  creditsOnReceipt: boolean
  send (bytes: Uint8ArrayList): boolean
  /** The peer has opened a stream */
  onOpened (state: StreamState<YamuxStream>): void
  /** A stream has ended, the list of streams is another */
  onStreamsChanged (): void
  onTransportFull (): void
  onTransportDrained (): void
  /** A stream may be overdue sooner than before */
  onDeadlineChanged (state: StreamState<YamuxStream>): void
  /** The transport has brought something */
  onReceiving (nowMs: number): void
  /** What the transport has brought was dealt with, up to the peer's violation of the protocol if there is one */
  onReceived (violation: Error | undefined): void
  /** The transport refuses to send */
  onSendFailed (err: Error): void
  /** Runs after the streams have been told, with nothing else under way */
  onSettled (): void
}

export class SessionDriver implements StreamHost {
  readonly laneOf: LaneOf
  readonly creditsOnReceipt: boolean
  readonly #init: SessionDriverInit
  readonly #session: Session<YamuxStream>
  readonly #coalescer: Coalescer
  readonly #traces: ReturnType<typeof createFrameTraces>
  readonly #streamLog: StreamLog
  readonly #stalls: Stalls
  readonly #lateFins: LateFins
  #isTellingNews = false
  readonly #chunks = new InboundChunks(chunk => { this.#receiveChunk(chunk) }, violation => { this.#onReceived(violation) })

  constructor (init: SessionDriverInit) {
    this.#init = init
    this.laneOf = init.laneOf
    this.creditsOnReceipt = init.creditsOnReceipt
    this.#session = init.session
    this.#traces = createFrameTraces(init.log)
    this.#streamLog = new StreamLog(() => init.log.newScope('stream'))
    this.#stalls = new Stalls({
      ...init,
      onRelieved: () => { this.requestIfOutput() },
      onStalled: () => {
        init.metrics?.onStalled()
        this.#reportMetrics()
      }
    })
    this.#lateFins = new LateFins(init.session, init.clock, state => { this.closeWrite(state) })
    this.#coalescer = new Coalescer({
      policy: init.policy,
      clock: init.clock,
      output: init.session,
      maxBatchBytes: init.maxBatchBytes,
      pull: isBackedUp => init.session.pull(init.maxBatchBytes, init.policy.maxFramesPerWrite, init.clock.nowMs(), isBackedUp ? init.reservedBytes : 0),
      send: bytes => {
        this.#traces?.sent.push(bytes)

        return this.#chunks.send(() => {
          const takesMore = init.send(bytes)
          init.session.handedDown()

          return takesMore
        })
      },
      onFlushed: (reason, writtenBytes) => {
        init.metrics?.onFlush(reason, writtenBytes)
        this.#tellNews()
        this.requestIfOutput()
        this.#reportMetrics()
      },
      onTransportFull: init.onTransportFull,
      onTransportDrained: init.onTransportDrained,
      onError: init.onSendFailed
    })
  }

  // What streams ask for

  /** Hot: runs once per send */
  write (state: StreamState<YamuxStream>, data: Uint8Array | Uint8ArrayList): void {
    if (data instanceof Uint8Array) {
      this.#session.write(state, data)
    } else {
      this.#session.writeParts(state, partsOf(data, 'send()'))
    }

    if (this.#init.metrics !== undefined && state.sendQueue.byteLength > 0) {
      state.waitsSinceMs ??= this.#init.clock.nowMs()
    }

    if (state.isStalled) {
      this.#stalls.suspect(state)
    }

    this.#coalescer.request()
  }

  setLane (state: StreamState<YamuxStream>, lane: number): void {
    this.#session.setLane(state, lane)
    this.requestIfOutput()
  }

  closeWrite (state: StreamState<YamuxStream>): void {
    if (this.#lateFins.holdBack(state)) {
      return
    }

    this.#session.closeWrite(state, this.#init.clock.nowMs())
    this.#init.onDeadlineChanged(state)
    this.#coalescer.request()
  }

  handDown (state: StreamState<YamuxStream>): void {
    // a chunk that is being received can wait for nothing
    if (state.canSendData && !this.#chunks.isReceiving) {
      this.#coalescer.flushWhile(() => state.canSendData)
    }
  }

  reset (state: StreamState<YamuxStream>, errorCode: number): void {
    this.#session.reset(state, errorCode, this.#init.clock.nowMs())
    this.#init.onStreamsChanged()
    this.#coalescer.request()
  }

  read (state: StreamState<YamuxStream>, payloadBytes: number): void {
    this.#session.read(state, payloadBytes)
    this.requestIfOutput()
  }

  later (task: () => void): void {
    this.#init.clock.setTimer(task, 0)
  }

  onTimeoutChanged (state: StreamState<YamuxStream>): void {
    this.#init.onDeadlineChanged(state)
  }

  createLog (label: string): Logger {
    return this.#streamLog.of(label)
  }

  logDebug (describe: () => string): void {
    logDebug(this.#streamLog.shared, describe)
  }

  // What the muxer asks for

  /** Takes what the transport brings */
  receive (chunk: Uint8Array | Uint8ArrayList): void {
    this.#chunks.push(chunk)
  }

  /** The transport is gone: what it has brought comes first */
  receiveLast (): void {
    this.#chunks.flush()
  }

  #receiveChunk (data: Uint8Array | Uint8ArrayList): void {
    const chunk = data instanceof Uint8Array ? data : partsOf(data, 'The muxer')
    const nowMs = this.#init.clock.nowMs()
    this.#init.onReceiving(nowMs)
    this.#traces?.received.push(chunk)
    this.#session.receive(chunk, nowMs)
  }

  #onReceived (violation: Error | undefined): void {
    this.#tellNews()

    if (violation === undefined) {
      this.requestIfOutput('chunk')
    }

    this.#reportMetrics()
    this.#init.onReceived(violation)
  }

  /** While a chunk is received and news are told, one request at the end does for all */
  requestIfOutput (occasion?: FlushOccasion): void {
    if (this.#mayRequest) {
      this.#coalescer.request(occasion)
    }
  }

  requestForOpened (): void {
    if (this.#mayRequest) {
      this.#coalescer.requestForOpened()
    }
  }

  /** Writes what the transport takes, inside this call */
  flush (): void {
    this.#coalescer.flush('forced')
  }

  drained (): void {
    this.#coalescer.drained()
  }

  flushRegardless (): void {
    this.#coalescer.flushRegardless()
  }

  stop (): void {
    this.#lateFins.stop()
    this.#coalescer.stop()
    this.#stalls.stop()
  }

  /** Sinks may do as they like, but not in the middle of a chunk */
  #reportMetrics (): void {
    if (!this.#chunks.isReceiving) {
      this.#init.metrics?.report()
    }
  }

  get #mayRequest (): boolean {
    return !this.#isTellingNews && !this.#chunks.isReceiving && this.#session.hasOutput
  }

  /** Hot: runs once per inbound chunk and once per flush */
  #tellNews (): void {
    if (this.#isTellingNews || this.#chunks.isReceiving) {
      // a listener has caused a flush: the loop that called it comes to the new entries too
      return
    }

    const withNews = this.#session.withNews
    let told = 0
    this.#isTellingNews = true

    try {
      while (told < withNews.length) {
        const state = withNews[told++]
        const news = state.news
        state.news = 0
        this.#tell(state, news)
      }
    } finally {
      if (told === withNews.length) {
        withNews.length = 0
      } else {
        // the stack has ended: the rest is told next time
        withNews.splice(0, told)
      }

      this.#isTellingNews = false
    }

    this.#init.onSettled()
  }

  #tell (state: StreamState<YamuxStream>, news: number): void {
    // opened and reset in one chunk: nobody need see it
    if ((news & NEWS_OPENED) !== 0 && !state.isReset) {
      this.#init.onOpened(state)
    }

    if (state.isOver) {
      this.#init.onStreamsChanged()
    }

    const stream = state.owner

    if (stream == null) {
      return
    }

    if ((news & NEWS_DATA) !== 0) {
      stream.onData()
    }

    if ((news & NEWS_TAKEN) !== 0) {
      stream.onTaken()
    }

    if ((news & NEWS_LOCAL_FIN) !== 0) {
      stream.onFinHandedDown()
    }

    if ((news & NEWS_STALLED) !== 0) {
      this.#stalls.suspect(state)
    }

    if ((news & NEWS_REMOTE_FIN) !== 0) {
      stream.onRemoteCloseWrite()
    }

    if ((news & NEWS_FAILED) !== 0) {
      stream.abort(state.failure as Error)
    }

    if ((news & NEWS_REMOTE_RST) !== 0) {
      stream.onEnded(new RemoteResetError(state.id, state.errorCode))
    }
  }
}
