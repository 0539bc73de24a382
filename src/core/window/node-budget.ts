/** NodeBudget: the limit on the sum of all receive windows of a node. The budget of each connection asks it. */

/** Holds less than this apart count as one. A window that still needs more asks again within two round trips. */
const HOLD_LASTS_MS = 5000

/**
 * Invariant: freeBytes + windowBytes and raiseBytes of all open streams = maxBytes. It becomes negative only by the windows with which streams open.
 */
export class NodeBudget {
  readonly maxBytes: number
  freeBytes: number
  /** How long it has held windows back, from the first to the last time that one asked */
  heldMs = 0
  #lastHoldMs = -Infinity

  constructor (maxBytes: number) {
    this.maxBytes = maxBytes
    this.freeBytes = maxBytes
  }

  /** A window was not granted what its connection's budget would have granted. `nowMs` is when its last chunk arrived, so another connection's may be earlier. */
  hold (nowMs: number): void {
    const sinceMs = Math.max(0, nowMs - this.#lastHoldMs)

    if (sinceMs < HOLD_LASTS_MS) {
      this.heldMs += sinceMs
    }

    this.#lastHoldMs = Math.max(this.#lastHoldMs, nowMs)
  }
}
