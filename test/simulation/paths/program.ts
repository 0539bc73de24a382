// A program's event loop in virtual time: what comes while it works waits until it looks again.
import type { Timeline } from '../../../testing/simulation/timeline.ts'

export class Program {
  readonly #timeline: Timeline
  /** How long it works in its next turn, beside what it does for the connections */
  readonly #nextTurnMs: () => number
  #tasks: Array<() => void> = []
  #freeAtMs = 0
  #spentMs = 0
  #isAwaited = false

  constructor (timeline: Timeline, nextTurnMs: () => number) {
    this.#timeline = timeline
    this.#nextTurnMs = nextTurnMs
  }

  /** By its clock, which goes on while it works */
  get nowMs (): number {
    return this.#timeline.nowMs + this.#spentMs
  }

  /** In its next turn, or in this one if it is idle */
  post (task: () => void): void {
    this.#tasks.push(task)

    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.#timeline.at(this.#nextTurnAtMs(), this.#turn)
    }
  }

  /** What is being done takes so long */
  spend (ms: number): void {
    this.#spentMs += ms
  }

  #nextTurnAtMs (): number {
    while (this.#freeAtMs < this.#timeline.nowMs) {
      const turnMs = this.#nextTurnMs()

      if (turnMs === 0) {
        return this.#timeline.nowMs
      }

      this.#freeAtMs += turnMs
    }

    return this.#freeAtMs
  }

  readonly #turn = (): void => {
    const tasks = this.#tasks
    this.#tasks = []
    this.#isAwaited = false
    this.#freeAtMs = Infinity

    for (const task of tasks) {
      task()
    }

    this.#freeAtMs = this.nowMs + this.#nextTurnMs()
    this.#spentMs = 0

    if (this.#tasks.length > 0) {
      this.#isAwaited = true
      this.#timeline.at(this.#freeAtMs, this.#turn)
    }
  }
}
