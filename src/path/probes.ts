/** When the round trip is measured again: after a time, and when the rate has fallen. Also when a running probe has to wait, and when it ends. */

/** A path that has become both faster and longer may look unchanged, so its round trip is measured again after this time */
const EVERY_MS = 120_000
/** After a change it is measured again sooner by this factor: other connections may have made it longer, and each measurement corrects a part */
const CHANGED_PART = 1 / 12

/** A postponed probe asks again after this time */
const RETRY_MS = 1000
/** Start-up is shorter, unless the peer delays its pongs on purpose: a probe waits no longer for it */
const LONGEST_START_UP_MS = 10_000

/** If a probe has not found the path empty after this many round trips, others fill it */
const MAX_ROUND_TRIPS = 3

export class Probes {
  /** Only marks that are written from then on count: the probe began then, or the link is emptied, and must be empty then */
  emptyFromMs = 0
  /** The link is emptied: nothing may be in flight */
  isEmptying = false
  #probedMs = 0
  /** The last probe has found a different round trip */
  #hasChanged = false
  #roundTrips = 0
  /** Since when a probe is postponed, although the path seems to be longer; Infinity if none is */
  #postponedMs = Infinity
  #retryMs = 0

  /** `hasFallen`: the rate is below the known one. `mayEmptyLink`: the connections that share the link may empty it. */
  isDue (nowMs: number, hasFallen: boolean, mayEmptyLink: boolean): boolean {
    const everyMs = EVERY_MS * (this.#hasChanged ? CHANGED_PART : 1)

    return nowMs - this.#probedMs >= everyMs || (this.#postponedMs === Infinity ? hasFallen : mayEmptyLink && nowMs >= this.#retryMs)
  }

  /** The round trip is measured from now on, or start-up has just shown it */
  begin (nowMs: number, emptyFromMs = nowMs): void {
    this.#probedMs = nowMs
    this.emptyFromMs = emptyFromMs
    this.isEmptying = emptyFromMs > nowMs
    this.#roundTrips = 0
  }

  /** Counts a round trip that has not found the path empty. Returns whether the probe goes on. */
  countRoundTrip (): boolean {
    return this.isEmptying || ++this.#roundTrips <= MAX_ROUND_TRIPS
  }

  /** The probe has to wait until the link may be emptied */
  postpone (nowMs: number): void {
    this.#postponedMs = Math.min(this.#postponedMs, nowMs)
    this.#retryMs = nowMs + RETRY_MS
  }

  /** Connections in start-up would fill the link while it is emptied */
  waitsForStartUps (nowMs: number): boolean {
    return nowMs - this.#postponedMs < LONGEST_START_UP_MS
  }

  end (hasChanged: boolean): void {
    this.#postponedMs = Infinity
    this.#hasChanged = hasChanged
  }
}
