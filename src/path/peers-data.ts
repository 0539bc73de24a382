/**
 * The peer's data in flight, behind which pongs wait. A peer that bounds it writes marks, and its queue is as short as this side's. One that
 * bounds nothing fills its kernel with bulk for seconds. Holding data does not shorten that queue, so the bound allows for it
 * (benchmarks/tried.md#slow-programs-and-the-bound).
 */
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'
import type { PathSample } from './samples.ts'

/** A peer with much to send writes marks at least this often, even at 0.25 Mbit/s. Marks behind a few messages are farther apart. */
const MARKS_MS = 250
/** Marks, and signs that the peer's data fills the path, count for this long */
const RECENT_MS = 2000

/** The peer sends much if this many bytes come in a round trip, and this part of the bytes in flight: fewer may be credit for them */
const LEAST_BYTES = 16_384
const LEAST_PART = 1 / 16
/**
 * Pongs must have waited this long behind the peer's bulk before the bound allows for it: this side's bulk catches up after one short burst.
 * Bursts in a row count together (benchmarks/tried.md#a-peer-that-sends-bulk-again-and-again).
 */
const BURST_MS = 2000
/** Time without bulk is subtracted with this weight, so a peer that sends bulk for more than a fifth of the time is found */
const PAUSE_WEIGHT = 1 / 4
/** The bound allows for it until less than this is left of those two seconds */
const OVER_MS = 1000

export class PeersData {
  /** All bytes received while marks of this side were in flight */
  receivedBytes = 0
  /** When its data was last seen to fill the path, although the peer bounds it */
  fullMs = -Infinity
  /** The longest round trip of a pong behind the peer's bulk while that goes on; otherwise 0 */
  roundTripMs = 0
  /** The most that came in one of these round trips; otherwise 0 */
  roundTripBytes = 0
  #lastPing = 0
  #pingedMs = -Infinity
  /** When the peer last sent a mark: it bounds what it has in flight */
  #markedMs = -Infinity
  /** How long pongs have recently waited behind the peer's bulk */
  #queuedMs = 0
  #sampledMs: number | undefined

  /** The peer bounds its data, and that data fills the path: pongs wait behind as much as the path holds */
  isFull (nowMs: number): boolean {
    return Math.abs(nowMs - this.fullMs) < RECENT_MS
  }

  /**
   * Values from FIRST_MARK_VALUE that count up by two are marks of this muxer. Other muxers count from 0, or use random values. The last bit says
   * that the peer has more data than the path carries. It must be set in two marks in a row, as a burst may set it in one.
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
   * This side's data in flight explains a round trip of `ownMs` at most, and the data in front of the mark one of `frontMs`. A round trip within
   * `ownMs` shows no queue of the peer, however much came: a larger bound makes round trips longer, and more comes in each of them.
   *
   * The marks of a peer do not show its bursts. They fill the path if a round trip is longer than both. Such a peer must not count as one that
   * bounds nothing, or the bound would follow this side's own queue (benchmarks/tried.md#a-peer-that-sends-a-little).
   */
  learn ({ nowMs, roundTripMs, inFlightBytes, receivedBytes }: PathSample, ownMs: number, frontMs: number): void {
    const isLonger = roundTripMs > ownMs
    const hasMuch = receivedBytes >= Math.max(LEAST_BYTES, LEAST_PART * inFlightBytes)
    const isBounded = Math.abs(nowMs - this.#markedMs) < RECENT_MS

    if (isBounded && hasMuch && isLonger && roundTripMs > frontMs) {
      this.fullMs = nowMs
    }

    // once the bound allows for the peer's queue, `ownMs` contains that queue
    const isQueued = !isBounded && hasMuch && (isLonger || this.roundTripMs > 0)
    const sinceMs = Math.max(0, nowMs - (this.#sampledMs ?? nowMs - roundTripMs))
    // nothing is known of the time before the mark was written
    const queuedMs = isQueued ? Math.min(sinceMs, roundTripMs) : 0
    this.#queuedMs = Math.max(0, Math.min(BURST_MS, this.#queuedMs + queuedMs) - PAUSE_WEIGHT * (sinceMs - queuedMs))
    this.#sampledMs = nowMs
    const goesOn = this.#queuedMs >= (this.roundTripMs > 0 ? OVER_MS : BURST_MS)
    this.roundTripMs = goesOn ? Math.max(this.roundTripMs, isQueued && isLonger ? roundTripMs : 0) : 0
    this.roundTripBytes = goesOn ? Math.max(this.roundTripBytes, isQueued ? receivedBytes : 0) : 0
  }
}
