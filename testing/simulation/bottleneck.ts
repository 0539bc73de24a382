// One direction of a link in virtual time, which connections may share: a queue that empties at a rate, and a delay. It carries whole writes; a wire carries bytes.
import type { Timeline } from './timeline.ts'

export interface BottleneckStep {
  /** From when on it is like this; the first begins at 0 */
  atMs: number
  rateBytesPerMs: number
  delayMs: number
}

interface BottleneckInit {
  steps: BottleneckStep[]
  /** What one write takes longer than the delay */
  jitterMs? (): number
  /** Something has left the queue; by then the next one is being sent */
  onLeft? (): void
}

interface Item {
  byteLength: number
  onArrived: () => void
}

export class Bottleneck {
  /** What has not left the queue, and the most of it since somebody set that */
  queuedBytes = 0
  mostQueuedBytes = 0
  readonly #timeline: Timeline
  readonly #init: BottleneckInit
  readonly #queue: Item[] = []
  #first = 0
  #step: BottleneckStep
  #leftBytes = 0
  #servedMs = 0
  #service = 0
  #lastArrivalMs = 0

  constructor (timeline: Timeline, init: BottleneckInit) {
    this.#timeline = timeline
    this.#init = init
    this.#step = init.steps[0]

    for (const step of init.steps.slice(1)) {
      timeline.at(step.atMs, () => {
        this.#leftBytes -= (timeline.nowMs - this.#servedMs) * this.#step.rateBytesPerMs
        this.#servedMs = timeline.nowMs
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

  get isIdle (): boolean {
    return this.#first === this.#queue.length
  }

  send (byteLength: number, onArrived: () => void): void {
    const wasIdle = this.isIdle
    this.#queue.push({ byteLength, onArrived })
    this.queuedBytes += byteLength
    this.mostQueuedBytes = Math.max(this.mostQueuedBytes, this.queuedBytes)

    if (wasIdle) {
      this.#begin()
    }
  }

  #begin (): void {
    this.#leftBytes = this.#queue[this.#first].byteLength
    this.#servedMs = this.#timeline.nowMs
    this.#schedule()
  }

  #schedule (): void {
    const service = ++this.#service

    if (!this.isIdle) {
      this.#timeline.in(Math.max(0, this.#leftBytes) / this.#step.rateBytesPerMs, () => {
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
    this.#lastArrivalMs = Math.max(this.#lastArrivalMs, this.#timeline.nowMs + this.#step.delayMs + (this.#init.jitterMs?.() ?? 0))
    this.#timeline.at(this.#lastArrivalMs, item.onArrived)

    if (!this.isIdle) {
      this.#begin()
    }

    this.#init.onLeft?.()
  }
}
