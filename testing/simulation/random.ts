// Numbers that look random and follow from a seed (mulberry32).

export class Random {
  #state: number

  constructor (seed: number) {
    this.#state = seed | 0
  }

  /** Numbers of their own for another purpose: whatever is drawn there, these stay what they are */
  fork (): Random {
    return new Random(Math.floor(this.next() * 2 ** 32))
  }

  /** From 0 up to 1 */
  next (): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed

    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance (probability: number): boolean {
    return this.next() < probability
  }

  /** A whole number from `min` to `max`, both included */
  integer (min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  pick<T> (values: readonly T[]): T {
    return values[Math.floor(this.next() * values.length)]
  }

  /** Picks the more often the larger its weight; one weight must be above 0 */
  weighted<T> (choices: ReadonlyArray<readonly [weight: number, value: T]>): T {
    let left = this.next() * choices.reduce((sum, [weight]) => sum + weight, 0)

    for (const [weight, value] of choices) {
      left -= weight

      if (left < 0) {
        return value
      }
    }

    return choices[choices.length - 1][1]
  }
}
