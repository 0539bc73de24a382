/**
 * The bytes that were handed to the transport and have not reached the peer's muxer yet. Marks tell: pings behind the data, whose
 * pongs say that all in front of them has arrived. Says when more data may follow. Hot: `handDown` runs once per write.
 *
 * Invariants: acknowledgedBytes <= handedDownBytes; marks are in the order in which they were written, MAX_MARKS at most; data that
 * is held back waits for a mark that is under way, or for a look.
 */
import { HEADER_BYTES } from '../wire/frame.ts'
import { FIRST_BYTES, MARK_INTERVAL_MS, MARKS_UNDER_WAY, MIN_MARK_EVERY_BYTES, PathEstimate } from './path-estimate.ts'
import type { NodePaths } from './path-estimate.ts'

/** The values of marks begin here; those of other pings are below */
export const FIRST_MARK_VALUE = 2 ** 31

/** Behind them one in MARK_INTERVAL_MS. With no more than that a connection would learn the rate of a LAN in steps of 5 ms. */
const MARKS_AT_ONCE = 8
/** The oldest is forgotten: a later one says the same */
const MAX_MARKS = 64
/** A write that is nearly as large as the space between two marks is not waited with for another */
const MARK_FROM_PART = 7 / 8
/** No path takes a minute: the clock has jumped */
const LONGEST_MS = 60_000
/** Clocks of browsers are coarse */
const SHORTEST_MS = 1

/** A pong that takes so many round trips may have been dropped, as go-yamux does when it is busy: another mark asks again */
const LATE_ROUND_TRIPS = 2
const LONGEST_LOOK_MS = 1000
/** Without a pong for so long, and so many round trips, nothing is held back: 256 KiB take 4.2 s at 0.5 Mbit/s */
const SHORTEST_LIFT_MS = 5000
const LIFT_ROUND_TRIPS = 4
/** A peer that has not answered any ping yet may be one that answers none */
const FIRST_LIFT_MS = 2000

interface Mark {
  value: number
  sentMs: number
  /** What had been handed down in front of it, and how much of that had arrived */
  positionBytes: number
  acknowledgedBytes: number
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
  /** A mark goes with the next write, or is one by itself */
  isMarkOwed = false
  /** A write that ends behind so many bytes leaves room for a mark: in it a mark costs nothing, behind it a write of its own */
  leavesRoomFromBytes = Infinity
  /** How long nothing at all had come from the peer in front of what comes now */
  silentMs = 0
  /** How long data was held back, the time that it is now left out */
  heldMs = 0
  /** The bytes under way from which on data is held */
  #holdsFromBytes: number
  /** The bytes handed down behind which the next mark stands, or the first ping */
  #markFromBytes: number
  #marks: Mark[] = []
  #nextMark = 0
  #peersMark = 0
  /** When there may be another */
  #nextMarkMs = 0
  /** The ends of this round and of the one before. From one pong to another is exact, and samples span a round trip at least. */
  #lastRound: Arrival = { bytes: 0, atMs: 0, sentMs: 0, isStart: true }
  #roundBefore = this.#lastRound
  /** Until this has arrived samples are app-limited */
  #appLimitedBytes = 0
  #lastRoundTripMs = 0
  #lastPongMs = 0
  #heldSinceMs = 0
  /** Since the last sample */
  #wasHeld = false
  #looks = 0

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
      return MARK_INTERVAL_MS
    }

    return Math.min(LONGEST_LOOK_MS, Math.max(MARK_INTERVAL_MS, LATE_ROUND_TRIPS * this.#lastRoundTripMs) * 2 ** this.#looks)
  }

  /** So much is being handed down. `isAppLimited`: and there is no more. Returns whether a mark is to follow. Hot. */
  handDown (byteLength: number, nowMs: number, isAppLimited: boolean): boolean {
    const isFirst = this.#marks.length === 0 && this.#appLimitedBytes === this.handedDownBytes

    // nothing was to be sent: that time is no part of a sample
    if (isFirst) {
      this.#lastRound = { bytes: this.handedDownBytes, atMs: nowMs, sentMs: nowMs, isStart: true }
      this.#roundBefore = this.#lastRound
    }

    this.handedDownBytes += byteLength

    // also in the first round trip, in which the path fills
    if (isAppLimited || isFirst) {
      this.#appLimitedBytes = this.handedDownBytes
    }

    if (!this.isHeld && this.handedDownBytes - this.acknowledgedBytes >= this.#holdsFromBytes) {
      this.#hold(nowMs)
    }

    return this.isMarkOwed || (this.handedDownBytes >= this.#markFromBytes && this.#mayMark(nowMs))
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
      isAppLimited: this.#appLimitedBytes > this.acknowledgedBytes
    })
    this.handedDownBytes += HEADER_BYTES
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
    this.#marks.splice(0, index + 1)
    const arrivedBytes = mark.positionBytes - this.acknowledgedBytes
    this.acknowledgedBytes = mark.positionBytes
    this.#lastPongMs = nowMs
    this.#looks = 0

    if (this.isBounded) {
      this.#learn(mark, arrivedBytes, nowMs)
      this.#follow(nowMs)
    }

    return true
  }

  /** A ping was answered that is no mark: what had been handed down in front of it has arrived */
  onPong (positionBytes: number, roundTripMs: number, nowMs: number): void {
    this.acknowledgedBytes = Math.max(this.acknowledgedBytes, positionBytes)

    if (this.isBounded) {
      this.#marks = this.#marks.filter(mark => mark.positionBytes > positionBytes)
      this.estimate.onRoundTrip(roundTripMs)
      this.#follow(nowMs)
    }
  }

  /** Values above FIRST_MARK_VALUE that count up are marks of a peer that does the same; others count from 0, or draw theirs */
  onPing (value: number): void {
    this.estimate.isPeerBounded ||= value > FIRST_MARK_VALUE && value === this.#peersMark + 1
    this.#peersMark = value
  }

  onTransportFull (nowMs: number): void {
    if (this.isBounded) {
      this.estimate.onTransportFull()
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

    if (aheadMs > (MARKS_AT_ONCE - 1) * MARK_INTERVAL_MS && !isClockSetBack) {
      return false
    }

    this.#nextMarkMs = nowMs + MARK_INTERVAL_MS + (isClockSetBack ? 0 : Math.max(0, aheadMs))

    return true
  }

  #setMarkFrom (): void {
    if (this.isBounded && this.canMark) {
      const everyBytes = Math.max(MIN_MARK_EVERY_BYTES, this.byteLength / MARKS_UNDER_WAY, this.estimate.bytesPerMs * MARK_INTERVAL_MS)
      this.#markFromBytes = this.markedBytes + MARK_FROM_PART * everyBytes
      this.leavesRoomFromBytes = Math.min(this.#markFromBytes, this.acknowledgedBytes + this.#holdsFromBytes)
    }
  }

  #learn (mark: Mark, arrivedBytes: number, nowMs: number): void {
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

    if (this.#roundBefore.isStart && nowMs - this.#lastRound.atMs >= (this.estimate.roundTripMs ?? Infinity)) {
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
      markedBytes: mark.positionBytes - mark.acknowledgedBytes,
      arrivedBytes,
      silentMs: this.silentMs,
      isAppLimited: mark.isAppLimited,
      isBoundLimited: this.#wasHeld,
      isNewRound,
      underWayBytes: this.byteLength
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
