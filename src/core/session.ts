/**
 * One yamux session: its streams, how they begin and end, and their events. Pure: bytes and time go in, bytes and events come out.
 * receiver.ts handles the peer's frames, sender.ts builds the next write.
 */
import { PeerLimits, RAPID_MS } from './peer-limits.ts'
import { Positions } from './positions.ts'
import { Receiver } from './receiver.ts'
import { ControlLane } from './scheduler/control.ts'
import { URGENT } from './scheduler/lane.ts'
import { DataLanes } from './scheduler/lanes.ts'
import { Sender } from './sender.ts'
import { EVENT_DRAINED, EVENT_FAILED, EVENT_LOCAL_FIN, EVENT_OPENED, EVENT_REMOTE_FIN, EVENT_REMOTE_RST, PENDING_ACK, PENDING_FIN, PENDING_RST, PENDING_SYN } from './stream-state.ts'
import { StreamTable } from './stream-table.ts'
import { Credit } from './window/credit.ts'
import { RoundTrip } from './window/round-trip.ts'
import { FIRST_MARK_VALUE, GoAwayCode, INITIAL_WINDOW_BYTES } from './wire/frame.ts'
import type { PathControl } from './path-control.ts'
import type { SessionInit } from './session-init.ts'
import type { StreamState } from './stream-state.ts'

/** Watches a session, and must not call back into it */
export interface SessionObserver {
  /** The first GoAway of the peer has arrived */
  onGoAway (code: number): void
  /** A stream of the peer was refused */
  onRefused (streamId: number): void
  /** For the first time the peer has sent more than its window allows, and that is tolerated */
  onTolerated (streamId: number): void
}

export class Session<Owner> {
  readonly streams: StreamTable<Owner>
  readonly control: ControlLane<Owner>
  readonly lanes: DataLanes<Owner>
  readonly limits: PeerLimits
  readonly credit: Credit<Owner>
  readonly sender: Sender<Owner>
  readonly roundTrip = new RoundTrip()
  readonly positions = new Positions()
  readonly path: PathControl
  /** Streams with events, each once. To be emptied after every `receive` and `pull`. */
  readonly eventful: Array<StreamState<Owner>> = []
  /** When the last chunk arrived, or the last write was made that its replies forced */
  receivedMs = 0
  /** When the peer last showed that it reads, by a pong or by credit */
  answeredMs = -Infinity
  /** The code of the peer's GoAway; undefined before one arrives */
  remoteGoAwayCode: number | undefined
  /** This side is closing: new streams of the peer are refused */
  isClosing = false
  /** A GoAway is queued or written (ControlLane.hasWrittenGoAway) */
  isGoingAway = false
  readonly #observer: SessionObserver
  readonly receiver: Receiver<Owner>
  #hasTolerated = false
  /** Received since the peer control was told */
  #untoldBytes = 0
  /** Streams whose FIN is in a write that the transport has not taken yet */
  finsInBatch: Array<StreamState<Owner>> = []

  constructor (init: SessionInit, observer: SessionObserver) {
    this.#observer = observer
    this.streams = new StreamTable(init)
    this.limits = new PeerLimits(init.limits)
    this.path = init.createPathControl(init, this.positions)
    this.control = new ControlLane(this)
    this.lanes = new DataLanes(init, this)
    this.sender = new Sender(this)
    this.receiver = new Receiver(init, this)
    this.credit = new Credit(this)
  }

  /** Something may be written now. Hot. */
  get hasOutput (): boolean {
    const { path, lanes } = this

    return (lanes.streamCount > 0 && (!path.isHeld || (lanes.hasUrgent && !path.isUrgentSpent))) || path.isMarkDue || this.control.hasOutput
  }

  /** No pong has confirmed yet that the peer has read all data */
  get hasUnconfirmedData (): boolean {
    return this.positions.confirmedBytes < this.positions.dataEndBytes
  }

  // What the application does

  open (nowMs: number): StreamState<Owner> {
    const stream = this.streams.addOutbound(nowMs)
    this.schedule(stream, PENDING_SYN)

    return stream
  }

  /** Queues a message, whole or in parts. Hot: runs once per send. */
  send (stream: StreamState<Owner>, message: Uint8Array | Uint8Array[]): void {
    const byteLength = message instanceof Uint8Array ? message.byteLength : lengthOf(message)

    // the peer may have reset the stream, and its owner was not told yet
    if (byteLength === 0 || stream.life.isOver) {
      return
    }

    stream.sendQueue.add(message, byteLength)
    this.lanes.onQueued(stream, byteLength)
  }

  /** Moves the stream to another of the LANES, with the data it has queued */
  setLane (stream: StreamState<Owner>, lane: number): void {
    if (lane !== stream.lane && !stream.life.isOver) {
      this.streams.urgentCount += Number(lane === URGENT) - Number(stream.lane === URGENT)
      this.lanes.move(stream, lane)
    }
  }

