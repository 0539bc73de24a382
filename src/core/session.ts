/**
 * One yamux session: its streams, how they begin and end, and what is to be said of them. Pure: bytes and time in; bytes, and
 * events of streams, out. What each frame of the peer means is in receiver.ts, what goes out next in sender.ts.
 */
import { BytesUnderWay } from './path/bytes-under-way.ts'
import { FIRST_MARK_VALUE } from './path/marks.ts'
import { PeerLimits, RAPID_MS } from './peer-limits.ts'
import { Receiver } from './receiver.ts'
import { ControlLane } from './scheduler/control.ts'
import { URGENT } from './scheduler/lane.ts'
import { DataLanes } from './scheduler/lanes.ts'
import { Sender } from './sender.ts'
import { EVENT_FAILED, EVENT_LOCAL_FIN, EVENT_OPENED, EVENT_REMOTE_FIN, EVENT_REMOTE_RST, PENDING_ACK, PENDING_FIN, PENDING_RST, PENDING_SYN } from './stream-state.ts'
import { StreamTable } from './stream-table.ts'
import { Credit } from './window/credit.ts'
import { RoundTrip } from './window/round-trip.ts'
import { GoAwayCode, INITIAL_WINDOW_BYTES } from './wire/frame.ts'
import type { NodePaths } from './path/node-paths.ts'
import type { Limits } from './peer-limits.ts'
import type { StreamState } from './stream-state.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export interface SessionInit {
  isDialler: boolean
  maxInboundStreams: number
  /** How many streams may be opened before the peer has answered anything: it may not listen for streams yet */
  maxUnansweredStreams: number
  /** What every new stream's receive window is raised to */
  initialWindowBytes: number
  /** What it may grow to */
  maxWindowBytes: number
  /** What all windows of the connection may grow by together */
  maxGrowthBytes: number
  /** What a stream may bring beyond its window, as far as all windows may grow */
  maxToleratedBytes: number
  /** Messages share frames from when so many bytes of their stream wait, and so do events on receipt: 0 always, Infinity never */
  mergeFromBytes: number
  /** The largest payload of a frame while streams contend, unless the path is fast; without merging, the longest message that is never cut */
  frameBytes: number
  /** The largest payload of a frame that no other stream waits behind, on a path that is not fast */
  loneFrameBytes: number
  /** And of any frame */
  maxFrameBytes: number
  /** Credit is given back for what arrives, not for what is read */
  creditsOnReceipt: boolean
  /** How long what is handed down may wait below the muxer */
  maxQueueDelayMs: number
  /** Of all connections of this node */
  nodePaths: NodePaths
  /** What is sealed below as one record: the most one write holds on a slow path, and where something urgent may come */
  recordBytes: number
  /** And on a fast path: several records */
  maxWriteBytes: number
  limits: Limits
}

/** Who follows what goes on inside, and does not call back */
export interface SessionObserver {
  /** The peer goes away, for the first time */
  onGoAway (code: number): void
  /** A stream that the peer has opened is not taken */
  onRefused (streamId: number): void
  /** The peer has sent more than it was given, for the first time, and that is tolerated */
  onTolerated (streamId: number): void
}

export class Session<Owner> {
  readonly streams: StreamTable<Owner>
  readonly control: ControlLane<Owner>
  readonly lanes: DataLanes<Owner>
  readonly limits: PeerLimits
  readonly credit: Credit<Owner>
  readonly roundTrip = new RoundTrip()
  readonly underWay: BytesUnderWay
  /** Streams that something has happened to, each once; to be emptied after every `receive` and `pull` */
  readonly eventful: Array<StreamState<Owner>> = []
  /** When the last chunk came */
  receivedMs = 0
  /** When the peer last showed that it has read something: a pong, or credit */
  answeredMs = -Infinity
  /** The code of the peer's GoAway, if it said one */
  remoteGoAwayCode: number | undefined
  /** This side takes its leave: whoever opens a stream now is refused */
  isClosing = false
  /** A GoAway is queued, or written: ControlLane.hasWrittenGoAway */
  hasSaidGoAway = false
  readonly #observer: SessionObserver
  readonly #sender: Sender<Owner>
  readonly #receiver: Receiver<Owner>
  /** How much had been handed down in front of the last ping that is no mark */
  #pingedBytes = 0
  framesWritten = 0
  /** How much had been handed down when the last data was in it */
  dataEndBytes = 0
  #hasTolerated = false
  /** Streams whose FIN is in a batch that the transport has not taken yet */
  finsInBatch: Array<StreamState<Owner>> = []

