/**
 * Bounds the bytes in flight: written to the transport, and not known to have reached the peer's muxer. A mark is a ping behind data, and its
 * pong confirms that everything in front of the mark has arrived. While enough is in flight, data is held, except for a little urgent data.
 * Hot: `onWritten` runs once per write.
 *
 * Invariants: confirmedBytes <= acknowledgedBytes <= writtenBytes. While data is held, a mark is in flight or a look is due.
 *
 * An example, which worked-example.test.ts runs: after a ping of 40 ms a file is sent over 10 Mbit/s, which is 1250 bytes a ms.
 *
 *    0 ms    write    8 KiB twice, then 16 KiB three times, each followed by a mark.
 *            hold     64 KiB, the first bound, is in flight. The rest stays queued in its stream.
 *    5-30    look     No pong has come, so five more marks follow.
 *    47      pong     The first mark: 8 KiB have arrived in 47 ms, 176 bytes a ms. It took 7 ms longer than the ping, so there is a queue.
 *    53      release  The second pong leaves room for a write of 16 KiB and its mark. Then data is held until the next pong.
 *    93      pong     One of the five marks: 1250 bytes a ms, and nearly no queue. The bound is what this rate carries in 4 round trips and 10 ms, 213 kB.
 *    167     pong     The mark has waited 34 ms. If there is a queue, 2.89 round trips count: the bound is 157 kB.
 *    503     steady   Three round trips have not raised the rate. The bound is 1250 * (1.25 * 40 + 10), 75 kB, and what arrives between two
 *                     pongs, and 4 KiB: 113 kB while pongs are 27 ms apart, and 88 kB from 850 ms on, when they come more often.
 *    1406    pong     They come every 9 ms. This one releases a write of 11 kB and its mark, which takes 71 ms, 31 of them in the queue.
 *    1500             The rate of the link halves. The higher rate still counts, and pongs become rare, so the bound grows to 105 kB, and the queue to 128 ms.
 *    3650    probing  The rate is 625 bytes a ms, less than 3/4 of the old one. The bound is 19 kB, 3/4 of what the path holds.
 *    3823    steady   A mark has found the path empty: the round trip is still 40 ms. The bound is 55 kB, and 46 kB from 3983 ms on.
 */
import { NoControl } from '../core/path-control.ts'
import { FIRST_MARK_VALUE, HEADER_BYTES } from '../core/wire/frame.ts'
import { Marks } from './marks.ts'
import { PathEstimate } from './path-estimate.ts'
import { coveredSilenceMs, FIRST_BYTES, MARKS_IN_FLIGHT, MIN_MARK_EVERY_BYTES } from './phase-bytes.ts'
import { Samples } from './samples.ts'
import { PeersBound } from './peers-bound.ts'
import { PongSilence } from './silences.ts'
import { UrgentAllowance } from './urgent-allowance.ts'
import { chooseExtraQueueBytes, chooseQuantumBytes, chooseSlowWriteBytes, chooseWriteBytes, LONE_QUANTUM_MS, LONE_QUANTUM_PART, QUANTUM_MS } from './write-sizes.ts'
import type { PathControl, PathFigures, PathInit, WritePlan } from '../core/path-control.ts'
import type { Positions } from '../core/positions.ts'
import type { Bound } from './bound.ts'
import type { NodePaths } from './node-paths.ts'

/** A mark is due after this part of the distance between marks, so that a write slightly shorter than the distance gets one */
const MARK_FROM_PART = 7 / 8
/**
 * After an idle time no mark is due until this part of the bound is unconfirmed, so requests have none. With more, the first pong would come too
 * late to keep the path busy.
 */
const FIRST_MARK_PART = 1 / 4
/** Pongs may be lost, as go-yamux drops them when it is busy: while data is held, another mark follows after this part of a round trip */
const LOOK_ROUND_TRIPS = 1 / 2
/** This many looks use that delay. For each later one it doubles, up to LONGEST_LOOK_MS. */
const QUICK_LOOKS = 4
const LONGEST_LOOK_MS = 1000
/** The bound is lifted after the longer of these without a pong: a peer that stops answering must not stop the data */
const SHORTEST_LIFT_MS = 5000
const LIFT_ROUND_TRIPS = 4
/** It is lifted sooner if the peer has not answered any ping yet: it may never answer one */
const FIRST_LIFT_MS = 500
/** Its pong may be queued behind the node's other connections: allow this many times as long as their marks wait, up to SHORTEST_LIFT_MS */
const OTHERS_QUEUES = 2

