/**
 * How much the peer may send: on one stream, when credit is given back, and when the window grows (ReceiveWindow); and what all windows
 * of a connection may grow by together (ConnectionBudget).
 */
import { ProtocolError } from '../errors.ts'
import { INITIAL_WINDOW_BYTES } from '../wire/frame.ts'

/**
 * The part of a window that has been read when credit is given back. Half keeps the sender busy while the update travels, and costs
 * two updates a window (go-yamux, rust-yamux since 0.8 and nghttp2 do the same; at zero an adsl2+ line loses 31 %).
 *
 * A hair less, because data comes in Noise records: two of them bring 131,014 bytes, 58 short of half of 256 KiB. An update that
 * waits for a third holds the sender back, an adsl2+ line loses 18 %.
 */
export const UPDATE_PART = 0.499

/**
 * The same while the window holds its sender back, who waits for every update: a window grows in half the time, and one that may
 * not grow any more lets three quarters of it be in flight, not half. 16 MiB need that to carry 0.97 of 1 Gbit/s at 100 ms.
 */
export const SLOWED_UPDATE_PART = UPDATE_PART / 2

/**
 * A window that is read in less than this many round trips holds the sender back: credit takes one
 * to travel, and bursts take the rest (quic-go grows its windows by the same rule). The same with turns of this side's program, where
 * they are long: what credit lets through is read in the next one.
 */
const GROW_WITHIN = 4

/**
 * Nobody knows how much a new stream is to carry. Its window gets a head start, for what 1 Gbit/s carries while credit travels and as far as
 * @libp2p/yamux goes while a protocol is agreed on: without it an answer of 300 KB or 1 MiB takes 3 round trips, not 2. The head start
 * changes neither when credit is given back nor when the window grows.
 */
const NEW_BYTES_PER_MS = 125_000
/** A message of 1 MiB, and what it is wrapped in */
const NEW_WINDOW_BYTES = 1_114_112
/** A head start of less than the window is not worth a frame: on a LAN a stream begins without */
export const FAR_MS = 2 * INITIAL_WINDOW_BYTES / NEW_BYTES_PER_MS

/** Less credit than this part of the window is none: a sender may not find it worth a frame */
const USED_UP_PART = 1 / 16

/**
 * Invariant: availableBytes + unread + readBytes = windowBytes, where `unread` is what has arrived
 * and was not read yet. So what a stream holds never exceeds its window.
 */
export class ReceiveWindow {
  /** The window that the peer was told of */
  windowBytes = INITIAL_WINDOW_BYTES
  /** What the peer may still send */
  availableBytes = INITIAL_WINDOW_BYTES
  /** Taken from the connection's budget because more was needed */
  grownBytes = 0
  /** Taken from it because the stream was new */
  headStartBytes = 0
  /** Taken from what is kept for those who come when all else is taken */
  reserveBytes = 0
  /** It asked for no more than its fair part of the budget, and did not get it */
  isDenied = false
  /** Used by the peer although nobody gave it */
  toleratedBytes = 0
  /** Nothing was read yet. A field, since it is asked once per event. */
  isNew = true
  /** What the window is raised by, until the peer is told */
  raiseBytes: number
  readonly #maxBytes: number
  /** The window that the peer was told of, without the head start */
  #workingBytes = INITIAL_WINDOW_BYTES
  /** Read by the application, not yet given back */
  #readBytes = 0
  /**
   * What the last update gave back beyond the point where it was due, for reads come in chunks. It counts towards the
   * next: otherwise the points drift until each waits for the first bytes that the one before it has let through, a
   * round trip, which made updates at half slower than updates at zero for windows below what the link holds.
   */
  #surplusBytes = 0
  /** When the bytes that are not given back yet began to be read; undefined before the first */
  #epochStartMs: number | undefined
  /** The first read of them, which is no part of the rate, and when that was */
  #epochFirstBytes = 0
  #firstReadMs = 0
  /** The peer had used all credit, and all that had come was read, when it got more */
  #wasUsedUp = false

  /** `initialBytes` is advertised with the first frame; growth ends at `maxBytes` */
  constructor (initialBytes: number, maxBytes: number) {
    this.raiseBytes = Math.max(0, initialBytes - INITIAL_WINDOW_BYTES)
    this.#maxBytes = maxBytes
  }

