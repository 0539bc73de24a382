/**
 * The bytes that were handed to the transport and have not reached the peer's muxer yet. Marks tell: pings behind the data, whose
 * pongs say that all in front of them has arrived. Says when more data may follow, and how much of urgent data passes all the same. Hot:
 * `handDown` runs once per write.
 *
 * An example, which worked-example.test.ts runs: a ping took 40 ms, and then a file is sent over 10 Mbit/s, or 1250 bytes a ms.
 *
 *    0 ms    write    8 KiB twice, 16 KiB three times. Behind each stands a mark.
 *            hold     64 KiB, the first bound, are in flight: the rest waits in its stream.
 *    5-30    look     No pong yet: five marks more ask again.
 *    47      pong     To the first mark: 8 KiB have arrived in 47 ms, 176 bytes a ms. It took 7 ms longer than the ping: a queue.
 *    53      release  With the second there is room for a write of 16 KiB, with a mark. Data is held again, until the next pong.
 *    93      pong     To what asked again: 1250 bytes a ms, and next to no queue. The bound is what this rate carries in 4 round trips and 10 ms: 213 kB.
 *    167     pong     Behind a queue of 34 ms. 2.89 round trips count where there is one: the bound is 157 kB.
 *    503     steady   Three rounds have shown no more. The bound is 75 kB, which are 1250 * (1.25 * 40 + 10), what arrives between two
 *                     pongs, and 4 KiB: 114 kB while pongs are 28 ms apart, and 88 kB from 850 ms on, when they come often.
 *    1407    pong     As each 9 ms. It releases a write of 11 kB with a mark, which will take 71 ms, 31 of them in the queue.
 *    1500             The line becomes half as fast. The higher rate still counts, and the queue grows to 102 ms.
 *    2116    probing  The rate is 625, less than 3/4 of what it was. The bound is 19 kB, 3/4 of what the path holds.
 *    2263    steady   A mark found the path empty: its round trip still is 40 ms. The bound is 53 kB, and 45 kB from 2419 ms on.
 *
 * Invariants: confirmedBytes <= acknowledgedBytes <= handedDownBytes; data that is held back waits for a mark that is in flight, or for a look.
 */
import { HEADER_BYTES } from '../core/wire/frame.ts'
import { Marks } from './marks.ts'
import { FIRST_BYTES, MARKS_IN_FLIGHT, MIN_MARK_EVERY_BYTES, PathEstimate } from './path-estimate.ts'
import { Samples } from './samples.ts'
import { PongSilence } from './silences.ts'
import { chooseExtraQueueBytes, chooseQuantumBytes, chooseSlowWriteBytes, chooseWriteBytes, LONE_QUANTUM_MS, LONE_QUANTUM_PART, QUANTUM_MS } from './write-sizes.ts'
import type { PathControl, PathFigures, PathInit, WritePlan } from '../core/path-control.ts'
import type { Positions } from '../core/positions.ts'
import type { Bound } from './bound.ts'
import type { NodePaths } from './node-paths.ts'

/** A write that is nearly as large as the space between two marks is not waited with for another */
const MARK_FROM_PART = 7 / 8
/** A pong may have been dropped, as go-yamux does when it is busy: another mark asks again, at first after so many round trips */
const LOOK_ROUND_TRIPS = 1 / 2
/** So often, and then less and less */
const QUICK_LOOKS = 4
const LONGEST_LOOK_MS = 1000
/** Without a pong for so long, and so many round trips, nothing is held back */
const SHORTEST_LIFT_MS = 5000
const LIFT_ROUND_TRIPS = 4
/** A peer that has not answered any ping yet may be one that answers none */
const FIRST_LIFT_MS = 500
/** Or its pong stands in the queue of the node's other connections: it gets so many times as long as their marks wait, SHORTEST_LIFT_MS at most */
const OTHERS_QUEUES = 2

/** What stood behind the last mark has arrived when its pong has come, and so much time has passed */
const ARRIVED_MS = 1000
const ARRIVED_ROUND_TRIPS = 4
/**
 * But only while less than this has no pong, what counted as arrived before included. A program that pauses for a second again and again would never
 * wait for a mark: 25 KB each 1.1 s made a queue of 39 s at 100 kbit/s, 5 s with it.
 */
const UNCONFIRMED_BYTES = FIRST_BYTES / 2

