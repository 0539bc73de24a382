/**
 * Measures the round trip with pings of this side's own, one at a time.
 */
import { MAX_UINT32 } from './frame/frame.ts'

export class RoundTrip {
  /** The last measured round trip; undefined before the first */
  lastMs: number | undefined
  #nextValue = 0
  #pendingValue: number | undefined
  #sentMs = 0

  get isPending (): boolean {
    return this.#pendingValue !== undefined
  }

  /** Begins a measurement and returns the value the ping carries */
  begin (nowMs: number): number {
    const value = this.#nextValue
    this.#nextValue = (value + 1) % (MAX_UINT32 + 1)
    this.#pendingValue = value
    this.#sentMs = nowMs

    return value
  }

  /** Returns false for a pong that nobody waits for, which is harmless */
  end (value: number, nowMs: number): boolean {
    if (value !== this.#pendingValue) {
      return false
    }

    this.#pendingValue = undefined
    // a clock that was set back must not make time negative
    this.lastMs = Math.max(0, nowMs - this.#sentMs)

    return true
  }
}