  /** Accounts for a DATA header; called before any of its body is kept */
  receive (payloadBytes: number, streamId: number): void {
    if (payloadBytes > this.availableBytes) {
      throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${payloadBytes} bytes on stream ${streamId}, allowed ${this.availableBytes}`)
    }

    this.availableBytes -= payloadBytes
  }

  /**
   * The peer sends more than it was given. @libp2p/yamux does if its own initialStreamWindowSize is larger than this side's: it takes that for
   * its credit from the beginning, and never says so. The window is as large then as that peer believes. This is a violation beyond `maxBytes`
   * for a stream, and beyond what the connection tolerates.
   */
  tolerate (excessBytes: number, maxBytes: number, budget: ConnectionBudget): boolean {
    const isTolerated = this.toleratedBytes + excessBytes <= maxBytes && budget.tolerate(this, excessBytes)

    if (isTolerated) {
      this.windowBytes += excessBytes
      this.#workingBytes += excessBytes
      this.availableBytes += excessBytes
    }

    return isTolerated
  }

  /** Accounts for what the application has read */
  read (payloadBytes: number, nowMs: number): void {
    if (this.#readBytes === 0) {
      this.#firstReadMs = nowMs
      this.#epochFirstBytes = this.#epochStartMs === undefined || this.#wasUsedUp ? payloadBytes : 0
    }

    this.isNew = false
    this.#readBytes += payloadBytes
    this.#epochStartMs ??= nowMs
  }

  /**
   * Enough was read to give credit back. The round trip is the smoothed one; undefined until it was measured. This side's program works for
   * `programMs` before it looks for more.
   */
  isUpdateDue (nowMs: number, roundTripMs: number | undefined, programMs: number): boolean {
    const doneBytes = this.#surplusBytes + this.#readBytes

    return doneBytes >= this.#workingBytes * UPDATE_PART ||
      (doneBytes >= this.#workingBytes * SLOWED_UPDATE_PART && this.#neededBytes(nowMs, roundTripMs, programMs) > this.windowBytes)
  }

  /** The peer may come to a stop soon if it gets no more: it has used half of the protocol's window, or uses one twice as large. A head start does not count. */
  get isRunningShort (): boolean {
    const isLarge = this.#workingBytes >= 2 * INITIAL_WINDOW_BYTES

    return isLarge || this.availableBytes <= this.windowBytes - this.#workingBytes + INITIAL_WINDOW_BYTES * (1 - UPDATE_PART)
  }

  /** A larger window waits to be advertised: an initial one, a head start, or relief */
  get isRaised (): boolean {
    return this.raiseBytes > 0
  }

  /** The delta for a window update that is being written now; from here on the peer may use it */
  takeUpdate (nowMs: number, roundTripMs: number | undefined, budget: ConnectionBudget, programMs: number): number {
    // others are denied their part: what is beyond the fair one is not renewed, which is all that yamux allows
    const shrinkBytes = Math.min(this.#readBytes, budget.excessBytes(this, nowMs))
    budget.giveBack(this, shrinkBytes)
    const growthBytes = this.raiseBytes - shrinkBytes + this.#grow(this.#neededBytes(nowMs, roundTripMs, programMs), nowMs, budget)
    const deltaBytes = this.#readBytes + growthBytes
    this.#wasUsedUp = this.availableBytes < this.windowBytes * USED_UP_PART && this.#readBytes + this.availableBytes === this.windowBytes
    this.#surplusBytes = growthBytes === 0 ? (this.#surplusBytes + this.#readBytes) % (this.#workingBytes * SLOWED_UPDATE_PART) : 0
    this.windowBytes += growthBytes
    this.#workingBytes = this.windowBytes - this.headStartBytes
    this.availableBytes += deltaBytes
    this.#readBytes = 0
    this.raiseBytes = 0

    if (this.#epochStartMs !== undefined) {
      this.#epochStartMs = nowMs
    }

    return deltaBytes
  }

  /** The stream is new, and credit takes so long to travel: takes a head start. Returns whether there is anything to tell the peer. */
  addHeadStart (creditMs: number, budget: ConnectionBudget): boolean {
    const wishBytes = Math.floor(Math.min(NEW_BYTES_PER_MS * creditMs, NEW_WINDOW_BYTES, this.#maxBytes)) - this.windowBytes - this.raiseBytes

    if (wishBytes >= this.windowBytes) {
      this.raiseBytes += budget.takeHeadStart(this, wishBytes)
    }

    return this.isRaised
  }

  /**
   * Both directions stand still: gives back what was read and doubles the window, as far as `maxBytes` and the budget allow and
   * `roomBytes` are left to be filled. Returns whether there is anything to tell the peer.
   */
  relieve (roomBytes: number, nowMs: number, budget: ConnectionBudget): boolean {
    const wishBytes = Math.min(this.windowBytes, this.#maxBytes - this.windowBytes, roomBytes - this.availableBytes)

    // once until the peer is told
    if (wishBytes > 0 && this.raiseBytes === 0) {
      this.raiseBytes = budget.take(this, wishBytes, nowMs)
    }

    return this.raiseBytes + this.#readBytes > 0
  }

  /**
   * Doubles at first: which other streams want to grow shows by then. From there it goes on to what is needed, within
   * its fair part, which takes the same window in one step: 4 MB on a new stream use 0.46 of 1 Gbit/s at 100 ms, not 0.30.
   */
  #grow (neededBytes: number, nowMs: number, budget: ConnectionBudget): number {
    const roomBytes = this.#maxBytes - this.windowBytes - this.raiseBytes
    const missingBytes = neededBytes - this.windowBytes

    if (roomBytes <= 0 || missingBytes <= 0) {
      return 0
    }

    const leapBytes = this.grownBytes > 0 ? Math.min(Math.floor(missingBytes), budget.fairRestBytes(this)) : 0

    return budget.take(this, Math.min(roomBytes, Math.max(this.#workingBytes, leapBytes)), nowMs)
  }

  /** The window that would not hold the sender back at the rate of the last reads; 0 while they are too few to tell */
  #neededBytes (nowMs: number, roundTripMs: number | undefined, programMs: number): number {
    const isTooFew = this.#surplusBytes + this.#readBytes < this.#workingBytes * SLOWED_UPDATE_PART

    if (roundTripMs === undefined || this.#epochStartMs === undefined || isTooFew) {
      return 0
    }

    const holdsBackMs = GROW_WITHIN * roundTripMs
    const waitedMs = this.#firstReadMs - this.#epochStartMs
    // the peer waited for credit, and a program at one end for its turn: that time says nothing of the rate
    const isApart = this.#wasUsedUp && waitedMs > holdsBackMs
    const tookMs = nowMs - (isApart ? this.#firstReadMs : this.#epochStartMs)
    const byteMs = holdsBackMs * (this.#readBytes - (isApart || waitedMs === 0 ? this.#epochFirstBytes : 0))
    const turnsMs = nowMs - this.#epochStartMs

    // a clock that was set back tells nothing
    return Math.max(tookMs >= 0 && byteMs > 0 ? byteMs / tookMs : 0, turnsMs > 0 ? GROW_WITHIN * programMs * this.#readBytes / turnsMs : 0)
  }
}

/** How long a denial limits others. A window that still wants more asks again within two round trips. */
const DENIAL_LASTS_MS = 5000

/** Most streams never use their head start. So all of them together get this part of the budget at most. */
const ALL_HEAD_STARTS_PART = 1 / 2
/** And each gets this part of what is left of it */
const EACH_HEAD_START_PART = 1 / 8

/** Of what is kept for those who come when all else is taken, each gets this part at most */
const EACH_RESERVE_PART = 1 / 4

/** A window, as far as it holds a part of the budget */
export type BudgetHolder = Pick<ReceiveWindow, 'grownBytes' | 'headStartBytes' | 'reserveBytes' | 'toleratedBytes' | 'isDenied'>

/**
 * What all receive windows of a connection may grow by together. A thousand streams that each earn
 * a large window would otherwise add up to more memory than the machine has.
 *
 * The window that comes first may have all of it but what is kept: one stream alone needs it. When another is denied its fair
 * part, those that hold more give back as they are renewed, until all hold the same.
 *
 * A denial is forgotten after a while: a stream that falls idle must not keep the others small.
 *
 * Invariant: availableBytes + the grownBytes and headStartBytes of all holders = the total; what is kept is beside it.
 */
export class ConnectionBudget {
  readonly #totalBytes: number
  readonly #totalReserveBytes: number
  availableBytes: number
  /** What is left of what is kept */
  #reserveBytes: number
  #toleratedBytes = 0
  /** All head starts together. A window that has only a head start takes nothing from the fair part of others. */
  #headStartBytes = 0
  /** Windows that hold something or were denied it */
  #holderCount = 0
  #lastDenialMs = -Infinity

  constructor (totalBytes: number, reserveBytes = 0) {
    this.#totalBytes = totalBytes
    this.#totalReserveBytes = reserveBytes
    this.availableBytes = totalBytes
    this.#reserveBytes = reserveBytes
  }

  /** With what is kept */
  get freeBytes (): number {
    return this.availableBytes + this.#reserveBytes
  }

  /** Returns how much of the wish is granted */
  take (holder: BudgetHolder, wishBytes: number, nowMs: number): number {
    const isNew = holder.grownBytes === 0 && !holder.isDenied
    const fairBytes = this.#fairBytes(this.#holderCount + Number(isNew)) - holder.grownBytes
    const fairWishBytes = Math.min(wishBytes, Math.max(0, fairBytes))
    const grantedBytes = Math.min(this.availableBytes, this.#isContested(nowMs) ? fairWishBytes : wishBytes)
    const isDenied = grantedBytes < fairWishBytes
    this.#set(holder, holder.grownBytes + grantedBytes, isDenied)
    this.#lastDenialMs = isDenied ? nowMs : this.#lastDenialMs

    return grantedBytes + (isDenied ? this.#takeReserve(holder, fairWishBytes - grantedBytes) : 0)
  }

  /** Those that hold the rest may stand still for ever: so a part is kept for a stream that is being read, which is what asks */
  #takeReserve (holder: BudgetHolder, wishBytes: number): number {
    const grantedBytes = Math.min(wishBytes, this.#reserveBytes, Math.floor(EACH_RESERVE_PART * this.#totalReserveBytes) - holder.reserveBytes)
    this.#reserveBytes -= grantedBytes
    holder.reserveBytes += grantedBytes

    return grantedBytes
  }

  /** What a peer has sent unasked: as much as all windows may grow by, beside that, for windows that have grown must not end a connection */
  tolerate (holder: BudgetHolder, bytes: number): boolean {
    const isTolerated = this.#toleratedBytes + bytes <= this.#totalBytes + this.#totalReserveBytes

    if (isTolerated) {
      this.#toleratedBytes += bytes
      holder.toleratedBytes += bytes
    }

    return isTolerated
  }

  /** Returns how much of the wish a new stream gets for its head start */
  takeHeadStart (holder: BudgetHolder, wishBytes: number): number {
    const restBytes = ALL_HEAD_STARTS_PART * this.#totalBytes - this.#headStartBytes
    const grantedBytes = Math.min(wishBytes, this.availableBytes, Math.floor(EACH_HEAD_START_PART * restBytes))
    this.#setHeadStart(holder, holder.headStartBytes + grantedBytes)

    return grantedBytes
  }

  /** What the window's fair part has beyond what it holds */
  fairRestBytes (holder: BudgetHolder): number {
    return Math.max(0, this.#fairBytes(this.#holderCount) - holder.grownBytes)
  }

  /** What the window holds beyond its fair part while others are denied theirs */
  excessBytes (holder: BudgetHolder, nowMs: number): number {
    return this.#isContested(nowMs) ? Math.max(0, holder.grownBytes - this.#fairBytes(this.#holderCount)) : 0
  }

  giveBack (holder: BudgetHolder, bytes: number): void {
    this.#set(holder, holder.grownBytes - bytes, holder.isDenied)
  }

  /** The window is no more: what it had grown by is free for others */
  release (holder: BudgetHolder): void {
    this.#set(holder, 0, false)
    this.#reserveBytes += holder.reserveBytes
    this.#toleratedBytes -= holder.toleratedBytes
    holder.reserveBytes = 0
    holder.toleratedBytes = 0

    if (holder.headStartBytes > 0) {
      this.#setHeadStart(holder, 0)
    }
  }

  #isContested (nowMs: number): boolean {
    // also by a clock that was set back
    return Math.abs(nowMs - this.#lastDenialMs) < DENIAL_LASTS_MS
  }

  #fairBytes (holderCount: number): number {
    return Math.floor((this.#totalBytes - this.#headStartBytes) / Math.max(1, holderCount))
  }

  #setHeadStart (holder: BudgetHolder, bytes: number): void {
    this.availableBytes += holder.headStartBytes - bytes
    this.#headStartBytes += bytes - holder.headStartBytes
    holder.headStartBytes = bytes
  }

  #set (holder: BudgetHolder, grownBytes: number, isDenied: boolean): void {
    const was = holder.grownBytes > 0 || holder.isDenied
    const is = grownBytes > 0 || isDenied
    this.availableBytes += holder.grownBytes - grownBytes
    this.#holderCount += Number(is) - Number(was)
    holder.grownBytes = grownBytes
    holder.isDenied = isDenied
  }
}
