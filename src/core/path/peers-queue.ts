/**
 * Finds out that pongs wait behind the peer's own data. A peer that bounds nothing and sends bulk fills its kernel, for seconds: that is no
 * queue of ours, and to hold data back for it would leave a hundredth of the rate.
 */

/** It sends so much while a pong is awaited, and more than credit for what was under way */
const LEAST_BYTES = 16_384
const LEAST_PART = 1 / 16
/** For a burst of the peer's urgent data need not wait behind ours: bulk catches up */
const BURST_MS = 2000

export interface AwaitedPong {
  nowMs: number
  roundTripMs: number
  /** What was under way when its mark was written */
  markedBytes: number
  /** What has come from the peer meanwhile */
  receivedBytes: number
}

export class PeersQueue {
  /** The last round trip, if its pong has waited there; else 0 */
  roundTripMs = 0
  /** And what the peer has sent meanwhile */
  byteLength = 0
  #sinceMs: number | undefined

  learn ({ nowMs, roundTripMs, markedBytes, receivedBytes }: AwaitedPong, isPeerBounded: boolean): void {
    const isBehindData = !isPeerBounded && receivedBytes >= Math.max(LEAST_BYTES, LEAST_PART * markedBytes)
    this.#sinceMs = isBehindData ? this.#sinceMs ?? nowMs - roundTripMs : undefined
    const goesOn = this.#sinceMs !== undefined && nowMs - this.#sinceMs >= BURST_MS
    this.roundTripMs = goesOn ? roundTripMs : 0
    this.byteLength = goesOn ? receivedBytes : 0
  }
}
