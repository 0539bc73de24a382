/**
 * Samples of the path's rate: the bytes that are confirmed from one pong to another, at least a round trip apart. Hot: runs once per write
 * and pong.
 */
import { LONGEST_MS } from '../core/window/round-trip.ts'
import type { Mark } from './marks.ts'

/** No interval counts as shorter, as clocks of browsers are coarse */
const SHORTEST_MS = 1

/** A pong: the position that it confirms, when it came, and when its mark was written */
interface Arrival {
  bytes: number
  atMs: number
  sentMs: number
}

export interface PathSample {
  nowMs: number
  /** From writing the mark to its pong, without the peer's delay */
  roundTripMs: number
  /** How long the pong has waited with the peer's own data */
  peersDelayMs: number
  /** The bytes that have arrived within `intervalMs` */
  deliveredBytes: number
  intervalMs: number
  /** The rate of the newest round trip alone. While the rate doubles in each, a sample over two of them shows only three quarters of it. */
  latestBytesPerMs: number
  /** The mark was written after the pong that began the last round trip */
  isNewRoundTrip: boolean
  /** The position that is confirmed */
  arrivedPositionBytes: number
  /** Still in flight, and what probably was when the mark was written */
  unacknowledgedBytes: number
  inFlightBytes: number
  /** Received from the peer between the mark and its pong */
  receivedBytes: number
  /** There was no more data to send, so the path may carry more than this */
  isAppLimited: boolean
  /** Data was held when the pong came */
  wasHeld: boolean
}

export class Samples {
  /** When data was last written with nothing in flight before */
  beganMs = 0
  /** Up to this position samples show what the application sent, not what the path carries */
  appLimitedBytes = 0
  /** When the last pong would have come without the peer's delay */
  #arrivedMs = 0
  /** No data was left to send after the last write */
  #isAllWritten = true
  /** The last write with nothing in flight before. It stands in for a pong until one comes. One object for all starts, as each lone request is one. */
  readonly #start: Arrival = { bytes: 0, atMs: 0, sentMs: 0 }
  /** The start of this round trip, and of the one before, where samples begin. Only a sample between two pongs is exact. */
  #roundTripFrom = this.#start
  #sampleFrom = this.#start

  /** `byteLength` bytes are written at `positionBytes`. `isAppLimited`: no data is left to send. `isIdle`: no mark is in flight. Hot. */
  onWrite (positionBytes: number, byteLength: number, isAppLimited: boolean, isIdle: boolean, nowMs: number): void {
    const isFirst = isIdle && this.#isAllWritten
    this.#isAllWritten = isAppLimited

    // the idle time before this write is no part of a sample
    if (isFirst) {
      this.beganMs = nowMs
      this.#start.bytes = positionBytes
      this.#start.atMs = nowMs
      this.#start.sentMs = nowMs
      this.#roundTripFrom = this.#start
      this.#sampleFrom = this.#start
    }

    // in the first round trip too, as the path only fills then
    if (isAppLimited || isFirst) {
      this.appLimitedBytes = positionBytes + byteLength
    }
  }

  /** `receivedBytes`: from the peer so far. Returns undefined if the mark took longer than LONGEST_MS. */
  onPong (mark: Mark, ownRoundTripMs: number, peersDelayMs: number, receivedBytes: number, unacknowledgedBytes: number, wasHeld: boolean, nowMs: number): PathSample | undefined {
    const tookMs = nowMs - mark.sentMs
    // delays vary, but pongs come in the order in which they were sent
    const arrivedMs = Math.max(this.#arrivedMs, nowMs - peersDelayMs)
    this.#arrivedMs = arrivedMs

    if (tookMs > LONGEST_MS) {
      return undefined
    }

    const arrival = { bytes: mark.positionBytes, atMs: arrivedMs, sentMs: mark.sentMs }

    // an interval from a start contains the round trip of the first bytes, so samples begin at the first pong once it is long enough ago
    if (this.#sampleFrom === this.#start && arrivedMs - this.#roundTripFrom.atMs >= Math.max(ownRoundTripMs, (this.#roundTripFrom.atMs - this.#roundTripFrom.sentMs) / 2)) {
      this.#sampleFrom = this.#roundTripFrom
    }

    const since = this.#sampleFrom
    const isNewRoundTrip = this.#roundTripFrom === this.#start || mark.acknowledgedBytes >= this.#roundTripFrom.bytes

    if (isNewRoundTrip) {
      this.#sampleFrom = this.#roundTripFrom
      this.#roundTripFrom = arrival
    }

    const inFlightBytes = mark.positionBytes - mark.acknowledgedBytes - mark.arrivedBytes

    return {
      nowMs,
      roundTripMs: arrivedMs - mark.sentMs,
      peersDelayMs: nowMs - arrivedMs,
      deliveredBytes: mark.positionBytes - since.bytes,
      // the longer of the two, as neither a burst into a buffer nor a clump of pongs shows the rate
      intervalMs: Math.max(SHORTEST_MS, arrivedMs - since.atMs, mark.sentMs - since.sentMs),
      latestBytesPerMs: inFlightBytes / Math.max(SHORTEST_MS, arrivedMs - mark.sentMs, arrivedMs - mark.acknowledgedMs),
      isNewRoundTrip,
      arrivedPositionBytes: mark.positionBytes,
      unacknowledgedBytes,
      inFlightBytes,
      receivedBytes: receivedBytes - mark.receivedBytes,
      isAppLimited: mark.isAppLimited,
      wasHeld
    }
  }
}
