/**
 * Turns of the event loop, as all connections of a thread see them: which turn it is, how long the program works in one, and how long the
 * connections have written in this one. One look for all of them, as a look of its own for each write took a fifth of what a write took in a
 * node whose 100 connections write in turn. Hot.
 */
import type { Clock } from '../clock.ts'

/** Stays a small integer */
const TURN_NUMBERS = 2 ** 30

const loops = new WeakMap<Clock, EventLoop>()

export class EventLoop {
  /** Another number than in the turn before. A turn that nobody has noted anything of goes on. */
  turn = 0
  /** How long the program worked from the first write of the last turn that wrote to the one behind it: without what connections wrote */
  programMs = 0
  /** How long all connections have written in this turn. */
  writingMs = 0
  readonly #clock: Clock
  #isNoted = false
  #beganMs = 0

  /** That of the connections which have this clock */
  static of (clock: Clock): EventLoop {
    let loop = loops.get(clock)

    if (loop === undefined) {
      loop = new EventLoop(clock)
      loops.set(clock, loop)
    }

    return loop
  }

  private constructor (clock: Clock) {
    this.#clock = clock
  }

  /** Something was done at `nowMs` that counts until the turn ends */
  note (nowMs: number): void {
    if (!this.#isNoted) {
      this.#isNoted = true
      this.#beganMs = nowMs
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onNextTurn = (): void => {
    this.programMs = Math.max(0, this.#clock.nowMs() - this.#beganMs - this.writingMs)
    this.writingMs = 0
    this.turn = (this.turn + 1) % TURN_NUMBERS
    this.#isNoted = false
  }
}
