/**
 * How streams come to be, are half-closed, reset and forgotten, whichever side asks for it; what
 * they then owe the peer, and what their owners are told.
 */
import { INITIAL_WINDOW_BYTES } from './frame/frame.ts'
import { PeerLimits, RAPID_MS } from './limits/peer-limits.ts'
import { URGENT } from './schedule/lane.ts'
import { WriteScheduler } from './schedule/write-scheduler.ts'
import { StreamRegistry } from './stream-registry.ts'
import { NEWS_FAILED, NEWS_LOCAL_FIN, NEWS_OPENED, NEWS_REMOTE_FIN, NEWS_REMOTE_RST, NEWS_STALLED, OWES_ACK, OWES_FIN, OWES_RST, OWES_SYN, OWES_UPDATE } from './stream-state.ts'
import type { UpdateParts, WindowTuning } from './flow/receive-window.ts'
import type { Limits } from './limits/peer-limits.ts'
import type { RoundTrip } from './round-trip.ts'
import type { StreamRegistryInit } from './stream-registry.ts'
import type { StreamState } from './stream-state.ts'

export interface StreamLifecycleInit extends StreamRegistryInit {
  isDialler: boolean
  /** The largest payload of a frame of a stream that has the connection to itself */
  loneFrameBytes: number
  lowWaterMarkBytes: number
  /** When credit is given back */
  updateParts: UpdateParts
  /** Credit is given back for what arrives, not for what is read */
  creditsOnReceipt: boolean
  limits: Limits
  /** A frame of a stream whose `waitsSinceMs` is known was written */
  onWaited? (lane: number, waitedMs: number): void
  /** A stream that the peer has opened is not taken; nothing may be asked of the session here */
  onRefused? (streamId: number): void
  /** Replies pile up while a chunk is received: `pull` may be called here, or not at all */
  onRepliesFull (): void
}

export class StreamLifecycle<Owner> {
  readonly registry: StreamRegistry<Owner>
  readonly scheduler: WriteScheduler<Owner>
  readonly limits: PeerLimits
  /** Streams with news, each once; their owner empties it */
  readonly withNews: Array<StreamState<Owner>> = []
  /** Whose FIN is in a batch that the transport has not taken yet */
  #finsWritten: Array<StreamState<Owner>> = []
  readonly #roundTrip: RoundTrip
  readonly #windowTuning: WindowTuning
  readonly #onRefused: StreamLifecycleInit['onRefused']

