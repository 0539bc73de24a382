/**
 * The path's own round trip: how long a byte and the answer to it travel when nothing of this side is in front of them. A probe measures it
 * anew, with next to nothing in flight for a round.
 */

/** A shorter one counts so much: one that was lucky is no measure of the others */
const SHORTER_WEIGHT = 1 / 4
/**
 * But the first two count in full. The first ping may find the peer's program cold or at work, or the clock may jump meanwhile: then it is late by up to seconds.
 * A queue of that length would hide the path's own round trip until probes find it: with 300 ms it was 281 ms for 200 s at 2 Mbit/s, now 98.
 */
const FULL_COUNT = 2

/** Becomes longer only by a probe */
export class OwnRoundTrip {
  /** 0 until it was measured */
  ms = 0
  /** The shortest that was ever seen */
  shortestMs = Infinity
  /** How many were learned */
  #count = 0

  get isMeasured (): boolean {
    return this.shortestMs < Infinity
  }

  /** Infinity until it was measured */
  get knownMs (): number {
    return this.isMeasured ? this.ms : Infinity
  }

  /** Follows one that is shorter */
  learn (roundTripMs: number): void {
    const weight = this.#count++ < FULL_COUNT ? 1 : SHORTER_WEIGHT

    if (roundTripMs <= this.knownMs) {
      this.ms += weight * (roundTripMs - this.ms)
    }

    this.shortestMs = Math.min(this.shortestMs, roundTripMs)
  }
}

/** A path that has become faster and longer at once may look as it did: now and then its round trip is measured anew */
const EVERY_MS = 120_000
const EVERY_ROUND_TRIPS = 1000
/** One that has changed is measured again so much sooner: others may have made it longer, and a part of that comes off each time */
const CHANGED_PART = 1 / 12

/**
 * One was in vain if it found the path no longer than what may be in flight lasts. A lower rate brings no other then for so many times as long as
 * it took: a busy peer makes the rate fall again and again, and each probe leaves it without data for a turn of its program.
 */
const QUIET_TIMES = 30
/**
 * But a probe that waits for a queue to drain takes seconds, and says nothing of a busy peer. Without an end a path that became longer behind it carried
 * 0.02 to 0.5 for up to two minutes.
 */
const LONGEST_QUIET_MS = 6000

/** One that was told to wait until all may fall silent looks again after so long */
const RETRY_MS = 1000

/** No connection looks for its rate for so long, unless its peer delays pongs on purpose */
const LONGEST_START_UP_MS = 10_000
/** All that share a line fall silent once in a minute at least */
const LONGEST_POSTPONEMENT_MS = 60_000

/** A probe that finds no empty path so soon has not emptied it: others fill it */
const MAX_ROUND_TRIPS = 3

/** When the round trip is measured anew: now and then, and when less arrives than before. And what a probe that goes on has to wait for. */
export class Probes {
  /** Nothing is handed down, and only marks count that are written from then on: by then the line is empty. Undefined while a little is handed down. */
  drainedFromMs: number | undefined
  /** Until then a lower rate is no reason for one: the last was in vain */
  quietUntilMs = 0
  #probedMs = 0
  /** The last probe has found another round trip */
  #hasChanged = false
  #roundTrips = 0
  /** Since when the path seems to be longer, and was told to wait */
  #postponedMs = Infinity
  #retryMs = 0

  /** `hasFallen`: less arrives than when the path was last found to be as it was. `mayDrain`: all that share the line may fall silent. */
  isDue (nowMs: number, roundTripMs: number, hasFallen: boolean, mayDrain: boolean): boolean {
    const everyMs = Math.max(EVERY_MS, EVERY_ROUND_TRIPS * roundTripMs) * (this.#hasChanged ? CHANGED_PART : 1)
    const mayRetry = nowMs >= this.#retryMs && (mayDrain || !this.mayBePostponed(nowMs))

    return Math.abs(nowMs - this.#probedMs) >= everyMs || (this.#postponedMs === Infinity ? hasFallen : mayRetry)
  }

  /** The round trip is being measured, or was just seen */
  begin (nowMs: number): void {
    this.#probedMs = nowMs
    this.#roundTrips = 0
  }

  /** Counts a round of a probe that has found no empty path. Returns whether another is worth it. */
  countRoundTrip (): boolean {
    return this.drainedFromMs !== undefined || ++this.#roundTrips <= MAX_ROUND_TRIPS
  }

  /** It has to wait for an empty line */
  postpone (nowMs: number): void {
    this.#postponedMs = Math.min(this.#postponedMs, nowMs)
    this.#retryMs = nowMs + RETRY_MS
  }

  /** Others that look for their rate would fill the line meanwhile */
  waitsForStartUps (nowMs: number): boolean {
    return nowMs - this.#postponedMs < LONGEST_START_UP_MS
  }

  /** What was put off for long is done at last, whatever others say */
  mayBePostponed (nowMs: number): boolean {
    return nowMs - this.#postponedMs < LONGEST_POSTPONEMENT_MS
  }

  end (hasChanged: boolean, wasNeedless: boolean, nowMs: number): void {
    this.#postponedMs = Infinity
    this.#hasChanged = hasChanged
    this.quietUntilMs = wasNeedless ? Math.min(LONGEST_QUIET_MS, QUIET_TIMES * (nowMs - this.#probedMs)) + nowMs : 0
  }
}
