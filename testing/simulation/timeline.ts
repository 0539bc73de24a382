// Virtual time: what is to happen, and when. Time stands still while something happens.
import type { Random } from './random.ts'

export interface Happening {
  readonly atMs: number
  readonly task: () => void
}

export class Timeline {
  /** How much has been planned so far: shows whether the code that has just run had effects */
  planned = 0
  #nowMs = 0
  /** Latest first, so that the next one is at the cheap end; of one instant, first planned happens first */
  readonly #ahead: Happening[] = []
  readonly #ties: Random | undefined

  /** `ties` decide in which order happens what is planned for one instant: as it was planned without them */
  constructor (ties?: Random) {
    this.#ties = ties
  }

  get nowMs (): number {
    return this.#nowMs
  }

  /** When the next thing happens, Infinity when nothing will */
  get nextMs (): number {
    return this.#ahead.at(-1)?.atMs ?? Infinity
  }

  /** Plans `task` for a time to come; what is planned for the past happens now, for Infinity never */
  at (atMs: number, task: () => void): Happening {
    if (Number.isNaN(atMs)) {
      throw new RangeError('Cannot plan for an instant that is not a number')
    }

    const happening = { atMs: Math.max(atMs, this.#nowMs), task }
    this.planned++

    if (happening.atMs < Infinity) {
      const index = this.#indexFor(happening.atMs)
      // most happen soon, and splice() makes an array each time
      index === this.#ahead.length ? this.#ahead.push(happening) : this.#ahead.splice(index, 0, happening)
    }

    return happening
  }

  in (afterMs: number, task: () => void): Happening {
    return this.at(this.#nowMs + afterMs, task)
  }

  cancel (happening: Happening): void {
    const index = this.#ahead.indexOf(happening)

    if (index !== -1) {
      this.#ahead.splice(index, 1)
    }
  }

  /** Lets time go by up to an instant, before which nothing may be planned */
  moveTo (atMs: number): void {
    if (atMs > this.nextMs) {
      throw new RangeError(`Cannot pass over what happens at ${this.nextMs} ms`)
    }

    this.#nowMs = Math.max(this.#nowMs, atMs)
  }

  /** Jumps to what happens next, and runs it */
  runNext (): void {
    const next = this.#ahead.pop()

    if (next != null) {
      this.#nowMs = next.atMs
      next.task()
    }
  }

  /** All that happens until then */
  runUntil (untilMs: number): void {
    while (this.nextMs <= untilMs) {
      this.runNext()
    }

    this.moveTo(untilMs)
  }

  #indexFor (atMs: number): number {
    let low = 0
    let high = this.#ahead.length

    while (low < high) {
      const middle = (low + high) >>> 1

      if (this.#ahead[middle].atMs > atMs) {
        low = middle + 1
      } else {
        high = middle
      }
    }

    return this.#ties == null ? low : this.#ties.integer(low, this.#lastIndexFor(atMs, low))
  }

  /** Behind which stands only what happens before */
  #lastIndexFor (atMs: number, firstIndex: number): number {
    let index = firstIndex

    while (index < this.#ahead.length && this.#ahead[index].atMs === atMs) {
      index++
    }

    return index
  }
}