  constructor (init: SessionInit, observer: SessionObserver) {
    this.#observer = observer
    this.streams = new StreamTable(init)
    this.limits = new PeerLimits(init.limits)
    this.underWay = new BytesUnderWay(init.maxQueueDelayMs, init.recordBytes, init.nodePaths)
    this.control = new ControlLane(this)
    this.lanes = new DataLanes(init, this)
    this.#sender = new Sender(init, this)
    this.#receiver = new Receiver(init, this)
    this.credit = new Credit(this, this.#receiver)
  }

  /** There is something that may be written now. Hot. */
  get hasOutput (): boolean {
    const { underWay, lanes } = this

    return (lanes.streamCount > 0 && (!underWay.isHeld || (lanes.hasUrgent && !underWay.urgent.isSpent))) || underWay.isMarkOwed || this.control.hasOutput
  }

  /** The peer may not have read all data: no mark behind it was answered yet */
  get hasUnconfirmedData (): boolean {
    return this.underWay.confirmedBytes < this.dataEndBytes
  }

  // What the application does

  open (nowMs: number): StreamState<Owner> {
    const stream = this.streams.addOutbound(nowMs)
    this.schedule(stream, PENDING_SYN)

    return stream
  }

  /** Queues a message, or one in parts. Hot: runs once per send. */
  write (stream: StreamState<Owner>, message: Uint8Array | Uint8Array[]): void {
    const byteLength = message instanceof Uint8Array ? message.byteLength : lengthOf(message)

    // the peer may have reset the stream without its owner knowing yet
    if (byteLength === 0 || stream.life.isOver) {
      return
    }

    stream.sendQueue.add(message, byteLength)
    this.lanes.enlist(stream, byteLength)
  }

  /** From here on its data goes out in another of the LANES */
  setLane (stream: StreamState<Owner>, lane: number): void {
    if (lane !== stream.lane && !stream.life.isOver) {
      this.streams.urgentCount += Number(lane === URGENT) - Number(stream.lane === URGENT)
      this.lanes.move(stream, lane)
    }
  }

  /** No more will be written; the FIN goes behind the last byte */
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
   * How a stream ends here:
   *
   * |         | the peer is told | its place is free | what may come late is no attack |
   * | ------- | ---------------- | ----------------- | ------------------------------- |
   * | reset   | by a RST         | behind the RST    | all its window allows           |
   * | forget  | no               | at once           | nothing                         |
   * | abandon | no               | at once           | all its window allows           |
   * | release | by the FIN       | at once           | window updates                  |
   */

  /** Ends the stream at once, in both directions, and says so to the peer if it knows of the stream, and of no end of all of them */
  reset (stream: StreamState<Owner>, errorCode: number, nowMs: number): void {
    if (stream.life.isOver) {
      return
    }

    if ((stream.pending & PENDING_SYN) !== 0 || this.control.hasWrittenGoAway) {
      this.forget(stream)
      return
    }

    if (!stream.isOutbound && nowMs - stream.openedMs < RAPID_MS) {
      this.limits.noteRefusal(nowMs)
    }

    // first: when the stream is dropped nobody knows any more what its window allowed
    this.#expectLate(stream)
    this.#drop(stream)
    stream.errorCode = errorCode
    this.schedule(stream, PENDING_RST)
  }

  /** Ends the stream in both directions without a word to the peer */
  forget (stream: StreamState<Owner>): void {
    if (!stream.life.isOver) {
      this.#drop(stream)
      this.streams.freePlace(stream)
    }
  }

  /** The connection ends: forgets a stream that the peer may still send on */
  abandon (stream: StreamState<Owner>): void {
    this.#expectLate(stream)
    this.forget(stream)
  }

  ping (): void {
    this.control.ping(this.roundTrip.begin())
  }

  /** Asks for a mark behind all data that was written, unless there is one */
  askForMark (): void {
    if (this.underWay.markedBytes < this.dataEndBytes) {
      this.underWay.oweMark(true)
    }
  }

  /** This side takes its leave: what it has to say before that waits for nothing */
  close (nowMs: number): void {
    this.isClosing = true
    this.underWay.letGo(nowMs)
  }

  goAway (code: number): void {
    this.isClosing = true
    this.hasSaidGoAway = true
    this.control.goAway(code)
  }

  // What the transport does

  /**
   * The program works for `programMs` in each turn, if that is long: the next chunk waits for it. Throws a ProtocolError when the peer breaks
   * a rule; what came before it has been accounted for.
   */
  receive (chunk: Uint8Array | readonly Uint8Array[], nowMs: number, programMs = 0): void {
    const { decoder } = this.#receiver
    const parts = chunk instanceof Uint8Array ? [chunk] : chunk
    this.receivedMs = nowMs
    this.credit.programMs = programMs

    if (this.underWay.awaitsPong) {
      this.underWay.onChunk(lengthOf(parts), nowMs)
    }

    for (let i = 0; i < parts.length; i++) {
      decoder.push(parts[i])
    }
  }

  /**
   * The next write, at most `maxFrames` and a record of `maxBytes` long, or several where the path is fast, but for a message that must not
   * be cut; undefined when there is nothing to write. While there are urgent streams, data of others leaves `reservedBytes` free. The
   * session is of no use any more when this throws, or when the transport does not take what it returns.
   */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    return this.#sender.pull(maxBytes, maxFrames, nowMs, reservedBytes)
  }

