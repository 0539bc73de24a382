/**
 * How long an experiment is put off that costs something: the longer the less it finds.
 */

const LONGEST_MS = 60_000

export class PutOff {
  readonly #firstMs: number
  #forMs: number
  #untilMs = 0

  constructor (firstMs: number) {
    this.#firstMs = firstMs
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

  /** It has found something */
  startOver (): void {
    this.#forMs = this.#firstMs
  }
}