/** Once the last mark has its pong, data behind it counts as arrived when the longer of these has passed since the last write */
const ARRIVED_MS = 1000
const ARRIVED_ROUND_TRIPS = 4
/**
 * But only while less than this has no pong, including the data that has counted as arrived before. Otherwise a program that pauses for a
 * second after each write would never wait for a mark, and its queue would have no bound (docs/notebook/path.md#small-messages-of-long-ago).
 */
const UNCONFIRMED_BYTES = FIRST_BYTES / 2

export class BytesInFlight implements PathControl {
  readonly peer: PeersBound
  readonly bound: Bound
  readonly estimate: PathEstimate
  /** How much urgent data may pass while data is held */
  readonly urgent = new UrgentAllowance()
  /** `urgent.isSpent`, copied into a field because it is read for each write */
  isUrgentSpent = false
  /** False if the option is Infinity, and after `onClosing`: then nothing is ever held */
  isBounded: boolean
  /** The position up to which data counts as arrived: a pong has confirmed it, or it is little and was written long ago */
  acknowledgedBytes = 0
  /** Data waits, unless it is urgent */
  isHeld = false
  /** A mark goes with the next write, or is a write of its own */
  isMarkDue = false
  /** A write that ends after this position leaves room for a mark, which would otherwise cost a write of its own */
  leavesRoomFromBytes = Infinity
  /** How long data was held, without the current hold */
  heldMs = 0
  /** The position after which the next mark is due, or the first ping */
  #markFromBytes: number
  readonly #positions: Positions
  readonly #sizes: PathInit
  readonly #plan: WritePlan
  readonly #marks = new Marks()
  readonly #samples = new Samples()
  #lastPongMs = 0
  #heldSinceMs = 0
  /** When data was first held since the last pong to a mark. Pongs to other pings may release it many times in between. */
  #unansweredSinceMs = -1
  #looks = 0
  /** The mark that is due only replies to one of the peer */
  #isReplyDue = false
  #writtenMs = 0
  readonly #silence = new PongSilence()

  constructor (init: PathInit, positions: Positions, nodePaths: NodePaths) {
    const { maxQueueDelayMs, maxPeerQueueDelayMs, recordBytes } = init
    this.isBounded = maxQueueDelayMs !== Infinity
    const frameBytes = this.isBounded ? init.frameBytes : new NoControl(init).planWrite().quantumBytes
    this.#sizes = { ...init, frameBytes }
    this.peer = new PeersBound(maxPeerQueueDelayMs)
    this.#positions = positions
    this.estimate = new PathEstimate(maxQueueDelayMs, recordBytes, nodePaths, this.peer)
    this.bound = this.estimate.bound
    this.#plan = { writeBytes: this.bound.writeBytes, quantumBytes: frameBytes, extraQueueBytes: 0 }
    this.#markFromBytes = this.isBounded ? FIRST_BYTES / 2 : Infinity
  }

  get fullWriteBytes (): number {
    return this.bound.writeBytes
  }

