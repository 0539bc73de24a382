/**
 * The budget of a connection: by how much all its receive windows together may grow.
 */
import type { NodeBudget } from './node-budget.ts'

/** How long a denial limits other windows. One that still needs more asks again within two round trips. */
const DENIAL_LASTS_MS = 5000

/** All head starts together get at most this part of the budget, as most streams never use theirs */
const ALL_HEAD_STARTS_PART = 1 / 2
/** Each head start gets at most this part of the rest */
const EACH_HEAD_START_PART = 1 / 8

/**
 * A connection's windows may grow by this part of what would be free on the node without their growth. So no connection takes more than this
 * part of the node's limit, connections that need more end up equal, and something is always left for another.
 */
const NODE_PART = 7 / 8

/** Each window gets at most this part of the reserve */
const EACH_RESERVE_PART = 1 / 4

/** A window: what it has, and what it has taken from the budget. The budget alone writes the latter. */
export interface BudgetHolder {
  readonly windowBytes: number
  readonly raiseBytes: number
  grownBytes: number
  headStartBytes: number
  reserveBytes: number
  toleratedBytes: number
  isDenied: boolean
}

/**
 * By how much all receive windows of a connection together may grow. Otherwise a thousand streams with large windows could need more
 * memory than the machine has.
 *
 * One window may take the whole budget except the reserve: a stream alone needs it. If another window is denied its fair part, those that
 * hold more give back with their updates, until all hold the same. A denial expires: a stream that falls idle must not keep others small.
 *
 * Windows that are never read again may hold the whole budget. So a window that is denied its fair part gets some of the reserve.
 *
 * If the node has a limit, the budget ends where that leaves no more: windows give back what they have beyond it in the same way.
 *
 * Invariant: availableBytes + the grownBytes and headStartBytes of all holders = the total, which does not include the reserve.
 */
export class ConnectionBudget {
  readonly #totalBytes: number
  readonly #totalReserveBytes: number
  readonly #node: NodeBudget
  availableBytes: number
  /** The rest of the reserve */
  reserveBytes: number
  #toleratedBytes = 0
  /** All head starts together. A window with only a head start is no holder, and leaves the fair part of others as it is. */
  #headStartBytes = 0
  /** Windows that have grown or were denied growth */
  #holderCount = 0
  #lastDenialMs = -Infinity

  constructor (totalBytes: number, reserveBytes: number, node: NodeBudget) {
    this.#totalBytes = totalBytes
    this.#totalReserveBytes = reserveBytes
    this.#node = node
    this.availableBytes = totalBytes
    this.reserveBytes = reserveBytes
  }

  /** A stream opens */
  add (holder: BudgetHolder): void {
    this.#node.freeBytes -= holder.windowBytes + holder.raiseBytes
  }

