/**
 * The bytes that were handed to the transport and have not reached the peer's muxer yet. Marks tell: pings behind the data, whose
 * pongs say that all in front of them has arrived. Says when more data may follow. Hot: `handDown` runs once per write.
 *
 * Invariants: acknowledgedBytes <= handedDownBytes; marks are in the order in which they were written, MAX_MARKS at most; data that
 * is held back waits for a mark that is under way, or for a look.
 */
import { HEADER_BYTES } from '../wire/frame.ts'
import { PongSilence } from './pong-silence.ts'
import { UrgentAllowance } from './urgent-allowance.ts'
import { FIRST_BYTES, MARKS_UNDER_WAY, MIN_MARK_EVERY_BYTES, PathEstimate } from './path-estimate.ts'
import type { NodePaths } from './node-paths.ts'

/** The values of marks begin here; those of other pings are below */
export const FIRST_MARK_VALUE = 2 ** 31

/** Behind them one in 5 ms. With no more than that a connection would learn the rate of a LAN in steps of 5 ms. */
const MARKS_AT_ONCE = 8
/** The oldest is forgotten: a later one says the same */
const MAX_MARKS = 64
/** A write that is nearly as large as the space between two marks is not waited with for another */
const MARK_FROM_PART = 7 / 8
/** No path takes a minute: the clock has jumped */
const LONGEST_MS = 60_000
/** Clocks of browsers are coarse */
const SHORTEST_MS = 1

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

/** Of a peer with bulk they are no farther apart, as on a line of 0.25 Mbit/s; those behind a few messages are */
const PEERS_MARKS_MS = 250

/** What stood behind the last mark has arrived when its pong has come, and so much time has passed */
const ARRIVED_MS = 1000
const ARRIVED_ROUND_TRIPS = 4

/** Each mark counts so much less than the one behind it */
const ANSWERED_FADES = 7 / 8
/** Of a peer that answers less than this part of the marks it is not known what has arrived */
const FEW_PART = 1 / 4

interface Mark {
  value: number
  sentMs: number
  /** What had been handed down in front of it, and how much of that had arrived */
  positionBytes: number
  acknowledgedBytes: number
  /** What had come from the peer */
  receivedBytes: number
  isAppLimited: boolean
}

/** What had arrived when a pong came, and when its mark had been written */
interface Arrival {
  bytes: number
  atMs: number
  sentMs: number
  /** Nothing had arrived: the first bytes were on their way for a round trip more */
  isStart: boolean
}

export class BytesUnderWay {
  readonly estimate: PathEstimate
  /** Data may be held back */
  isBounded: boolean
  handedDownBytes = 0
  acknowledgedBytes = 0
  /** What was handed down in front of the last mark */
  markedBytes = 0
  /** Data that is not urgent has to wait */
  isHeld = false
  /** Urgent data need not wait, as long as it is little */
  letsUrgentPass = true
  /** Marks are under way */
  awaitsPong = false
  /** A mark goes with the next write, or is one by itself */
  isMarkOwed = false
  /** A write that ends behind so many bytes leaves room for a mark: in it a mark costs nothing, behind it a write of its own */
  leavesRoomFromBytes = Infinity
  /** How long data was held back, the time that it is now left out */
  heldMs = 0
  /** The bytes under way from which on data is held */
  #holdsFromBytes: number
  /** The bytes handed down behind which the next mark stands, or the first ping */
  #markFromBytes: number
  #marks: Mark[] = []
  #nextMark = 0
  #peersMark = 0
  #peersMarkMs = -Infinity
  /** When there may be another */
  #nextMarkMs = 0
  /** The ends of this round and of the one before. From one pong to another is exact, and samples span a round trip at least. */
  #lastRound: Arrival = { bytes: 0, atMs: 0, sentMs: 0, isStart: true }
  #roundBefore = this.#lastRound
  /** Until this has arrived samples are app-limited */
  #appLimitedBytes = 0
  /** There was no more to send */
  #isAllHandedDown = true
  #lastRoundTripMs = 0
  #lastPongMs = 0
  #heldSinceMs = 0
  /** Since the last sample */
  #wasHeld = false
  #looks = 0
  /** Of the last marks */
  #answeredPart = 1
  #handedDownMs = 0
  /** From the peer, while marks were under way */
  #receivedBytes = 0
  readonly #silence = new PongSilence()
  readonly #urgent = new UrgentAllowance()

