/**
 * How much the peer may send on a stream, when an update is due, and when the window grows.
 */
import { ProtocolError } from '../errors.ts'
import { INITIAL_WINDOW_BYTES } from '../wire/frame.ts'
import type { BudgetHolder, ConnectionBudget } from './connection-budget.ts'

/**
 * The part of a window that has been read when an update is due. Half keeps the sender busy while the update travels, and costs two updates
 * per window. go-yamux, rust-yamux since 0.8 and nghttp2 do the same.
 *
 * Slightly less, because two Noise records hold 131,014 bytes, 58 fewer than half of 256 KiB. An update that waited for the third would hold
 * the sender back.
 */
export const UPDATE_PART = 0.499

/**
 * The same while the window holds its sender back, which then waits for every update. A window grows in half the time, and one that cannot
 * grow lets three quarters of itself be in flight instead of half.
 */
export const SLOWED_UPDATE_PART = UPDATE_PART / 2

/**
 * If a window is read within this many round trips, it slows the peer: credit needs one round trip, and bursts the rest. quic-go grows windows
 * by the same rule. It also applies to a program that reads in one turn all the credit it granted in the previous one.
 */
const GROW_WITHIN = 4

/**
 * A new stream may carry much or little, so its window gets a head start: as much as 1 Gbit/s carries while credit travels. The limit is the
 * window that @libp2p/yamux reaches while a protocol is negotiated. An answer of 1 MiB needs one round trip less with it. The head start
 * affects neither when updates are due nor when the window grows.
 */
const NEW_BYTES_PER_MS = 125_000
/** A message of 1 MiB and its framing */
const NEW_WINDOW_BYTES = 1_114_112
/** A head start smaller than the window is not worth a frame: streams on a LAN get none */
export const FAR_MS = 2 * INITIAL_WINDOW_BYTES / NEW_BYTES_PER_MS

/** Credit below this part of the window counts as used up: a sender may not find it worth a frame */
const USED_UP_PART = 1 / 16

/**
 * Invariant: availableBytes + unread + readBytes = windowBytes, where `unread` are bytes that have arrived and were not read. So a stream
 * never holds more than its window.
 */
export class ReceiveWindow implements BudgetHolder {
  /** The window that was advertised to the peer */
  windowBytes = INITIAL_WINDOW_BYTES
  /** How much the peer may still send */
  availableBytes = INITIAL_WINDOW_BYTES
  /** Read by the application, not yet given back */
  readBytes = 0
  /** Taken from the connection's budget for growth */
  grownBytes = 0
  /** Taken from the budget for the head start */
  headStartBytes = 0
  /** Taken from the budget's reserve */
  reserveBytes = 0
  /** It was refused some of its fair part of the budget */
  isDenied = false
  /** How far the peer has exceeded the window */
  toleratedBytes = 0
  /** Nothing was read yet. A field, as it is checked once per event. */
  isNew = true
  /** By how much the window is raised, until an update tells the peer */
  raiseBytes: number
  readonly #maxBytes: number
  /** The advertised window without its head start */
  #workingBytes = INITIAL_WINDOW_BYTES
  /**
   * How much was read beyond the point at which the last update was due, as reads come in chunks. It counts towards the next update.
   * Otherwise these points drift, until each update is a round trip late.
   */
  #surplusBytes = 0
  /** The time of the last update, from which `readBytes` are counted; of the first read before there is one */
  #epochStartMs: number | undefined
  /** The first read since, which is no part of the rate, and its time */
  #epochFirstBytes = 0
  #firstReadMs = 0
  /** At the last update the peer had used up its credit, and all its bytes were read */
  #wasUsedUp = false

  /** `initialBytes` is advertised with the first frame. `maxBytes` is the limit of growth. */
  constructor (initialBytes: number, maxBytes: number) {
    this.raiseBytes = Math.max(0, initialBytes - INITIAL_WINDOW_BYTES)
    this.#maxBytes = maxBytes
  }