export class BytesInFlight implements PathControl {
  readonly bound: Bound
  readonly estimate: PathEstimate
  /** What of urgent data need not wait */
  readonly urgent = new UrgentAllowance()
  /** Data may be held back */
  isBounded: boolean
  /** What counts as arrived: confirmed, or little and written long ago */
  acknowledgedBytes = 0
  /** Data that is not urgent has to wait */
  isHeld = false
  /** A mark goes with the next write, or is one by itself */
  isMarkOwed = false
  /** A write that ends behind so many bytes leaves room for a mark: in it a mark costs nothing, behind it a write of its own */
  leavesRoomFromBytes = Infinity
  /** How long data was held back; without the hold that goes on now */
  heldMs = 0
  /** The bytes handed down behind which the next mark stands, or the first ping */
  #markFromBytes: number
  readonly #positions: Positions
  readonly #sizes: PathInit
  readonly #plan: WritePlan
  readonly #marks = new Marks()
  readonly #samples = new Samples()
  #lastPongMs = 0
  #heldSinceMs = 0
  /** When data was first held back since a mark was answered: other pings may let it go meanwhile, again and again */
  #unansweredSinceMs = -1
  #looks = 0
  #writtenMs = 0
  readonly #silence = new PongSilence()

  constructor (init: PathInit, positions: Positions, nodePaths: NodePaths) {
    const { maxQueueDelayMs, recordBytes, frameBytes } = init
    this.#sizes = init
    this.#positions = positions
    this.estimate = new PathEstimate(maxQueueDelayMs, recordBytes, nodePaths)
    this.bound = this.estimate.bound
    this.isBounded = maxQueueDelayMs !== Infinity
    this.#plan = { writeBytes: this.bound.writeBytes, quantumBytes: frameBytes, extraQueueBytes: 0 }
    this.#markFromBytes = this.isBounded ? FIRST_BYTES / 2 : Infinity
  }

  get isUrgentSpent (): boolean {
    return this.urgent.isSpent
  }