  /** Returns how much of the wish is granted */
  take (holder: BudgetHolder, wishBytes: number, nowMs: number): number {
    // from here on it is one of those that share
    this.#set(holder, holder.grownBytes, true)
    const roomBytes = this.#roomBytes
    const fairWishBytes = Math.min(wishBytes, this.fairRestBytes(holder))

    if (roomBytes < Math.min(wishBytes, this.availableBytes)) {
      this.#node.hold(nowMs)
    }

    const grantedBytes = Math.max(0, Math.min(roomBytes, this.#isContested(nowMs) ? fairWishBytes : wishBytes))
    const isDenied = grantedBytes < fairWishBytes
    this.#set(holder, holder.grownBytes + grantedBytes, isDenied)

    if (!isDenied) {
      return grantedBytes
    }

    this.#lastDenialMs = nowMs

    return grantedBytes + this.#takeReserve(holder, fairWishBytes - grantedBytes)
  }

  /** Grants a part of the reserve: the windows that hold the rest may never be read again, but one that asks is being read */
  #takeReserve (holder: BudgetHolder, wishBytes: number): number {
    const grantedBytes = Math.min(wishBytes, this.reserveBytes, Math.floor(EACH_RESERVE_PART * this.#totalReserveBytes) - holder.reserveBytes, Math.max(0, this.#node.freeBytes))
    this.#node.freeBytes -= grantedBytes
    this.reserveBytes -= grantedBytes
    holder.reserveBytes += grantedBytes

    return grantedBytes
  }

  /**
   * Returns whether bytes beyond a window are tolerated. All windows together may exceed theirs by the size of the budget. It is not taken from
   * the budget, as grown windows must not end a connection.
   */
  tolerate (holder: BudgetHolder, bytes: number): boolean {
    const isTolerated = this.#toleratedBytes + bytes <= this.#totalBytes + this.#totalReserveBytes && bytes <= this.#node.freeBytes

    if (isTolerated) {
      this.#node.freeBytes -= bytes
      this.#toleratedBytes += bytes
      holder.toleratedBytes += bytes
    }

    return isTolerated
  }

  /** Returns how much of the wish is granted to a new stream as its head start */
  takeHeadStart (holder: BudgetHolder, wishBytes: number): number {
    const restBytes = Math.min(ALL_HEAD_STARTS_PART * this.#totalBytes - this.#headStartBytes, this.#node.freeBytes)
    const grantedBytes = Math.max(0, Math.min(wishBytes, this.availableBytes, Math.floor(EACH_HEAD_START_PART * restBytes)))
    this.#node.freeBytes -= grantedBytes
    this.#setHeadStart(holder, holder.headStartBytes + grantedBytes)

    return grantedBytes
  }

  /** How much the window may grow within its fair part */
  fairRestBytes (holder: BudgetHolder): number {
    return Math.max(0, this.#fairBytes - holder.grownBytes)
  }

  /** How much the window holds beyond its fair part while others are denied theirs */
  excessBytes (holder: BudgetHolder, nowMs: number): number {
    return this.#isContested(nowMs) ? Math.max(0, holder.grownBytes - this.#fairBytes) : 0
  }

  giveBack (holder: BudgetHolder, bytes: number): void {
    this.#set(holder, holder.grownBytes - bytes, holder.isDenied)
  }

  /** The window shrinks by this much for good, which frees what it had taken. What was tolerated stays taken until the stream ends. */
  shrink (holder: BudgetHolder, bytes: number): void {
    const grownBytes = Math.min(bytes, holder.grownBytes)
    const reserveBytes = Math.min(bytes - grownBytes, holder.reserveBytes)
    const headStartBytes = Math.min(bytes - grownBytes - reserveBytes, holder.headStartBytes)
    this.#node.freeBytes += bytes - grownBytes
    this.reserveBytes += reserveBytes
    holder.reserveBytes -= reserveBytes

    if (holder.grownBytes > 0 || holder.isDenied) {
      this.#set(holder, holder.grownBytes - grownBytes, false)
    }

    if (headStartBytes > 0) {
      this.#setHeadStart(holder, holder.headStartBytes - headStartBytes)
    }
  }

  /** The stream has ended: all that its window took is free again */
  release (holder: BudgetHolder): void {
    this.shrink(holder, holder.windowBytes + holder.raiseBytes)
    this.#toleratedBytes -= holder.toleratedBytes
    holder.toleratedBytes = 0
  }

  /** Others are denied their fair part, or other connections have left less for these windows */
  #isContested (nowMs: number): boolean {
    return this.#roomBytes < 0 || nowMs - this.#lastDenialMs < DENIAL_LASTS_MS
  }

  /** What all windows have grown by */
  get #grownBytes (): number {
    return this.#totalBytes - this.#headStartBytes - this.availableBytes
  }

  /** How much more they may grow by; negative if they have to give some back */
  get #roomBytes (): number {
    return Math.min(this.availableBytes, Math.floor(NODE_PART * this.#node.freeBytes - (1 - NODE_PART) * this.#grownBytes))
  }

  get #fairBytes (): number {
    return Math.floor(Math.max(0, this.#grownBytes + this.#roomBytes) / (this.#holderCount || 1))
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
    this.#node.freeBytes += holder.grownBytes - grownBytes
    this.#holderCount += Number(is) - Number(was)
    holder.grownBytes = grownBytes
    holder.isDenied = isDenied
  }
}
