/**
 * What the peer has under way itself: pongs wait behind it. A peer that bounds it sends marks of its own, and its queue is as short as ours.
 * One that bounds nothing and sends bulk fills its kernel, for seconds: that is no queue of ours, and to hold data back for it would leave a
 * hundredth of the rate.
 */
import { FIRST_MARK_VALUE } from './marks.ts'
import type { PathSample } from './rounds.ts'

/** Marks of an end with bulk are no farther apart, as on a line of 0.25 Mbit/s; those behind a few messages are */
const MARKS_MS = 250
/** They count for so long */
const SEEN_MS = 2000

/** A peer that bounds nothing sends so much while a pong is awaited, and more than credit for what was under way */
const LEAST_BYTES = 16_384
const LEAST_PART = 1 / 16
/** For a burst of the peer's urgent data need not wait behind ours: bulk catches up */
const BURST_MS = 2000

export class PeersData {
  /** All that has come, while marks of ours were under way */
  receivedBytes = 0
  /** When the peer last sent a mark */
  markedMs = -Infinity
  /** The last round trip, if its pong has waited for seconds; else 0 */
  roundTripMs = 0
  /** And what the peer has sent meanwhile */
  byteLength = 0
  #lastPing = 0
  #pingedMs = -Infinity
  #queuedSinceMs: number | undefined
  /** The last sample. Of a time that none tells of nothing is known. */
  #sampledMs = -Infinity

  isBounded (nowMs: number): boolean {
    return Math.abs(nowMs - this.markedMs) < SEEN_MS
  }

  /** Values above FIRST_MARK_VALUE that count up are marks of a peer that does the same; others count from 0, or draw theirs */
  onPing (value: number, nowMs: number): void {
    if (value > FIRST_MARK_VALUE && value === this.#lastPing + 1 && nowMs - this.#pingedMs <= MARKS_MS) {
      this.markedMs = nowMs
    }

    this.#lastPing = value
    this.#pingedMs = nowMs
  }

  learn ({ nowMs, roundTripMs, markedBytes, receivedBytes }: PathSample): void {
    const isQueued = !this.isBounded(nowMs) && receivedBytes >= Math.max(LEAST_BYTES, LEAST_PART * markedBytes)
    const sentMs = nowMs - roundTripMs
    const wasQueuedSinceMs = sentMs - this.#sampledMs <= MARKS_MS ? this.#queuedSinceMs : undefined
    this.#queuedSinceMs = isQueued ? wasQueuedSinceMs ?? sentMs : undefined
    this.#sampledMs = nowMs
    const goesOn = this.#queuedSinceMs !== undefined && nowMs - this.#queuedSinceMs >= BURST_MS
    this.roundTripMs = goesOn ? roundTripMs : 0
    this.byteLength = goesOn ? receivedBytes : 0
  }
}