  /** Where something urgent may come, a write is one record at most: the urgent data waits for it */
  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): WritePlan {
    const plan = this.#plan
    const { bytesPerMs } = this.estimate
    const { writeBytes, bytes } = this.bound
    plan.extraQueueBytes = chooseExtraQueueBytes(bytes === Infinity ? 0 : bytesPerMs, streamCount)

    if (writeBytes < recordBytes) {
      plan.quantumBytes = writeBytes
      plan.writeBytes = chooseSlowWriteBytes(this.estimate, recordBytes, queuedBytes, this.byteLength)

      return plan
    }

    const carriedBytes = streamCount === 1 && !hasUrgent ? Math.min(LONE_QUANTUM_MS * bytesPerMs, LONE_QUANTUM_PART * bytes) : QUANTUM_MS * bytesPerMs
    plan.quantumBytes = chooseQuantumBytes(this.#sizes, carriedBytes)
    plan.writeBytes = hasUrgent ? recordBytes : chooseWriteBytes(this.#sizes, recordBytes, queuedBytes, carriedBytes)

    return plan
  }

  figures (nowMs: number): PathFigures {
    const { bytesPerMs, roundTripMs = 0 } = this.estimate

    return { inFlightBytes: this.pendingBytes(nowMs), boundBytes: this.isBounded ? this.bound.bytes : Infinity, bytesPerMs, roundTripMs, heldMs: this.heldMs }
  }

  get byteLength (): number {
    return this.#positions.writtenBytes - this.acknowledgedBytes
  }

  /** When so much more is handed down no mark is due, and no data is held back. Hot. */
  isQuietFor (byteLength: number): boolean {
    const position = this.#positions.writtenBytes + byteLength

    return !this.isMarkOwed && !this.isHeld && position < this.#markFromBytes && position - this.acknowledgedBytes < this.bound.holdsFromBytes
  }

  /** Marks are in flight. Hot. */
  get awaitsPong (): boolean {
    return this.acknowledgedBytes < this.#positions.markedBytes
  }

  /** What can still be in flight of the bytes up to a position: little after the last mark is not, though nobody answers it. Hot. */
  pendingBytes (nowMs: number, positionBytes = this.#positions.writtenBytes): number {
    const { lastRoundTripMs, roundTripMs = 0 } = this.estimate
    const arrivesInMs = Math.max(ARRIVED_MS, ARRIVED_ROUND_TRIPS * Math.max(lastRoundTripMs, roundTripMs))
    const isLittle = positionBytes - this.#positions.confirmedBytes < UNCONFIRMED_BYTES
    const hasArrived = !this.awaitsPong && isLittle && nowMs - this.#writtenMs >= arrivesInMs

    return hasArrived ? 0 : positionBytes - this.acknowledgedBytes
  }

  /** A ping was answered. A peer that answers none is not asked again and again. */
  get canMark (): boolean {
    return this.estimate.roundTripMs !== undefined
  }

  oweMark (isLast = false): boolean {
    this.isMarkOwed ||= isLast || this.canMark

    return this.isMarkOwed
  }

  /** How long to wait until `look`, while data is held back */
  get lookDelayMs (): number {
    // there may have been more marks than are allowed at once
    if (this.#positions.writtenBytes >= this.#markFromBytes) {
      return this.estimate.fast.markIntervalMs
    }

    return Math.min(LONGEST_LOOK_MS, Math.max(this.estimate.fast.markIntervalMs, LOOK_ROUND_TRIPS * this.estimate.lastRoundTripMs) * 2 ** Math.max(0, this.#looks + 1 - QUICK_LOOKS))
  }

  onWritten (byteLength: number, nowMs: number, isAppLimited: boolean, urgentBytes: number, hasData: boolean): boolean {
    const { writtenBytes } = this.#positions
    const fromBytes = writtenBytes - byteLength

    if (this.isHeld) {
      this.urgent.spend(urgentBytes)
    } else if (nowMs - this.#writtenMs >= ARRIVED_MS && this.pendingBytes(nowMs, fromBytes) === 0) {
      // small messages of long ago: an answer must not wait for a pong because of them
      this.acknowledgedBytes = fromBytes
      this.#setMarkFrom(0)
    }

    this.#samples.onWrite(fromBytes, byteLength, isAppLimited, this.acknowledgedBytes >= this.#positions.markedBytes, nowMs)
    this.#writtenMs = nowMs

    if (!this.isHeld && writtenBytes - this.acknowledgedBytes >= this.bound.holdsFromBytes) {
      this.#hold(nowMs)
    }

    // the peer's marks say that it has data in flight: pongs alone are none
    return this.isMarkOwed || (hasData && writtenBytes >= this.#markFromBytes && this.#mayMark(nowMs))
  }

  mark (nowMs: number): number | undefined {
    if (!this.canMark && !this.isMarkOwed) {
      return undefined
    }

    const positionBytes = this.#positions.writtenBytes
    const isAppLimited = this.#samples.appLimitedBytes > this.acknowledgedBytes
    const value = this.#marks.write({
      sentMs: nowMs,
      positionBytes,
      acknowledgedBytes: this.acknowledgedBytes,
      acknowledgedMs: Math.max(this.#lastPongMs, this.#samples.beganMs),
      receivedBytes: this.estimate.peer.receivedBytes,
      isAppLimited
    }, this.isHeld || !isAppLimited)
    this.isMarkOwed = false
    this.#noteWaiting(nowMs)
    this.#setMarkFrom(this.byteLength + HEADER_BYTES, positionBytes)

    return value
  }

  /** Returns false for a pong to a mark that nobody waits for */
  onPong (value: number, nowMs: number): boolean {
    const mark = this.#marks.answer(value)

    if (mark === undefined) {
      return false
    }

    const { estimate, isHeld: wasHeld } = this
    const arrivedBytes = mark.positionBytes - this.acknowledgedBytes
    const catchUp = this.#silence.onPong(mark, this.acknowledgedBytes, this.#positions, wasHeld && !estimate.isProbing ? estimate.coveredSilenceMs : Infinity, nowMs)

    if (wasHeld) {
      estimate.pongGap.learn(nowMs - Math.max(this.#lastPongMs, this.#samples.beganMs), arrivedBytes, this.byteLength)
    }

    // first: what a sample and a silence mean depends on it
    estimate.answersFew = this.#marks.answersFew
    this.#noteArrived(mark.positionBytes)
    this.#lastPongMs = nowMs
    this.#looks = 0
    this.#noteWaiting(nowMs)

    if (this.isBounded) {
      const sample = this.#samples.onPong(mark, estimate.roundTripMs ?? Infinity, estimate.peer.receivedBytes, wasHeld, nowMs)

      if (sample !== undefined) {
        estimate.onSample(sample)
      }

      if (catchUp !== undefined) {
        estimate.onCatchUp(catchUp)
      }

      this.#holdOrRelease(nowMs)
      this.urgent.renew(arrivedBytes, wasHeld, estimate.bytesPerMs)
    }

    return true
  }

  /** A ping was answered that is no mark: what had been handed down in front of it has arrived */
  onRoundTrip (positionBytes: number, roundTripMs: number, nowMs: number): void {
    this.#noteArrived(positionBytes)

    if (this.isBounded) {
      this.#marks.forgetUpTo(positionBytes)
      this.#noteWaiting(nowMs)
      this.estimate.onRoundTrip(roundTripMs, positionBytes, nowMs)
      this.#holdOrRelease(nowMs)
    }
  }

  /** It may be a mark of the peer's */
  onPing (value: number, nowMs: number): void {
    this.estimate.peer.onPing(value, nowMs)
  }

  /** Something came, while marks are in flight */
  onChunk (byteLength: number, nowMs: number): void {
    if (!this.awaitsPong) {
      return
    }

    this.estimate.peer.receivedBytes += byteLength
    this.#silence.onChunk(nowMs, this.#samples.beganMs)
  }

  onTransportFull (nowMs: number): void {
    if (this.isBounded) {
      this.estimate.onTransportFull(this.byteLength)
      this.#holdOrRelease(nowMs)
    }
  }

  /** Nothing is held back any more */
  letGo (nowMs: number): void {
    this.isBounded = false
    this.#markFromBytes = Infinity
    this.leavesRoomFromBytes = Infinity
    this.estimate.lift()
    this.#holdOrRelease(nowMs)
  }

  /** The connection is over: what it has seen says nothing to the node's others */
  end (): void {
    this.estimate.end()
  }

  /** Data has waited for `lookDelayMs`: asks the peer again, or lifts the bound */
  look (nowMs: number): void {
    if (!this.isHeld) {
      return
    }

    const quietMs = Math.abs(nowMs - Math.max(this.#lastPongMs, this.#unansweredSinceMs))

    if (quietMs >= this.#liftMs(nowMs)) {
      this.estimate.lift()
      this.#holdOrRelease(nowMs)
    } else {
      this.#looks++
      this.oweMark()
    }
  }

  /** Without a pong for so long nothing is held back */
  #liftMs (nowMs: number): number {
    return this.canMark
      ? Math.max(SHORTEST_LIFT_MS, LIFT_ROUND_TRIPS * this.estimate.lastRoundTripMs)
      : Math.max(FIRST_LIFT_MS, Math.min(SHORTEST_LIFT_MS, OTHERS_QUEUES * this.estimate.othersQueueMs(nowMs)))
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
    this.#samples.onHeld()
    this.#heldSinceMs = nowMs

    if (this.#lastPongMs > this.#unansweredSinceMs) {
      this.#unansweredSinceMs = nowMs
    }

    // else no pong would come, or late
    if (!this.awaitsPong || (this.#positions.writtenBytes - this.#positions.markedBytes >= MIN_MARK_EVERY_BYTES && this.#mayMark(nowMs))) {
      this.oweMark()
    }
  }

  #mayMark (nowMs: number): boolean {
    return this.#marks.mayFollow(nowMs, this.estimate.fast.markIntervalMs, this.estimate.fast.isFast)
  }

  #setMarkFrom (inFlightBytes = this.byteLength, markedBytes = this.#positions.markedBytes): void {
    if (this.isBounded && this.canMark) {
      const { holdsFromBytes } = this.bound
      const { farStartBytes } = this.estimate
      const everyBytes = Math.max(MIN_MARK_EVERY_BYTES, inFlightBytes / MARKS_IN_FLIGHT, this.estimate.bytesPerMs * this.estimate.fast.markIntervalMs)
      // a peer that answers few is asked less often: so the one it answers has more in front of it
      const spacedBytes = markedBytes + MARK_FROM_PART * everyBytes / this.#marks.answeredPart
      // nor is one needed while little has no pong: requests have none, but where a far path begins
      const fewBytes = farStartBytes > 0 ? MARK_FROM_PART * farStartBytes : holdsFromBytes === Infinity ? 0 : holdsFromBytes / 2
      this.#markFromBytes = Math.max(spacedBytes, this.#positions.confirmedBytes + fewBytes)
      this.leavesRoomFromBytes = Math.min(this.#markFromBytes, this.acknowledgedBytes + holdsFromBytes)
    }
  }

  /** The bound has changed, or what is in flight */
  #holdOrRelease (nowMs: number): void {
    this.#setMarkFrom()
    const isHeld = this.byteLength >= this.bound.holdsFromBytes

    if (isHeld && !this.isHeld) {
      this.#hold(nowMs)
    } else if (!isHeld && this.isHeld) {
      this.isHeld = false
      this.heldMs += Math.max(0, nowMs - this.#heldSinceMs)
    } else if (isHeld && !this.awaitsPong) {
      // the last mark has been answered, and stood in front of what is in flight now
      this.oweMark()
    }
  }
}

const URGENT_MS = 10
const MIN_URGENT_BYTES = 16_384
const URGENT_PART = 1 / 8

/**
 * Urgent data does not wait while enough is in flight, as long as it is little: what the path carries in 10 ms, a frame at least, and a
 * part of what arrives. Megabytes would make all other data wait for them.
 */
export class UrgentAllowance {
  /** It waits like other data, until all of it is there again */
  isSpent = false
  #bytes = MIN_URGENT_BYTES

  spend (byteLength: number): void {
    this.#bytes -= byteLength
    this.isSpent ||= this.#bytes <= 0
  }

  /** So much has arrived; `wasHeld`: while data was held back */
  renew (arrivedBytes: number, wasHeld: boolean, bytesPerMs: number): void {
    const mostBytes = Math.max(MIN_URGENT_BYTES, URGENT_MS * bytesPerMs)
    this.#bytes = wasHeld ? Math.min(mostBytes, this.#bytes + URGENT_PART * arrivedBytes) : mostBytes
    this.isSpent &&= this.#bytes < mostBytes
  }
}
