/**
 * So many at once, and so many a second from then on.
 *
 * Invariant: over any time what was taken without being refused is at most burst + perSecond × seconds.
 */

/** So many at once, and so many a second from then on */
export interface Limit {
  /** How many may come together, from 0 on. `Infinity`: no limit. */
  burst: number
  /** How many more each second allows, from 0 to 1,000,000,000 */
  perSecond: number
}

export class TokenBucket {
  /** How many were asked for since the beginning */
  count = 0
  readonly limit: Limit
  #tokens: number
  #filledMs: number | undefined

  constructor (limit: Limit) {
    this.limit = limit
    this.#tokens = limit.burst
  }

  /** Takes one; false when there was none left */
  take (nowMs: number): boolean {
    const { burst, perSecond } = this.limit
    // a clock that was set back must not take tokens away
    const passedMs = Math.max(0, nowMs - (this.#filledMs ?? nowMs))
    this.#filledMs = nowMs
    this.#tokens = Math.min(burst, Math.max(0, this.#tokens) + passedMs * perSecond / 1000) - 1
    this.count++

    return this.#tokens >= 0
  }
}