  /** Accounts for the header of a DATA frame, before its body is stored */
  receive (payloadBytes: number, streamId: number): void {
    if (payloadBytes > this.availableBytes) {
      throw new ProtocolError('ERR_RECEIVE_WINDOW_EXCEEDED', `received ${payloadBytes} bytes on stream ${streamId}, allowed ${this.availableBytes}`)
    }

    this.availableBytes -= payloadBytes
  }

  /**
   * The peer exceeds its window. @libp2p/yamux does if its own initialStreamWindowSize is larger than this side's, which it takes for its
   * initial credit. The window becomes as large as that peer assumes. Returns false, for a violation, beyond `maxBytes` of a stream or beyond
   * the limit of the connection.
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

  /** Accounts for bytes that the application has read */
  read (payloadBytes: number, nowMs: number): void {
    if (this.readBytes === 0) {
      this.#firstReadMs = nowMs
      this.#epochFirstBytes = this.#epochStartMs === undefined || this.#wasUsedUp ? payloadBytes : 0
    }

    this.isNew = false
    this.readBytes += payloadBytes
    this.#epochStartMs ??= nowMs
  }

  /**
   * Enough was read for an update. The round trip is the smoothed one, or undefined before it was measured. This side's program works for
   * `programMs` before it reads more.
   */
  isUpdateDue (nowMs: number, roundTripMs: number | undefined, programMs: number): boolean {
    const doneBytes = this.#surplusBytes + this.readBytes

    return doneBytes >= this.#workingBytes * UPDATE_PART ||
      (doneBytes >= this.#workingBytes * SLOWED_UPDATE_PART && this.#neededBytes(nowMs, roundTripMs, programMs) > this.windowBytes)
  }

  /** The peer may soon have to stop: it has used half of the protocol's window, or its window is at least twice as large. Head starts do not count. */
  get isRunningShort (): boolean {
    const isLarge = this.#workingBytes >= 2 * INITIAL_WINDOW_BYTES

    return isLarge || this.availableBytes <= this.windowBytes - this.#workingBytes + INITIAL_WINDOW_BYTES * (1 - UPDATE_PART)
  }

  /** A larger window is to be advertised: an initial one, a head start, or relief from a stall */
  get isRaised (): boolean {
    return this.raiseBytes > 0
  }

  /** Returns the delta of the window update that is being written; from here on the peer may use it */
  takeUpdate (nowMs: number, roundTripMs: number | undefined, budget: ConnectionBudget, programMs: number): number {
    // while others are denied their part, bytes beyond the fair part are not given back: yamux has no other way to shrink a window
    const shrinkBytes = Math.min(this.readBytes, budget.excessBytes(this, nowMs))
    budget.giveBack(this, shrinkBytes)
    const growthBytes = this.raiseBytes - shrinkBytes + this.#grow(this.#neededBytes(nowMs, roundTripMs, programMs), nowMs, budget)
    this.#wasUsedUp = this.availableBytes < this.windowBytes * USED_UP_PART && this.readBytes + this.availableBytes === this.windowBytes
    this.#surplusBytes = growthBytes === 0 ? (this.#surplusBytes + this.readBytes) % (this.#workingBytes * SLOWED_UPDATE_PART) : 0

    return this.#update(this.readBytes, growthBytes, nowMs)
  }

  /** The delta for an update that gives back a part of what was read. The window neither grows nor shrinks by it. */
  takePortion (portionBytes: number, nowMs: number): number {
    this.#surplusBytes = 0
    this.#wasUsedUp = false

    return this.#update(Math.min(this.readBytes, portionBytes), this.raiseBytes, nowMs)
  }

  /** The peer sends no more: only unread bytes remain of the window */
  shrink (budget: ConnectionBudget): void {
    const freeBytes = this.availableBytes + this.readBytes
    budget.shrink(this, freeBytes + this.raiseBytes)
    this.windowBytes -= freeBytes
    this.availableBytes = 0
    this.readBytes = 0
    this.raiseBytes = 0
  }

  /** The bytes read so far show no rate, as their credit was withheld */
  forgetRate (): void {
    this.#epochStartMs = undefined
  }

  /** Advertises a window that is larger by `growthBytes`, and gives bytes back. Returns the delta. */
  #update (backBytes: number, growthBytes: number, nowMs: number): number {
    this.windowBytes += growthBytes
    this.#workingBytes = this.windowBytes - this.headStartBytes
    this.availableBytes += backBytes + growthBytes
    this.readBytes -= backBytes
    this.raiseBytes = 0

    if (this.#epochStartMs !== undefined) {
      this.#epochStartMs = nowMs
    }

    return backBytes + growthBytes
  }