  /** If there are urgent streams, a write is one record at most, as their data may have to wait for it */
  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): WritePlan {
    const plan = this.#plan
    const { bytesPerMs } = this.estimate
    const { writeBytes, bytes } = this.bound
    plan.extraQueueBytes = chooseExtraQueueBytes(bytes === Infinity ? 0 : bytesPerMs, streamCount)

    if (writeBytes < recordBytes) {
      plan.quantumBytes = writeBytes
      plan.writeBytes = chooseSlowWriteBytes(this.estimate, recordBytes, queuedBytes, this.unacknowledgedBytes)

      return plan
    }

    const carriedBytes = streamCount === 1 && !hasUrgent ? Math.min(LONE_QUANTUM_MS * bytesPerMs, LONE_QUANTUM_PART * bytes) : QUANTUM_MS * bytesPerMs
    plan.quantumBytes = chooseQuantumBytes(this.#sizes, carriedBytes)
    plan.writeBytes = hasUrgent ? recordBytes : chooseWriteBytes(this.#sizes, recordBytes, queuedBytes, carriedBytes)

    return plan
  }

  figures (nowMs: number): PathFigures {
    const { bytesPerMs, learned: { own } } = this.estimate

    const heldSinceMs = this.isHeld ? this.#heldSinceMs : undefined

    return {
      inFlightBytes: this.inFlightBytes(nowMs),
      boundBytes: this.isBounded ? this.bound.bytes : Infinity,
      bytesPerMs,
      roundTripMs: own.ms,
      heldMs: this.heldMs + (nowMs - (heldSinceMs ?? nowMs)),
      heldSinceMs
    }
  }

  get unacknowledgedBytes (): number {
    return this.#positions.writtenBytes - this.acknowledgedBytes
  }

  /** True if a write of this many bytes needs no mark behind it and leads to no hold. Hot. */
  needsNoMark (byteLength: number): boolean {
    const position = this.#positions.writtenBytes + byteLength

    return position < this.#markFromBytes && position - this.acknowledgedBytes < this.bound.holdsFromBytes
  }

  /** Marks are in flight. Hot. */
  get awaitsPong (): boolean {
    return this.acknowledgedBytes < this.#positions.markedBytes
  }

  /** How many of the bytes up to a position may still be in flight. A little data behind the last mark counts as arrived after a while. Hot. */
  inFlightBytes (nowMs: number, positionBytes = this.#positions.writtenBytes): number {
    const { lastRoundTripMs, learned: { own } } = this.estimate
    const arrivesInMs = Math.max(ARRIVED_MS, ARRIVED_ROUND_TRIPS * Math.max(lastRoundTripMs, own.ms))
    const isLittle = positionBytes - this.#positions.confirmedBytes < UNCONFIRMED_BYTES
    const hasArrived = !this.awaitsPong && isLittle && nowMs - this.#writtenMs >= arrivesInMs

    return hasArrived ? 0 : positionBytes - this.acknowledgedBytes
  }

  /** The peer has answered a ping. One that answers none gets no marks. */
  get canMark (): boolean {
    return this.estimate.learned.own.isMeasured
  }

  requestMark (isLast = false): boolean {
    this.isMarkDue ||= isLast || this.canMark
    this.#isReplyDue = false

    return this.isMarkDue
  }

  /** While data is held: how long until `look` */
  get lookDelayMs (): number {
    // a mark is due that `Marks` did not allow, as there were too many at once
    if (this.#positions.writtenBytes >= this.#markFromBytes) {
      return this.estimate.markIntervalMs
    }

    return Math.min(LONGEST_LOOK_MS, Math.max(this.estimate.markIntervalMs, LOOK_ROUND_TRIPS * this.estimate.lastRoundTripMs) * 2 ** Math.max(0, this.#looks + 1 - QUICK_LOOKS))
  }

  onWritten (byteLength: number, urgentBytes: number, hasData: boolean, isAppLimited: boolean, nowMs: number): boolean {
    const { writtenBytes } = this.#positions
    const fromBytes = writtenBytes - byteLength

    if (this.isHeld) {
      this.urgent.spend(urgentBytes)
      this.isUrgentSpent = this.urgent.isSpent
    } else if (nowMs - this.#writtenMs >= ARRIVED_MS && this.inFlightBytes(nowMs, fromBytes) === 0) {
      // small messages of long ago count as arrived, or an answer would have to wait for a pong because of them
      this.acknowledgedBytes = fromBytes
      this.#setMarkFrom(0)
    }

    this.#samples.onWrite(fromBytes, byteLength, isAppLimited, this.acknowledgedBytes >= this.#positions.markedBytes, nowMs)
    this.#writtenMs = nowMs

    if (!this.isHeld && writtenBytes - this.acknowledgedBytes >= this.bound.holdsFromBytes) {
      this.#hold(nowMs)
    }

    // a write of pongs alone gets no mark, which would tell the peer that data is in flight
    return this.isMarkDue || (hasData && writtenBytes >= this.#markFromBytes && this.#mayMark(nowMs))
  }

  mark (nowMs: number): number | undefined {
    if (!this.canMark && !this.isMarkDue) {
      return undefined
    }

    const positionBytes = this.#positions.writtenBytes
    const isAppLimited = this.#samples.appLimitedBytes > this.acknowledgedBytes
    const value = this.#marks.write({
      sentMs: nowMs,
      positionBytes,
      acknowledgedBytes: this.acknowledgedBytes,
      arrivedBytes: Math.min(this.estimate.arrivedBytes, this.unacknowledgedBytes),
      acknowledgedMs: Math.max(this.#lastPongMs, this.#samples.beganMs),
      receivedBytes: this.estimate.learned.peersData.receivedBytes,
      isAppLimited
    }, this.#isReplyDue)
    this.#isReplyDue = false
    this.isMarkDue = false
    this.#noteWaiting(nowMs)
    this.#setMarkFrom(this.unacknowledgedBytes + HEADER_BYTES, positionBytes)

    return value
  }

  /** Returns false if no mark with this value is in flight */
  onPong (value: number, nowMs: number): boolean {
    const mark = this.#marks.answer(value)

    if (mark === undefined) {
      return false
    }

    const { estimate, isHeld: wasHeld } = this
    const arrivedBytes = mark.positionBytes - this.acknowledgedBytes
    const peersDelayMs = estimate.peersDelay.delayMs(nowMs, nowMs - mark.sentMs - estimate.learned.own.shortestMs)
    const catchUp = this.#silence.onPong(mark, this.acknowledgedBytes, this.#positions, wasHeld && !estimate.isProbing ? coveredSilenceMs(estimate.learned) : Infinity, nowMs - peersDelayMs)

    // the first pong after an idle time takes a full round trip, which does not count as a gap
    if (wasHeld && this.#lastPongMs > this.#samples.beganMs) {
      estimate.learned.pongGap.learn(nowMs - this.#lastPongMs, arrivedBytes, this.unacknowledgedBytes)
    }

    this.#noteArrived(mark.positionBytes)
    this.#lastPongMs = nowMs
    this.#looks = 0
    this.#noteWaiting(nowMs)

    if (this.isBounded) {
      const sample = this.#samples.onPong(mark, estimate.learned.own.knownMs, peersDelayMs, estimate.learned.peersData.receivedBytes, this.unacknowledgedBytes, wasHeld, nowMs)

      if (sample !== undefined) {
        estimate.onSample(sample)
      }

      if (catchUp !== undefined) {
        estimate.onCatchUp(catchUp)
      }

      this.#holdOrRelease(nowMs)
      this.#renewUrgent(arrivedBytes, wasHeld)
    }

    return true
  }

  /** The pong to a ping that is no mark: everything that was written before it has arrived */
  onRoundTrip (positionBytes: number, roundTripMs: number, nowMs: number): void {
    this.#noteArrived(positionBytes)

    if (this.isBounded) {
      this.#marks.forgetUpTo(positionBytes)
      this.#noteWaiting(nowMs)
      this.estimate.onRoundTrip(roundTripMs, positionBytes, nowMs)
      this.#holdOrRelease(nowMs)
    }
  }

  /** Answers a mark with a mark as well as a pong, so that the peer can tell how long both took. A mark that is itself such an answer gets only a pong. */
  onPing (value: number, nowMs: number): void {
    this.estimate.peersDelay.onPing(value, nowMs)

    if (!this.isBounded || this.isMarkDue) {
      return
    }

    if (!this.#marks.hasWritten) {
      // the first mark goes before any queue has formed, so that the peer can compare later ones with it
      this.requestMark(true)
    } else if (value >= FIRST_MARK_VALUE && value % 2 === 0 && this.unacknowledgedBytes >= MIN_MARK_EVERY_BYTES) {
      this.#isReplyDue = this.requestMark()
    }
  }

  onChunk (byteLength: number, nowMs: number): void {
    this.estimate.learned.peersData.onChunk(byteLength, this.#samples.beganMs, nowMs)
    this.#silence.onChunk(nowMs, this.#samples.beganMs)
  }

  onTransportFull (nowMs: number): void {
    if (this.isBounded) {
      this.estimate.onTransportFull()
      this.#holdOrRelease(nowMs)
    }
  }

  /** The connection is being closed: nothing is held from here on */
  onClosing (nowMs: number): void {
    this.isBounded = false
    this.#markFromBytes = Infinity
    this.leavesRoomFromBytes = Infinity
    this.estimate.lift()
    this.#holdOrRelease(nowMs)
  }

  /** The connection is over, and no longer counts among the node's paths */
  end (): void {
    this.estimate.end()
  }

  /** Data has been held for `lookDelayMs`: requests another mark, or lifts the bound */
  look (nowMs: number): void {
    if (!this.isHeld) {
      return
    }

    const quietMs = nowMs - Math.max(this.#lastPongMs, this.#unansweredSinceMs)

    if (quietMs >= this.#liftMs(nowMs)) {
      this.estimate.lift()
      this.#holdOrRelease(nowMs)
    } else {
      this.#looks++
      this.requestMark()
    }
  }

  /** The bound is lifted after so long without a pong */
  #liftMs (nowMs: number): number {
    return this.canMark
      ? Math.max(SHORTEST_LIFT_MS, LIFT_ROUND_TRIPS * this.estimate.lastRoundTripMs)
      : Math.max(FIRST_LIFT_MS, Math.min(SHORTEST_LIFT_MS, OTHERS_QUEUES * this.estimate.othersQueueMs(nowMs)))
  }

  #renewUrgent (arrivedBytes: number, wasHeld: boolean): void {
    this.urgent.renew(arrivedBytes, wasHeld, this.estimate.bytesPerMs)
    this.isUrgentSpent = this.urgent.isSpent
  }

  #noteArrived (positionBytes: number): void {
    this.#positions.confirm(positionBytes)
    this.acknowledgedBytes = Math.max(this.acknowledgedBytes, positionBytes)
  }

  #noteWaiting (nowMs: number): void {
    this.estimate.onWaiting(this.#marks.inFlight[0]?.sentMs ?? Infinity, nowMs)
  }

  #hold (nowMs: number): void {
    this.isHeld = true
    this.peer.heldUntilMs = Infinity
    this.#heldSinceMs = nowMs

    if (this.#lastPongMs > this.#unansweredSinceMs) {
      this.#unansweredSinceMs = nowMs
    }

    // without another mark no pong would come, or only a late one
    if (!this.awaitsPong || (this.#positions.writtenBytes - this.#positions.markedBytes >= MIN_MARK_EVERY_BYTES && this.#mayMark(nowMs))) {
      this.requestMark()
    }
  }

  #mayMark (nowMs: number): boolean {
    return this.#marks.mayFollow(nowMs, this.estimate.markIntervalMs)
  }

  #setMarkFrom (unacknowledgedBytes = this.unacknowledgedBytes, markedBytes = this.#positions.markedBytes): void {
    if (this.isBounded && this.canMark) {
      const { holdsFromBytes } = this.bound
      const { farStartBytes } = this.estimate
      const everyBytes = Math.max(MIN_MARK_EVERY_BYTES, unacknowledgedBytes / MARKS_IN_FLIGHT, this.estimate.bytesPerMs * this.estimate.markIntervalMs)
      const spacedBytes = markedBytes + MARK_FROM_PART * everyBytes
      // no mark is due while little is unconfirmed, so requests have none, except at the start of a far path
      const fewBytes = farStartBytes > 0 ? MARK_FROM_PART * farStartBytes : holdsFromBytes === Infinity ? 0 : FIRST_MARK_PART * holdsFromBytes
      this.#markFromBytes = Math.max(spacedBytes, this.#positions.confirmedBytes + fewBytes)
      this.leavesRoomFromBytes = Math.min(this.#markFromBytes, this.acknowledgedBytes + holdsFromBytes)
    }
  }

  /** Called after the bound, or the number of bytes in flight, has changed */
  #holdOrRelease (nowMs: number): void {
    this.#setMarkFrom()
    const isHeld = this.unacknowledgedBytes >= this.bound.holdsFromBytes

    if (isHeld && !this.isHeld) {
      this.#hold(nowMs)
    } else if (!isHeld && this.isHeld) {
      this.isHeld = false
      this.peer.heldUntilMs = nowMs
      this.heldMs += nowMs - this.#heldSinceMs

      // a pong that would renew the allowance may never come
      if (this.bound.bytes === Infinity) {
        this.#renewUrgent(0, false)
      }
    } else if (isHeld && !this.awaitsPong) {
      // the last mark was answered, and the data in flight stands behind it
      this.requestMark()
    }
  }
}
