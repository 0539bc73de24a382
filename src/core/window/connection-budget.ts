/**
 * What all receive windows of a connection may grow by together. A thousand streams that each earn
 * a large window would otherwise add up to more memory than the machine has.
 *
 * Who comes first may have all of it: one stream alone needs it. When another is denied its fair
 * part, those that hold more give back as they are renewed, until all hold the same.
 *
 * A denial is forgotten after a while: a stream that falls idle must not keep the others small.
 *
 * Invariant: availableBytes + the grownBytes of all shares = the total.
 */

/** How long a denial limits others. A window that still wants more asks again within two round trips. */
const DENIAL_LASTS_MS = 5000

/** A window's part */
export interface BudgetShare {
  grownBytes: number
  /** It asked for no more than its fair part, and did not get it */
  isDenied: boolean
}

export class ConnectionBudget {
  readonly #totalBytes: number
  availableBytes: number
  /** Shares that hold something or were denied it */
  #shareCount = 0
  #lastDenialMs = -Infinity

  constructor (totalBytes: number) {
    this.#totalBytes = totalBytes
    this.availableBytes = totalBytes
  }

  /** Returns how much of the wish is granted */
  take (share: BudgetShare, wishBytes: number, nowMs: number): number {
    const isNew = share.grownBytes === 0 && !share.isDenied
    const fairBytes = this.#fairBytes(this.#shareCount + Number(isNew)) - share.grownBytes
    const fairWishBytes = Math.min(wishBytes, Math.max(0, fairBytes))
    const grantedBytes = Math.min(this.availableBytes, this.#isContested(nowMs) ? fairWishBytes : wishBytes)
    const isDenied = grantedBytes < fairWishBytes
    this.#set(share, share.grownBytes + grantedBytes, isDenied)
    this.#lastDenialMs = isDenied ? nowMs : this.#lastDenialMs

    return grantedBytes
  }

  /** What the share's fair part has beyond what it holds */
  fairRestBytes (share: BudgetShare): number {
    return Math.max(0, this.#fairBytes(this.#shareCount) - share.grownBytes)
  }

  /** What the share holds beyond its fair part while others are denied theirs */
  excessBytes (share: BudgetShare, nowMs: number): number {
    return this.#isContested(nowMs) ? Math.max(0, share.grownBytes - this.#fairBytes(this.#shareCount)) : 0
  }

  giveBack (share: BudgetShare, bytes: number): void {
    this.#set(share, share.grownBytes - bytes, share.isDenied)
  }

  /** The window is no more: what it had grown by is free for others */
  release (share: BudgetShare): void {
    this.#set(share, 0, false)
  }

  #isContested (nowMs: number): boolean {
    // also by a clock that was set back
    return Math.abs(nowMs - this.#lastDenialMs) < DENIAL_LASTS_MS
  }

  #fairBytes (shareCount: number): number {
    return Math.floor(this.#totalBytes / Math.max(1, shareCount))
  }

  #set (share: BudgetShare, grownBytes: number, isDenied: boolean): void {
    const was = share.grownBytes > 0 || share.isDenied
    const is = grownBytes > 0 || isDenied
    this.availableBytes += share.grownBytes - grownBytes
    this.#shareCount += Number(is) - Number(was)
    share.grownBytes = grownBytes
    share.isDenied = isDenied
  }
}
