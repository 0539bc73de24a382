/**
 * Detects bulk of a peer that bounds nothing: it fills the peer's kernel for seconds, and pongs wait behind it. Holding data does not shorten that queue,
 * so the bound allows for it (docs/notebook/path.md#a-peer-that-bounds-nothing).
 */
import type { PathSample } from './samples.ts'

/** The peer sends much if this many bytes come in a round trip, and this part of the bytes in flight: fewer may be credit for them */
const LEAST_BYTES = 16_384
const LEAST_PART = 1 / 16
/**
 * Pongs must have waited this long behind the peer's bulk before the bound allows for it: this side's bulk catches up after one short burst.
 * Bursts in a row count together (docs/notebook/path.md#a-peer-that-bounds-nothing).
 */
const BURST_MS = 2000
/** Time without bulk is subtracted with this weight, so a peer that sends bulk for more than a fifth of the time is found */
const PAUSE_WEIGHT = 1 / 4
/** The bound allows for it until less than this is left of those two seconds */
const OVER_MS = 1000
/** If nothing arrives for this long, and for half of a round trip, the link was interrupted. The pong has not waited behind the peer's bulk. */
const OUTAGE_MS = 8000
const OUTAGE_PART = 1 / 2

export class PeersData {
  /** All bytes received while marks of this side were in flight */
  receivedBytes = 0
  /** The longest round trip of a pong behind the peer's bulk while that goes on; otherwise 0 */
  roundTripMs = 0
  /** The most that came in one of these round trips; otherwise 0 */
  roundTripBytes = 0
  /** The last pong has waited behind the peer's bulk */
  isQueued = false
  /** How long pongs have recently waited behind the peer's bulk */
  #queuedMs = 0
  #sampledMs: number | undefined
  #receivedMs = 0
  /** The longest time since the last sample in which nothing came while marks were in flight */
  #quietMs = 0

  /** Bytes came while marks are in flight. Before `beganMs` nothing was in flight. */
  onChunk (byteLength: number, beganMs: number, nowMs: number): void {
    this.receivedBytes += byteLength
    this.#quietMs = Math.max(this.#quietMs, nowMs - Math.max(this.#receivedMs, beganMs))
    this.#receivedMs = nowMs
  }

  /**
   * This side's data in flight explains a round trip of `ownMs` at most. A round trip within that shows no queue of the peer, however much came:
   * a larger bound makes round trips longer, and more comes in each of them.
   */
  learn ({ nowMs, roundTripMs, inFlightBytes, receivedBytes }: PathSample, ownMs: number, isBounded: boolean): void {
    const isLonger = roundTripMs > ownMs
    const hasMuch = receivedBytes >= Math.max(LEAST_BYTES, LEAST_PART * inFlightBytes)
    // once the bound allows for the peer's queue, `ownMs` contains that queue
    this.isQueued = !isBounded && hasMuch && (isLonger || this.roundTripMs > 0) && this.#quietMs < Math.max(OUTAGE_MS, OUTAGE_PART * roundTripMs)
    const sinceMs = nowMs - (this.#sampledMs ?? nowMs - roundTripMs)
    // nothing is known of the time before the mark was written
    const queuedMs = this.isQueued ? Math.min(sinceMs, roundTripMs) : 0
    this.#queuedMs = Math.max(0, Math.min(BURST_MS, this.#queuedMs + queuedMs) - PAUSE_WEIGHT * (sinceMs - queuedMs))
    this.#sampledMs = nowMs
    this.#quietMs = 0
    const goesOn = this.#queuedMs >= (this.roundTripMs > 0 ? OVER_MS : BURST_MS)
    this.roundTripMs = goesOn ? Math.max(this.roundTripMs, this.isQueued && isLonger ? roundTripMs : 0) : 0
    this.roundTripBytes = goesOn ? Math.max(this.roundTripBytes, this.isQueued ? receivedBytes : 0) : 0
  }

  /** The peer's queue is short from now on */
  forget (): void {
    this.#queuedMs = 0
    this.roundTripMs = 0
    this.roundTripBytes = 0
  }
}
