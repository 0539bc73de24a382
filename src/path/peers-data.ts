/**
 * What the peer has in flight itself: pongs wait behind it. A peer that bounds it sends marks of its own, and its queue is as short as ours.
 * One that bounds nothing and sends bulk fills its kernel, for seconds: that is no queue of ours, and to hold data back for it would leave a
 * hundredth of the rate.
 */
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'
import type { PathSample } from './samples.ts'

/** Marks of a peer with much to send are no farther apart, as on a line of 0.25 Mbit/s; those behind a few messages are */
const MARKS_MS = 250
/** They count for so long */
const SEEN_MS = 2000

/** A peer that bounds nothing sends so much while a pong is awaited, and more than credit for what was in flight */
const LEAST_BYTES = 16_384
const LEAST_PART = 1 / 16
/**
 * For a burst of the peer's urgent data need not wait behind ours: bulk catches up. But not where one follows another. With 1.25 MB each 2 s on
 * lines of 10 Mbit/s bulk carried 0.47 of what it could, for good.
 */
const BURST_MS = 2000
/** Time without a burst counts so much less: a peer that fills its line for more than a fifth of the time goes on with that */
const PAUSE_WEIGHT = 1 / 4
/** And it goes on until no more than this is left of those two seconds */
const OVER_MS = 1000

export class PeersData {
  /** All that has come, while marks of ours were in flight */
  receivedBytes = 0
  /** When its data was last seen to fill the path, although the peer bounds it */
  fullMs = -Infinity
  /** The longest round trip of a pong that has waited behind data, while the peer goes on; else 0 */
  roundTripMs = 0
  /** And what the peer has sent meanwhile */
  byteLength = 0
  #lastPing = 0
  #pingedMs = -Infinity
  /** When the peer last sent a mark: it bounds what it has in flight */
  #markedMs = -Infinity
  /** How long pongs have waited behind data of the peer's lately */
  #queuedMs = 0
  #sampledMs: number | undefined

  /** Pongs wait behind as much data as its path holds, and no more */
  isFull (nowMs: number): boolean {
    return Math.abs(nowMs - this.fullMs) < SEEN_MS
  }

  /**
   * Values above FIRST_MARK_VALUE that count up by two are marks of a peer that does the same; others count from 0, or draw theirs. Two that
   * say its data fills the path count: one says no more than that a burst does.
   */
  onPing (value: number, nowMs: number): void {
    const before = this.#lastPing

    if (before >= FIRST_MARK_VALUE && value >>> 1 === (before >>> 1) + 1 && nowMs - this.#pingedMs <= MARKS_MS) {
      this.#markedMs = nowMs

      if ((value & before & 1) === 1) {
        this.fullMs = nowMs
      }
    }

    this.#lastPing = value
    this.#pingedMs = nowMs
  }

  /**
   * What this side lets in makes round trips of `ownMs` at most. One within that shows no queue of the peer's, whatever came meanwhile: the more was
   * let in, the more came in a round trip, and with 3 Mbit/s from the peer that filled an uplink of 10 Mbit/s for good.
   *
   * Bursts of a peer that sends marks are seen by the same, and by more than the `frontMs` that what stood in front of the mark takes: its marks say
   * nothing of them. Taken for a peer that bounds nothing, one that sent 4 KB each 80 ms made a queue of 9 s at 0.5 Mbit/s.
   */
  learn ({ nowMs, roundTripMs, markedBytes, receivedBytes }: PathSample, ownMs: number, frontMs: number): void {
    const isLonger = roundTripMs > ownMs
    const hasMuch = receivedBytes >= Math.max(LEAST_BYTES, LEAST_PART * markedBytes)
    const isBounded = Math.abs(nowMs - this.#markedMs) < SEEN_MS

    if (isBounded && hasMuch && isLonger && roundTripMs > frontMs) {
      this.fullMs = nowMs
    }

    // while it goes on, what is let in is by the peer's queue too
    const isQueued = !isBounded && hasMuch && (isLonger || this.roundTripMs > 0)
    const sinceMs = Math.max(0, nowMs - (this.#sampledMs ?? nowMs - roundTripMs))
    // of the time before the mark was written nothing is known
    const queuedMs = isQueued ? Math.min(sinceMs, roundTripMs) : 0
    this.#queuedMs = Math.max(0, Math.min(BURST_MS, this.#queuedMs + queuedMs) - PAUSE_WEIGHT * (sinceMs - queuedMs))
    this.#sampledMs = nowMs
    const goesOn = this.#queuedMs >= (this.roundTripMs > 0 ? OVER_MS : BURST_MS)
    this.roundTripMs = goesOn ? Math.max(this.roundTripMs, isQueued && isLonger ? roundTripMs : 0) : 0
    this.byteLength = goesOn ? Math.max(this.byteLength, isQueued ? receivedBytes : 0) : 0
  }
}
