// A link whose rate changes all the time, as radio links do: how much it carries up to an instant. It begins anew when it is over.

/** What floating point is wrong by: what is due when a gap begins still happens */
const ROUNDING_MS = 1e-6

/** By `parts`, of the link's rate in each slot */
export class Pace {
  readonly #slotMs: number
  readonly #forMs: number
  /** At the start of each slot, and at the end of the last */
  readonly #carriedMs: number[] = [0]

  constructor (parts: readonly number[], slotMs: number) {
    this.#slotMs = slotMs
    this.#forMs = parts.length * slotMs
    parts.forEach((part, slot) => this.#carriedMs.push(this.#carriedMs[slot] + part * slotMs))
  }

  get #totalMs (): number {
    return this.#carriedMs[this.#carriedMs.length - 1]
  }

  /** What is carried up to an instant, as the time that it would take at the whole rate */
  movedMs (atMs: number): number {
    const times = Math.floor(atMs / this.#forMs)
    const slots = (atMs - times * this.#forMs) / this.#slotMs
    const slot = Math.floor(slots)
    const [fromMs, toMs = fromMs] = this.#carriedMs.slice(slot, slot + 2)

    return times * this.#totalMs + fromMs + (slots - slot) * (toMs - fromMs)
  }

  /** The first instant up to which so much is carried */
  atMs (movedMs: number): number {
    const times = Math.max(0, Math.floor((movedMs - ROUNDING_MS) / this.#totalMs))
    const restMs = movedMs - times * this.#totalMs
    let low = 0
    let high = this.#carriedMs.length - 1

    while (low < high) {
      const middle = Math.floor((low + high) / 2)

      if (this.#carriedMs[middle] < restMs - ROUNDING_MS) {
        low = middle + 1
      } else {
        high = middle
      }
    }

    const slot = Math.max(0, low - 1)
    const [fromMs, toMs = fromMs] = this.#carriedMs.slice(slot, slot + 2)

    return times * this.#forMs + (slot + (toMs > fromMs ? (restMs - fromMs) / (toMs - fromMs) : 0)) * this.#slotMs
  }
}