  /** `maxQueueDelayMs` is Infinity if nothing is to be held back */
  constructor (maxQueueDelayMs: number, maxWriteBytes: number, nodePaths?: NodePaths) {
    this.estimate = new PathEstimate(maxQueueDelayMs, maxWriteBytes, nodePaths)
    this.isBounded = maxQueueDelayMs !== Infinity
    this.#holdsFromBytes = this.isBounded ? this.estimate.holdsFromBytes : Infinity
    this.#markFromBytes = this.isBounded ? FIRST_BYTES / 2 : Infinity
  }

  get byteLength (): number {
    return this.handedDownBytes - this.acknowledgedBytes
  }

  /** What can still be under way: behind the last mark stands little, which nobody answers */
  pendingBytes (nowMs: number): number {
    const isAnswered = this.#marks.length === 0 && nowMs - this.#handedDownMs >= Math.max(ARRIVED_MS, ARRIVED_ROUND_TRIPS * this.#lastRoundTripMs)

    return isAnswered ? 0 : this.byteLength
  }

  /** What one write may hold */
  get writeBytes (): number {
    return this.estimate.writeBytes
  }

  /** A ping was answered. A peer that answers none is not asked again and again. */
  get canMark (): boolean {
    return this.estimate.roundTripMs !== undefined
  }

  /** How long to wait until `look`, while data is held back */
  get lookDelayMs (): number {
    // there may have been more marks than are allowed at once
    if (this.handedDownBytes >= this.#markFromBytes) {
      return this.estimate.markIntervalMs
    }

    return Math.min(LONGEST_LOOK_MS, Math.max(this.estimate.markIntervalMs, LOOK_ROUND_TRIPS * this.#lastRoundTripMs) * 2 ** Math.max(0, this.#looks + 1 - QUICK_LOOKS))
  }

  /**
   * So much is being handed down, `urgentBytes` of it urgent data; without `hasData` it is control frames alone. `isAppLimited`: there is no
   * more to send. Returns whether a mark is to follow. Hot.
   */
  handDown (byteLength: number, nowMs: number, isAppLimited: boolean, urgentBytes = 0, hasData = true): boolean {
    if (this.isHeld) {
      this.#urgent.spend(urgentBytes)
      this.letsUrgentPass = !this.#urgent.isSpent
    }

    const isFirst = this.#marks.length === 0 && this.#isAllHandedDown
    this.#isAllHandedDown = isAppLimited

    // nothing was to be sent: that time is no part of a sample
    if (isFirst) {
      this.#lastRound = { bytes: this.handedDownBytes, atMs: nowMs, sentMs: nowMs, isStart: true }
      this.#roundBefore = this.#lastRound
      this.#silence.beganMs = nowMs
    }

    this.handedDownBytes += byteLength
    this.#handedDownMs = nowMs

    // also in the first round trip, in which the path fills
    if (isAppLimited || isFirst) {
      this.#appLimitedBytes = this.handedDownBytes
    }

    if (!this.isHeld && this.handedDownBytes - this.acknowledgedBytes >= this.#holdsFromBytes) {
      this.#hold(nowMs)
    }

    // the peer's marks say that it has data under way: pongs alone are none
    return this.isMarkOwed || (hasData && this.handedDownBytes >= this.#markFromBytes && this.#mayMark(nowMs))
  }

  /** The value of a mark that is written now */
  mark (nowMs: number): number {
    const value = FIRST_MARK_VALUE + this.#nextMark
    this.#nextMark = (this.#nextMark + 1) % FIRST_MARK_VALUE
    this.markedBytes = this.handedDownBytes
    this.isMarkOwed = false

    if (this.#marks.length === MAX_MARKS) {
      this.#marks.shift()
    }

    this.#marks.push({
      value,
      sentMs: nowMs,
      positionBytes: this.handedDownBytes,
      acknowledgedBytes: this.acknowledgedBytes,
      receivedBytes: this.#receivedBytes,
      isAppLimited: this.#appLimitedBytes > this.acknowledgedBytes
    })
    this.handedDownBytes += HEADER_BYTES

    if (!this.awaitsPong) {
      this.awaitsPong = true
      this.estimate.onWaiting(nowMs, nowMs)
    }

    this.#setMarkFrom()

    return value
  }

  /** Returns false for a pong to a mark that nobody waits for */
  acknowledge (value: number, nowMs: number): boolean {
    const index = this.#marks.findIndex(mark => mark.value === value)

    if (index === -1) {
      return false
    }

    const mark = this.#marks[index]
    const arrivedBytes = mark.positionBytes - this.acknowledgedBytes
    const wasHeld = this.isHeld
    this.#noteAnswered(index)

    if (this.isHeld && !this.estimate.isProbing) {
      this.#silence.watch({
        nowMs,
        lostMarks: index,
        positionBytes: mark.positionBytes,
        acknowledgedBytes: this.acknowledgedBytes,
        handedDownBytes: this.handedDownBytes,
        markedBytes: this.markedBytes,
        bytesPerMs: this.estimate.bytesPerMs,
        usualSilenceMs: this.estimate.usualSilenceMs
      })
    }