  /** Gives a new stream its head start, as credit takes `creditMs` to travel. Its window is `mostBytes` at most. Returns whether an update is due. */
  addHeadStart (creditMs: number, budget: ConnectionBudget, mostBytes = Infinity): boolean {
    const wishBytes = Math.floor(Math.min(NEW_BYTES_PER_MS * creditMs, NEW_WINDOW_BYTES, this.#maxBytes, mostBytes)) - this.windowBytes - this.raiseBytes

    if (wishBytes >= this.windowBytes) {
      this.raiseBytes += budget.takeHeadStart(this, wishBytes)
    }

    return this.isRaised
  }

  /** Raises the window, as far as that may grow. Returns by how much. */
  raise (wishBytes: number, nowMs: number, budget: ConnectionBudget): number {
    const raisedBytes = budget.take(this, Math.min(wishBytes, this.#maxBytes - this.windowBytes - this.raiseBytes), nowMs)
    this.raiseBytes += raisedBytes

    return raisedBytes
  }

  /**
   * Both directions are stalled: doubles the window, as far as `maxBytes`, the budget and `roomBytes` allow, and gives back bytes that were
   * read. Returns whether an update is due.
   */
  relieve (roomBytes: number, nowMs: number, budget: ConnectionBudget): boolean {
    const wishBytes = Math.min(this.windowBytes, this.#maxBytes - this.windowBytes, roomBytes - this.availableBytes)

    // only once for each update
    if (wishBytes > 0 && this.raiseBytes === 0) {
      this.raiseBytes = budget.take(this, wishBytes, nowMs)
    }

    return this.raiseBytes + this.readBytes > 0
  }

  /**
   * Returns by how much the window grows. It doubles once; that gives other streams time to show whether they grow too. After that it grows
   * straight to the size it needs, within its fair part, and doubles at least.
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

  /** The window that would not hold the sender back at the rate of the last reads; 0 if there are too few of them */
  #neededBytes (nowMs: number, roundTripMs: number | undefined, programMs: number): number {
    const isTooFew = this.#surplusBytes + this.readBytes < this.#workingBytes * SLOWED_UPDATE_PART

    if (roundTripMs === undefined || this.#epochStartMs === undefined || isTooFew) {
      return 0
    }

    const holdsBackMs = GROW_WITHIN * roundTripMs
    const waitedMs = this.#firstReadMs - this.#epochStartMs
    // the peer waited for credit, and then one of the programs was busy: that time is no part of the rate
    const isApart = this.#wasUsedUp && waitedMs > holdsBackMs
    const tookMs = nowMs - (isApart ? this.#firstReadMs : this.#epochStartMs)
    const byteMs = holdsBackMs * (this.readBytes - (isApart || waitedMs === 0 ? this.#epochFirstBytes : 0))
    const turnsMs = nowMs - this.#epochStartMs

    return Math.max(byteMs > 0 ? byteMs / tookMs : 0, turnsMs > 0 ? GROW_WITHIN * programMs * this.readBytes / turnsMs : 0)
  }
}