  /** Ends writing: the FIN follows the last byte */
  closeWrite (stream: StreamState<Owner>, nowMs: number): void {
    if (stream.life.writeStatus !== 'writable') {
      return
    }

    stream.become('close')
    stream.lastActiveMs = nowMs

    if (stream.sendQueue.byteLength === 0) {
      this.schedule(stream, PENDING_FIN)
    }
  }

  /*
   * The ways in which a stream ends, and the methods for them. Late frames are those that PeerLimits expects.
   *
   * | method      | tells the peer                 | frees the peer's slot | late frames                     |
   * | ----------- | ------------------------------ | --------------------- | ------------------------------- |
   * | `reset`     | by a RST, or as the two below  | after that is written | data its window allows, updates |
   * | `forget`    | no                             | immediately           | none                            |
   * | `abandon`   | no                             | immediately           | data its window allows, updates |
   * | `#complete` | by the FIN                     | immediately           | updates                         |
   */

  /** Ends the stream in both directions. No RST follows a SYN that was not written, nor a GoAway that was. */
  reset (stream: StreamState<Owner>, errorCode: number, nowMs: number): void {
    if (stream.life.isOver) {
      return
    }

    if ((stream.pending & PENDING_SYN) !== 0) {
      this.forget(stream)
      return
    }

    if (this.control.hasWrittenGoAway) {
      this.abandon(stream)
      return
    }

    if (!stream.isOutbound && nowMs - stream.openedMs < RAPID_MS) {
      this.limits.noteRefusal(nowMs)
    }

    // first: #discard closes the peer's half, and with it the window
    this.#expectLate(stream)
    this.#discard(stream)
    stream.errorCode = errorCode
    this.schedule(stream, PENDING_RST)
  }

  /** Ends a stream that the peer has not seen, or has reset */
  forget (stream: StreamState<Owner>): void {
    if (!stream.life.isOver) {
      this.#discard(stream)
      this.streams.freeSlot(stream)
    }
  }

  /** Ends a stream because the connection ends, or after the GoAway: the peer may still send on it */
  abandon (stream: StreamState<Owner>): void {
    this.#expectLate(stream)
    this.forget(stream)
  }