    this.#marks.splice(0, index + 1)
    this.#noteWaiting(nowMs)

    if (wasHeld) {
      this.estimate.pongGap.learn(nowMs - Math.max(this.#lastPongMs, this.#silence.beganMs), arrivedBytes, this.byteLength)
    }

    this.acknowledgedBytes = mark.positionBytes
    this.#lastPongMs = nowMs
    this.#looks = 0
    const cameBack = this.#silence.noteCameBack(mark.positionBytes, this.byteLength, nowMs)

    if (this.isBounded) {
      this.#learn(mark, nowMs)

      if (cameBack !== undefined) {
        this.estimate.onCameBack(cameBack)
      }

      this.#follow(nowMs)
      this.#urgent.renew(arrivedBytes, wasHeld, this.estimate.bytesPerMs)
      this.letsUrgentPass = !this.#urgent.isSpent
    }

    return true
  }

  /** A ping was answered that is no mark: what had been handed down in front of it has arrived */
  onPong (positionBytes: number, roundTripMs: number, nowMs: number): void {
    this.acknowledgedBytes = Math.max(this.acknowledgedBytes, positionBytes)

    if (this.isBounded) {
      this.#marks = this.#marks.filter(mark => mark.positionBytes > positionBytes)
      this.#noteWaiting(nowMs)
      this.estimate.onRoundTrip(roundTripMs)
      this.#follow(nowMs)
    }
  }

  /** Values above FIRST_MARK_VALUE that count up are marks of a peer that does the same; others count from 0, or draw theirs */
  onPing (value: number, nowMs: number): void {
    if (value > FIRST_MARK_VALUE && value === this.#peersMark + 1 && nowMs - this.#peersMarkMs <= PEERS_MARKS_MS) {
      this.estimate.peerBoundedMs = nowMs
    }

    this.#peersMark = value
    this.#peersMarkMs = nowMs
  }

  /** Something came, while marks are under way */
  onChunk (byteLength: number, nowMs: number): void {
    this.#receivedBytes += byteLength
    this.#silence.onChunk(nowMs)
  }

  onTransportFull (nowMs: number): void {
    if (this.isBounded) {
      this.estimate.onTransportFull(this.byteLength)
      this.#follow(nowMs)
    }
  }

  /** Nothing is held back any more */
  letGo (nowMs: number): void {
    this.isBounded = false
    this.#markFromBytes = Infinity
    this.estimate.lift()
    this.#follow(nowMs)
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

    const quietMs = Math.abs(nowMs - Math.max(this.#lastPongMs, this.#heldSinceMs))

    if (quietMs >= (this.canMark ? Math.max(SHORTEST_LIFT_MS, LIFT_ROUND_TRIPS * this.#lastRoundTripMs) : FIRST_LIFT_MS)) {
      this.estimate.lift()
      this.#follow(nowMs)
    } else {
      this.#looks++
      this.isMarkOwed = this.canMark
    }
  }

  #noteWaiting (nowMs: number): void {
    this.awaitsPong = this.#marks.length > 0
    this.estimate.onWaiting(this.awaitsPong ? this.#marks[0].sentMs : Infinity, nowMs)
  }

  /** Pongs come in order: marks in front of one that is answered will never be */
  #noteAnswered (lostMarks: number): void {
    this.#answeredPart = this.#answeredPart * ANSWERED_FADES ** (lostMarks + 1) + 1 - ANSWERED_FADES
    this.estimate.answersFew = this.#answeredPart < FEW_PART
  }

  #hold (nowMs: number): void {
    this.isHeld = true
    this.#wasHeld = true
    this.#heldSinceMs = nowMs
    // else no pong would come, or late
    this.isMarkOwed ||= this.canMark &&
      (this.#marks.length === 0 || (this.handedDownBytes - this.markedBytes >= MIN_MARK_EVERY_BYTES && this.#mayMark(nowMs)))
  }

  /** One mark in MARK_INTERVAL_MS, some of them ahead of time */
  #mayMark (nowMs: number): boolean {
    const aheadMs = this.#nextMarkMs - nowMs
    const isClockSetBack = aheadMs > LONGEST_MS
    const { markIntervalMs, isFast } = this.estimate

    if (aheadMs > (isFast ? 0 : MARKS_AT_ONCE - 1) * markIntervalMs && !isClockSetBack) {
      return false
    }

    this.#nextMarkMs = nowMs + markIntervalMs + (isClockSetBack ? 0 : Math.max(0, aheadMs))

    return true
  }

  #setMarkFrom (): void {
    if (this.isBounded && this.canMark) {
      const everyBytes = Math.max(MIN_MARK_EVERY_BYTES, this.byteLength / MARKS_UNDER_WAY, this.estimate.bytesPerMs * this.estimate.markIntervalMs)
      // a peer that answers few is asked less often: so the one it answers has more in front of it
      const farBytes = this.markedBytes + MARK_FROM_PART * everyBytes / this.#answeredPart
      // nor is one needed while little is under way: requests have none
      const fewBytes = this.#holdsFromBytes === Infinity ? 0 : this.#holdsFromBytes / 2
      this.#markFromBytes = Math.max(farBytes, this.acknowledgedBytes + fewBytes)
      this.leavesRoomFromBytes = Math.min(this.#markFromBytes, this.acknowledgedBytes + this.#holdsFromBytes)
    }
  }

  #learn (mark: Mark, nowMs: number): void {
    const roundTripMs = nowMs - mark.sentMs

    if (roundTripMs < 0 || roundTripMs > LONGEST_MS) {
      return
    }

    // the clock was set back behind the last round: the next begins here
    if (nowMs < this.#lastRound.atMs) {
      this.#lastRound = this.#arrivalOf(mark, nowMs)
      this.#roundBefore = this.#lastRound
      return
    }

    if (this.#roundBefore.isStart && nowMs - this.#lastRound.atMs >= Math.max(this.estimate.roundTripMs ?? Infinity, (this.#lastRound.atMs - this.#lastRound.sentMs) / 2)) {
      this.#roundBefore = this.#lastRound
    }

    const since = this.#roundBefore
    const isNewRound = this.#lastRound.isStart || mark.acknowledgedBytes >= this.#lastRound.bytes
    this.#lastRoundTripMs = roundTripMs
    this.estimate.onSample({
      nowMs,
      roundTripMs,
      deliveredBytes: mark.positionBytes - since.bytes,
      // the longer of the two: a burst that a buffer has swallowed was not delivered, nor has a clump of pongs come so fast
      intervalMs: Math.max(SHORTEST_MS, nowMs - since.atMs, mark.sentMs - since.sentMs),
      arrivedBytes: this.acknowledgedBytes,
      markedBytes: mark.positionBytes - mark.acknowledgedBytes,
      receivedBytes: this.#receivedBytes - mark.receivedBytes,
      isAppLimited: mark.isAppLimited,
      isBoundLimited: this.#wasHeld,
      isNewRound
    })
    this.#wasHeld = this.isHeld

    if (isNewRound) {
      this.#roundBefore = this.#lastRound
      this.#lastRound = this.#arrivalOf(mark, nowMs)
    }
  }

  #arrivalOf ({ positionBytes, sentMs }: Mark, nowMs: number): Arrival {
    return { bytes: positionBytes, atMs: nowMs, sentMs, isStart: false }
  }

  /** The estimate has changed, or what is under way */
  #follow (nowMs: number): void {
    this.#holdsFromBytes = this.estimate.holdsFromBytes
    this.#setMarkFrom()
    const isHeld = this.byteLength >= this.#holdsFromBytes

    if (isHeld && !this.isHeld) {
      this.#hold(nowMs)
    } else if (!isHeld && this.isHeld) {
      this.isHeld = false
      this.heldMs += Math.max(0, nowMs - this.#heldSinceMs)
    } else if (isHeld && this.#marks.length === 0) {
      // the last mark has been answered, and stood in front of what is under way now
      this.isMarkOwed ||= this.canMark
    }
  }
}
