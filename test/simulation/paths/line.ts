// One direction of a line that connections may share: a queue that empties at a rate, and a delay.
import type { World } from './program.ts'

export interface LineStep {
  /** From when on it is like this; the first begins at 0 */
  atMs: number
  rateBytesPerMs: number
  delayMs: number
}

interface Item {
  byteLength: number
  onArrived: () => void
}

export class Line {
  /** What has not left the queue */
  queuedBytes = 0
  readonly #world: World
  readonly #jitterMs: () => number
  readonly #queue: Item[] = []
  #first = 0
  #step: LineStep
  #leftBytes = 0
  #servedMs = 0
  #service = 0
  #lastArrivalMs = 0

  constructor (world: World, steps: LineStep[], jitterMs: () => number = () => 0) {
    this.#world = world
    this.#jitterMs = jitterMs
    this.#step = steps[0]

    for (const step of steps.slice(1)) {
      world.events.push(step.atMs, () => {
        this.#leftBytes -= (world.nowMs - this.#servedMs) * this.#step.rateBytesPerMs
        this.#servedMs = world.nowMs
        this.#step = step
        this.#schedule()
      })
    }
  }

  get rateBytesPerMs (): number {
    return this.#step.rateBytesPerMs
  }

  get delayMs (): number {
    return this.#step.delayMs
  }

  send (byteLength: number, onArrived: () => void): void {
    this.#queue.push({ byteLength, onArrived })
    this.queuedBytes += byteLength

    if (this.#queue.length - this.#first === 1) {
      this.#begin()
    }
  }

  #begin (): void {
    this.#leftBytes = this.#queue[this.#first].byteLength
    this.#servedMs = this.#world.nowMs
    this.#schedule()
  }

  #schedule (): void {
    const service = ++this.#service

    if (this.#first < this.#queue.length) {
      this.#world.in(Math.max(0, this.#leftBytes) / this.#step.rateBytesPerMs, () => {
        if (service === this.#service) {
          this.#leave()
        }
      })
    }
  }

  #leave (): void {
    const item = this.#queue[this.#first++]

    if (this.#first > 1000) {
      this.#queue.splice(0, this.#first)
      this.#first = 0
    }

    this.queuedBytes -= item.byteLength
    // nothing overtakes
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, this.#world.nowMs + this.#step.delayMs + this.#jitterMs())
    this.#world.events.push(this.#lastArrivalMs, item.onArrived)

    if (this.#first < this.#queue.length) {
      this.#begin()
    }
  }
}