  /** The transport has taken what was pulled last: only now is a FIN one that the peer will see */
  onTransportTook (): void {
    for (const stream of this.finsInBatch) {
      // the transport may have called back, and somebody have reset it
      if (!stream.life.isReset) {
        stream.become('finSent')
        this.emit(stream, EVENT_LOCAL_FIN)

        if (stream.life.isOver) {
          this.#release(stream)
        }
      }
    }

    this.finsInBatch = []
  }

  // What the lanes say

  /** The stream cannot go on, and nothing else is wrong */
  fail (stream: StreamState<Owner>, err: Error, nowMs: number): void {
    this.reset(stream, 0, nowMs)
    stream.failure = err
    this.emit(stream, EVENT_FAILED)
  }

  onPingWritten (nowMs: number): void {
    this.roundTrip.sent(nowMs)
    this.#pingedBytes = this.underWay.handedDownBytes
  }

  // What frames do: for the receiver

  accept (id: number): StreamState<Owner> {
    const stream = this.streams.addInbound(id, this.receivedMs)
    this.schedule(stream, PENDING_ACK)
    this.emit(stream, EVENT_OPENED)

    return stream
  }

  /** The peer gets a RST for its SYN, and may have sent more behind it */
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

  handleGoAway (code: number): void {
    if (this.remoteGoAwayCode === undefined) {
      this.remoteGoAwayCode = code
      this.#observer.onGoAway(code)
      return
    }

    this.limits.spend('emptyFrames', this.receivedMs)

    // the first that is no normal end says why
    if (this.remoteGoAwayCode === GoAwayCode.NormalTermination) {
      this.remoteGoAwayCode = code
    }
  }

  /** Returns false for one that nobody waits for */
  handlePong (value: number): boolean {
    const nowMs = this.receivedMs

    if (value >= FIRST_MARK_VALUE) {
      return this.underWay.onPong(value, nowMs)
    }

    const { roundTrip, streams } = this
    const isAwaited = roundTrip.end(value, nowMs)
    streams.isAnswered ||= isAwaited

    // to an earlier ping it does not say what stood in front of the last
    if (isAwaited && !roundTrip.isPending) {
      this.underWay.onPingAnswered(this.#pingedBytes, roundTrip.soundMs, nowMs)
    }

    return isAwaited
  }

  finishRemote (stream: StreamState<Owner>): void {
    if (stream.life.remoteWriteStatus === 'writable') {
      stream.become('finReceived')
      this.emit(stream, EVENT_REMOTE_FIN)

      if (stream.life.isOver) {
        this.#release(stream)
      }
    }
  }

  resetByPeer (stream: StreamState<Owner>, errorCode: number): void {
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

  /** The peer is to be told. With `isPatient` it is with what is written next, or a round of the event loop later. */
  schedule (stream: StreamState<Owner>, what: number, isPatient = false): void {
    stream.pending |= what
    this.control.enlist(stream, isPatient)
  }

  /** Both FINs are through */
  #release (stream: StreamState<Owner>): void {
    this.streams.remove(stream)
    this.streams.freePlace(stream)
    this.limits.expectLate(0, stream.dataFramesSent)
  }

  /** What the stream's window allows may be under way, and is no attack */
  #expectLate (stream: StreamState<Owner>): void {
    this.limits.expectLate(stream.life.remoteWriteStatus === 'closed' ? 0 : stream.receiveWindow.availableBytes, stream.dataFramesSent)
  }

  #drop (stream: StreamState<Owner>): void {
    stream.become('reset')
    stream.pending = 0
    // the beginning of a frame that was cut off can still be read
    stream.readBuffer.endFrame()
    this.control.remove(stream)
    this.lanes.discard(stream)
    this.streams.remove(stream)
  }
}

function lengthOf (parts: Iterable<Uint8Array>): number {
  let byteLength = 0

  for (const part of parts) {
    byteLength += part.byteLength
  }

  return byteLength
}