  /** Ends a stream after both FINs: the transport has taken this side's, and the peer's has arrived */
  #complete (stream: StreamState<Owner>): void {
    this.streams.remove(stream)
    this.streams.freeSlot(stream)
    this.limits.expectLate(0, stream.dataFramesSent)
  }

  /** The peer may not know of the end yet: data that its window allows, and window updates, may be in flight */
  #expectLate (stream: StreamState<Owner>): void {
    this.limits.expectLate(stream.receiveWindow.availableBytes, stream.dataFramesSent)
  }

  /** Discards all that the stream has to send. What has arrived can still be read, an incomplete frame too. */
  #discard (stream: StreamState<Owner>): void {
    stream.become('reset')
    this.credit.portions?.forget(stream)
    stream.pending = 0
    stream.readBuffer.endFrame()
    this.control.remove(stream)
    this.lanes.discard(stream)
    this.streams.remove(stream)
  }

  ping (): void {
    this.control.ping(this.roundTrip.begin())
  }

  /** Requests a pong for all data written so far, by a mark or otherwise a ping, unless one was written behind it */
  requestConfirmation (): void {
    const { markedBytes, pingedBytes, dataEndBytes } = this.positions

    if (markedBytes < dataEndBytes && !this.path.requestMark(true) && pingedBytes < dataEndBytes) {
      this.ping()
    }
  }

  /** Starts closing: asks the path control to hold nothing from here on */
  close (nowMs: number): void {
    this.isClosing = true
    this.path.onClosing(nowMs)
  }

  goAway (code: number): void {
    this.isClosing = true
    this.isGoingAway = true
    this.control.goAway(code)
  }

  // What the transport does

  /**
   * `programMs` is how long the program works in each turn of the event loop, if that is long: the next chunk waits for it. Throws a
   * ProtocolError if the peer breaks a rule; the frames before that have taken effect.
   */
  receive (chunk: Uint8Array | readonly Uint8Array[], nowMs: number, programMs = 0, byteLength = lengthOf(chunk)): void {
    const { decoder } = this.receiver
    const parts = chunk instanceof Uint8Array ? [chunk] : chunk
    this.receivedMs = nowMs
    this.credit.programMs = programMs

    if (this.positions.confirmedBytes < this.positions.markedBytes) {
      this.path.onChunk(byteLength, nowMs)
    }

    for (let i = 0; i < parts.length; i++) {
      decoder.push(parts[i])
    }

    this.#untoldBytes += byteLength

    // little tells nothing of the path
    if (this.#untoldBytes >= this.credit.toldFromBytes) {
      this.credit.onReceived(this.#untoldBytes, this.receivedMs)
      this.#untoldBytes = 0
    }
  }

  /** The transport has taken the last write: only now are its FINs sent */
  onTransportTook (): void {
    for (const stream of this.finsInBatch) {
      // the transport may have called back into a program that reset the stream
      if (!stream.life.isReset) {
        stream.become('finSent')
        this.emit(stream, EVENT_LOCAL_FIN)

        if (stream.life.isOver) {
          this.#complete(stream)
        }
      }
    }

    this.finsInBatch = []
  }

  // Called by the scheduler

  /** The FIN is in a batch; it counts as sent after onTransportTook */
  onFinBatched (stream: StreamState<Owner>): void {
    this.finsInBatch.push(stream)
  }

  /** Ends a stream that cannot go on, without ending the session */
  failStream (stream: StreamState<Owner>, err: Error, nowMs: number): void {
    this.reset(stream, 0, nowMs)
    stream.failure = err
    this.emit(stream, EVENT_FAILED)
  }

  onPingWritten (nowMs: number): void {
    this.roundTrip.sent(nowMs)
    this.positions.pingedBytes = this.positions.writtenBytes
    this.credit.onPingWritten(nowMs)
  }

  // Called by the receiver

  accept (id: number): StreamState<Owner> {
    const stream = this.streams.addInbound(id, this.receivedMs)
    this.schedule(stream, PENDING_ACK)
    this.emit(stream, EVENT_OPENED)

    return stream
  }

  /** Answers a SYN with a RST. The peer may have sent a window of data behind the SYN. */
  refuse (id: number): void {
    this.limits.spend('refusedStreams', this.receivedMs)
    this.limits.expectLate(INITIAL_WINDOW_BYTES, 0)
    this.control.refuse(id)
    this.#observer.onRefused(id)
  }

  onTolerated (streamId: number): void {
    if (!this.#hasTolerated) {
      this.#hasTolerated = true
      this.#observer.onTolerated(streamId)
    }
  }

  /** The peer grants credit */
  handleCredit (stream: StreamState<Owner>, bytes: number): void {
    stream.creditBytes += bytes
    this.answeredMs = this.receivedMs
    this.lanes.enlist(stream)

    // if much is queued, the watermarks depend on credit
    if (stream.awaitsDrain && this.lanes.mayResume(stream)) {
      this.emit(stream, EVENT_DRAINED)
    }
  }

  handleGoAway (code: number): void {
    if (this.remoteGoAwayCode === undefined) {
      this.remoteGoAwayCode = code
      this.#observer.onGoAway(code)
      return
    }

    this.limits.spend('emptyFrames', this.receivedMs)

    // the first code other than a normal end is the reason
    if (this.remoteGoAwayCode === GoAwayCode.NormalTermination) {
      this.remoteGoAwayCode = code
    }
  }

  /** Returns false for a pong that answers no ping */
  handlePong (value: number): boolean {
    const isAwaited = value >= FIRST_MARK_VALUE ? this.path.onPong(value, this.receivedMs) : this.#endPing(value)

    if (isAwaited) {
      this.answeredMs = this.receivedMs
    }

    return isAwaited
  }

  handleFin (stream: StreamState<Owner>): void {
    if (stream.life.remoteWriteStatus === 'writable') {
      stream.become('finReceived')
      this.credit.onFin(stream)
      this.emit(stream, EVENT_REMOTE_FIN)

      if (stream.life.isOver) {
        this.#complete(stream)
      }
    }
  }

  handleReset (stream: StreamState<Owner>, errorCode: number): void {
    if (!stream.isOutbound && this.receivedMs - stream.openedMs < RAPID_MS) {
      this.limits.spend('resets', this.receivedMs)
    }

    this.forget(stream)
    stream.errorCode = errorCode
    this.emit(stream, EVENT_REMOTE_RST)
  }

  emit (stream: StreamState<Owner>, event: number): void {
    if (stream.events === 0) {
      this.eventful.push(stream)
    }

    stream.events |= event
  }

  /** Queues a flag or an update for the peer. If `canWait` is true, it leaves with the next write, or after the next turn at the latest. */
  schedule (stream: StreamState<Owner>, pending: number, canWait = false): void {
    stream.pending |= pending
    this.control.enlist(stream, canWait)
  }

  /** A pong to a ping that is no mark. Returns false if it answers none. */
  #endPing (value: number): boolean {
    const { roundTrip, positions } = this

    if (!roundTrip.end(value, this.receivedMs)) {
      return false
    }

    this.streams.isAnswered = true

    // a pong to an earlier ping does not confirm what was written before the last one
    if (!roundTrip.isPending) {
      positions.confirm(positions.pingedBytes)
      this.path.onRoundTrip(positions.pingedBytes, roundTrip.plausibleMs, this.receivedMs)
    }

    this.credit.onPong(roundTrip.plausibleMs, this.receivedMs)

    return true
  }
}

function lengthOf (parts: Uint8Array | readonly Uint8Array[]): number {
  if (parts instanceof Uint8Array) {
    return parts.byteLength
  }

  let byteLength = 0

  for (const part of parts) {
    byteLength += part.byteLength
  }

  return byteLength
}
