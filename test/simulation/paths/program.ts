// A program's event loop in virtual time: what comes while it works waits until it looks again.
import type { EventQueue } from './event-queue.ts'

export class World {
  nowMs = 0
  readonly events: EventQueue

  constructor (events: EventQueue) {
    this.events = events
  }

  in (afterMs: number, run: () => void): void {
    this.events.push(this.nowMs + afterMs, run)
  }

  runUntil (untilMs: number): void {
    for (let event = this.events.shift(untilMs); event !== undefined; event = this.events.shift(untilMs)) {
      this.nowMs = event.atMs
      event.run()
    }

    this.nowMs = Math.max(this.nowMs, untilMs)
  }
}

export class Program {
  readonly #world: World
  /** How long it works in its next turn, beside what it does for the connections */
  readonly #nextTurnMs: () => number
  #tasks: Array<() => void> = []
  #freeAtMs = 0
  #spentMs = 0
  #isAwaited = false

  constructor (world: World, nextTurnMs: () => number) {
    this.#world = world
    this.#nextTurnMs = nextTurnMs
  }

  /** By its clock, which goes on while it works */
  get nowMs (): number {
    return this.#world.nowMs + this.#spentMs
  }

  /** In its next turn, or in this one if it is idle */
  post (task: () => void): void {
    this.#tasks.push(task)

    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.#world.events.push(this.#nextTurnAtMs(), this.#turn)
    }
  }

  /** What is being done takes so long */
  spend (ms: number): void {
    this.#spentMs += ms
  }

  #nextTurnAtMs (): number {
    while (this.#freeAtMs < this.#world.nowMs) {
      const turnMs = this.#nextTurnMs()

      if (turnMs === 0) {
        return this.#world.nowMs
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
      this.#world.events.push(this.#freeAtMs, this.#turn)
    }
  }
}
