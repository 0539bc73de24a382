/**
 * How long an experiment is put off that costs something: the longer the more often it was made.
 */

const LONGEST_MS = 60_000

export class PutOff {
  #forMs: number
  #untilMs = 0

  constructor (firstMs: number) {
    this.#forMs = firstMs
  }

  isOver (nowMs: number): boolean {
    return nowMs >= this.#untilMs
  }

  /** It was made; the next is `leastMs` later at least */
  begin (nowMs: number, leastMs = 0): void {
    this.#untilMs = nowMs + Math.min(LONGEST_MS, Math.max(this.#forMs, leastMs))
    this.#forMs = Math.min(LONGEST_MS, 2 * this.#forMs)
  }
}
