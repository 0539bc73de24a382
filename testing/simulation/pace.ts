// A link whose rate changes all the time, as radio links do: how much it carries up to an instant. It begins anew when it is over.

import type { Random } from './random.ts'

const SLOT_MS = 50
/** What floating point is wrong by: what is due when a gap begins still happens */
const ROUNDING_MS = 1e-6
/** A minute */
const SLOTS = 1200
/** The rate of a radio link: the standard deviation of its logarithm, and for how long it stays much the same */
const DEVIATION = 0.5
const CORRELATED_MS = 1000
/** How often nothing passes, and for how long */
const GAP_EVERY_MS = 5000
const GAP_MS = [100, 1000] as const

/** By `parts`, of the link's rate in each slot of 50 ms */
export class Pace {
  readonly #forMs: number
  /** At the start of each slot, and at the end of the last */
  readonly #carriedMs: number[] = [0]

  constructor (parts: readonly number[]) {
    this.#forMs = parts.length * SLOT_MS
    parts.forEach((part, slot) => this.#carriedMs.push(this.#carriedMs[slot] + part * SLOT_MS))
  }

  get #totalMs (): number {
    return this.#carriedMs[this.#carriedMs.length - 1]
  }

  /** What is carried up to an instant, as the time that it would take at the whole rate */
  movedMs (atMs: number): number {
    const times = Math.floor(atMs / this.#forMs)
    const slots = (atMs - times * this.#forMs) / SLOT_MS
    const slot = Math.floor(slots)
    const [fromMs, toMs = fromMs] = this.#carriedMs.slice(slot, slot + 2)

    return times * this.#totalMs + fromMs + (slots - slot) * (toMs - fromMs)
  }

  /** The first instant up to which so much is carried */
  atMs (movedMs: number): number {
    const times = Math.floor(movedMs / this.#totalMs)
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

    return times * this.#forMs + (slot + (toMs > fromMs ? (restMs - fromMs) / (toMs - fromMs) : 0)) * SLOT_MS
  }
}

/** About as recorded LTE links: around the rate most of the time, a third or three times as much now and then, and gaps */
export function drawRadioPace (random: Random): Pace {
  const parts: number[] = []
  const kept = Math.exp(-SLOT_MS / CORRELATED_MS)
  let deviation = 0
  let gapSlots = 0

  while (parts.length < SLOTS) {
    deviation = kept * deviation + Math.sqrt(1 - kept ** 2) * DEVIATION * drawNormal(random)
    gapSlots = gapSlots > 0 ? gapSlots - 1 : random.chance(SLOT_MS / GAP_EVERY_MS) ? random.integer(GAP_MS[0] / SLOT_MS, GAP_MS[1] / SLOT_MS) : 0
    parts.push(gapSlots > 0 ? 0 : Math.exp(deviation))
  }

  return new Pace(parts)
}

/** With a deviation of 1, as the sum of twelve numbers from 0 to 1 has it */
function drawNormal (random: Random): number {
  return Array.from({ length: 12 }, () => random.next()).reduce((sum, value) => sum + value, -6)
}