  constructor (init: StreamLifecycleInit, roundTrip: RoundTrip) {
    this.#roundTrip = roundTrip
    this.#onRefused = init.onRefused
    this.registry = new StreamRegistry(init.isDialler, init)
    this.limits = new PeerLimits(init.limits)
    const { budget } = this.registry
    this.#windowTuning = { budget, updateParts: init.updateParts, get roundTripMs () { return roundTrip.smoothedMs } }
    this.scheduler = new WriteScheduler({
      frameBytes: init.frameBytes,
      loneFrameBytes: init.loneFrameBytes,
      lowWaterMarkBytes: init.lowWaterMarkBytes,
      onWaited: (lane, waitedMs) => { init.onWaited?.(lane, waitedMs) },
      onNews: (stream, news) => { this.tell(stream, news) },
      onFinWritten: stream => { this.#finsWritten.push(stream) },
      onFinDue: stream => { this.owe(stream, OWES_FIN) },
      onBlocked: stream => { this.checkStall(stream) },
      onBytesLost: (stream, err, nowMs) => { this.#fail(stream, err, nowMs) },
      onResetWritten: stream => { this.registry.release(stream) },
      onRepliesFull: init.onRepliesFull,
      onPingWritten: nowMs => { roundTrip.sent(nowMs) },
      windowTuning: this.#windowTuning
    })
  }

  openOutbound (nowMs: number): StreamState<Owner> {
    const stream = this.registry.addOutbound(nowMs)
    this.owe(stream, OWES_SYN)

    return stream
  }

  openInbound (id: number, nowMs: number): StreamState<Owner> {
    const stream = this.registry.addInbound(id, nowMs)
    this.owe(stream, OWES_ACK)
    this.tell(stream, NEWS_OPENED)

    return stream
  }

  /** The transport has taken what was written: only now is a FIN one that the peer will see */
  handedDown (): void {
    if (this.#finsWritten.length === 0) {
      return
    }

    for (const stream of this.#finsWritten) {
      // by who was called back from the transport
      if (!stream.isReset) {
        stream.isLocalFinished = true
        this.tell(stream, NEWS_LOCAL_FIN)
        this.#removeIfOver(stream)
      }
    }

    this.#finsWritten = []
  }

  /** The peer gets a RST for its SYN, and may have sent more behind it */
  refuseInbound (id: number, nowMs: number): void {
    this.limits.spend('refusedStreams', nowMs)
    this.limits.expectLate(INITIAL_WINDOW_BYTES, 0)
    this.scheduler.control.replies.refuse(id)
    this.#onRefused?.(id)
  }

  setLane (stream: StreamState<Owner>, lane: number): void {
    if (lane !== stream.lane && !stream.isOver) {
      this.registry.urgentCount += Number(lane === URGENT) - Number(stream.lane === URGENT)
      this.scheduler.data.move(stream, lane)
    }
  }

  /** So many bytes of the window are free again; an update is owed when they are enough */
  giveBack (stream: StreamState<Owner>, payloadBytes: number, nowMs: number): void {
    stream.receiveWindow.read(payloadBytes, nowMs)

    if (stream.receiveWindow.isUpdateDue(nowMs, this.#windowTuning) && !stream.isRemoteFinished && !stream.isReset) {
      this.owe(stream, OWES_UPDATE)

      if (this.#roundTrip.isStale(nowMs)) {
        this.ping()
      }
    }
  }

  /** The peer has less credit, or this side has none */
  checkStall (stream: StreamState<Owner>): void {
    if (stream.isStalled) {
      this.tell(stream, NEWS_STALLED)
    }
  }

  /** Grants a stalled stream more, until `maxUnreadBytes` wait to be read; returns whether there was more to grant */
  relieve (stream: StreamState<Owner>, maxUnreadBytes: number, nowMs: number): boolean {
    // not by what the window is: a loop may have a part of it in hand, and be waiting to send that back
    const roomBytes = maxUnreadBytes - stream.readBuffer.byteLength
    const isRelieved = stream.receiveWindow.relieve(roomBytes, nowMs, this.registry.budget)

    if (isRelieved) {
      this.owe(stream, OWES_UPDATE)
    }

    return isRelieved
  }

  ping (): void {
    this.scheduler.control.ping(this.#roundTrip.begin())
  }

  finishRemote (stream: StreamState<Owner>): void {
    if (!stream.isRemoteFinished) {
      stream.isRemoteFinished = true
      this.tell(stream, NEWS_REMOTE_FIN)
      this.#removeIfOver(stream)
    }
  }

  resetByPeer (stream: StreamState<Owner>, errorCode: number, nowMs: number): void {
    if (!stream.isOutbound && nowMs - stream.openedMs < RAPID_MS) {
      this.limits.spend('resets', nowMs)
    }

    this.forget(stream)
    stream.errorCode = errorCode
    this.tell(stream, NEWS_REMOTE_RST)
  }

  /** Ends the stream in both directions and says so to the peer, if it knows of the stream */
  reset (stream: StreamState<Owner>, errorCode: number, nowMs: number): void {
    if ((stream.owes & OWES_SYN) !== 0) {
      this.forget(stream)
    } else {
      if (!stream.isOutbound && nowMs - stream.openedMs < RAPID_MS) {
        this.limits.noteRefusal(nowMs)
      }

      this.#drop(stream)
      this.limits.expectLate(stream.isRemoteFinished ? 0 : stream.receiveWindow.availableBytes, stream.dataFramesSent)
      stream.errorCode = errorCode
      this.owe(stream, OWES_RST)
    }
  }

  /** Ends the stream in both directions without a word */
  forget (stream: StreamState<Owner>): void {
    this.#drop(stream)
    this.registry.release(stream)
  }

  owe (stream: StreamState<Owner>, what: number): void {
    stream.owes |= what
    this.scheduler.control.enlist(stream)
  }

  tell (stream: StreamState<Owner>, news: number): void {
    if (stream.news === 0) {
      this.withNews.push(stream)
    }

    stream.news |= news
  }

  /** The stream cannot go on, and nothing else is wrong */
  #fail (stream: StreamState<Owner>, err: Error, nowMs: number): void {
    this.reset(stream, 0, nowMs)
    stream.failure = err
    this.tell(stream, NEWS_FAILED)
  }

  #removeIfOver (stream: StreamState<Owner>): void {
    if (stream.isOver) {
      this.registry.acknowledge(stream)
      this.registry.remove(stream)
      this.registry.release(stream)
      this.limits.expectLate(0, stream.dataFramesSent)
    }
  }

  #drop (stream: StreamState<Owner>): void {
    stream.isReset = true
    stream.owes = 0
    // what came of a frame that was cut off can still be read
    stream.readBuffer.endFrame()
    this.scheduler.control.remove(stream)
    this.scheduler.data.discard(stream)
    this.registry.acknowledge(stream)
    this.registry.remove(stream)
  }
}
