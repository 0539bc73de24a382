/**
 * How much longer than usual the peer's data travels now, because it is queued at the peer, on the link, or unread at this end. Marks of this
 * muxer tell when they were written. The clocks differ, but the fastest mark shows by how much.
 *
 * Pongs wait as long as the data in front of them. Without that wait, marks show how long this side's own data takes.
 */
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'
import { UNITS_PER_MS } from './marks.ts'

/** A peer bounds itself if it has written a mark within this time. Marks in a queue of seconds are rare. */
const MARKED_MS = 30_000
/** The last mark shows the delay of a pong that comes no later than this. A peer with data in flight writes a mark beside each pong to a mark. */
const BESIDE_MS = 250
/** No mark is delayed by more than another by this: it is no mark, or a clock was set */
const LONGEST_MS = 10_000
/** Marks that are written at once have values so close to each other. This many in a row are a counter or a constant, not a clock. */
const NEXT_UNITS = 3
const MOST_AT_ONCE = 16
/** Most clocks drift apart by less than this. A faster drift, or a clock that was set, does no more harm once the fastest mark is forgotten. */
const DRIFT = 1e-4
/** The fastest mark counts for one to two of these times. Within one, a peer that sends bulk has probed its path, and so emptied its queue. */
const FASTEST_MS = 150_000
/** The mean delay is that of the last seconds */
const MEAN_MS = 3000

export class PeersDelay {
  /** The mean of the last seconds */
  meanMs = 0
  /** How long the last mark took, compared with the first one */
  #travelMs = 0
  #shortestMs = 0
  /** That of the time before */
  #earlierShortestMs = 0
  #shortestFromMs = 0
  #lastValue = 0
  #lastMs = -Infinity
  #isMarked = false
  /** How many values in a row were the next ones */
  #nextValues = 0
  #meanedMs = 0

  /** Other muxers count their pings, or draw the values, which agree with no clock */
  onPing (value: number, nowMs: number): void {
    if (value < FIRST_MARK_VALUE) {
      return
    }

    const sinceMs = nowMs - this.#lastMs
    // values begin anew after 2^31
    const units = (value - this.#lastValue) << 1 >> 1
    const changeMs = sinceMs - units / UNITS_PER_MS
    this.#nextValues = units >= 0 && units <= NEXT_UNITS && sinceMs < Infinity ? this.#nextValues + 1 : 0
    this.#isMarked = Math.abs(changeMs) < LONGEST_MS && this.#nextValues < MOST_AT_ONCE
    this.#travelMs = this.#isMarked ? this.#travelMs + changeMs : 0
    this.#learnShortest(sinceMs, nowMs)
    this.#lastValue = value
    this.#lastMs = nowMs
  }

  /** The peer writes marks, so it bounds what it has in flight */
  isMarked (nowMs: number): boolean {
    return this.#isMarked && nowMs - this.#lastMs < MARKED_MS
  }

  #learnShortest (sinceMs: number, nowMs: number): void {
    const isOver = nowMs - this.#shortestFromMs >= FASTEST_MS

    if (!this.#isMarked) {
      this.#shortestMs = 0
      this.#earlierShortestMs = 0
    } else {
      this.#earlierShortestMs = (isOver ? this.#shortestMs : this.#earlierShortestMs) + DRIFT * sinceMs
      this.#shortestMs = isOver ? this.#travelMs : Math.min(this.#travelMs, this.#shortestMs + DRIFT * sinceMs)
    }

    if (isOver || !this.#isMarked) {
      this.#shortestFromMs = nowMs
    }
  }

  /** The delay of a pong that comes now, at most `mostMs` */
  delayMs (nowMs: number, mostMs: number): number {
    const delayMs = this.#isMarked && nowMs - this.#lastMs < BESIDE_MS ? this.#travelMs - Math.min(this.#shortestMs, this.#earlierShortestMs) : 0

    return Math.max(0, Math.min(delayMs, mostMs))
  }

  /** A pong has come with this delay */
  learn (delayMs: number, nowMs: number): void {
    this.meanMs += (delayMs - this.meanMs) * Math.min(1, (nowMs - this.#meanedMs) / MEAN_MS)
    this.#meanedMs = nowMs
  }
}
