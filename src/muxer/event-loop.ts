/**
 * Turns of the event loop, as all connections of a thread see them: which turn it is, how long the program works in one, and how long the
 * connections have written in this one. One look serves all of them: a look for each write took an eighth of a send in a node whose 100
 * connections write in turn. Hot.
 */
import type { Clock } from '../clock.ts'

/** Stays a small integer */
const TURN_NUMBERS = 2 ** 30

const loops = new WeakMap<Clock, EventLoop>()

export class EventLoop {
  /** Another number than in the turn before. A turn that nobody awaits the end of goes on. */
  turn = 0
  /**
   * How long the program works in a turn: from the last flush to the end of the turn, of turns that had one. Not from the first flush: what
   * flushes take would count too. A flush at the end of a turn has seen nothing of it, so no turn halves what was known: else a busy server
   * stopped after 5 ms in the next.
   */
  programMs = 0
  /** How long all connections have written in this turn, but for flushes that take next to no time */
  writingMs = 0
  readonly #clock: Clock
  #isAwaited = false
  /** There was a flush in this turn; when the last one ended */
  #hasFlushed = false
  #flushedMs = 0

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

  /** Something is to be forgotten, or done, when the turn ends */
  awaitNextTurn (): void {
    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  /** A flush has come to its end */
  onFlushed (flushedMs: number): void {
    this.#hasFlushed = true
    this.#flushedMs = flushedMs
    this.awaitNextTurn()
  }

  readonly #onNextTurn = (): void => {
    if (this.#hasFlushed) {
      this.programMs = Math.max(this.#clock.nowMs() - this.#flushedMs, this.programMs / 2)
      this.#hasFlushed = false
    }

    this.writingMs = 0
    this.turn = (this.turn + 1) % TURN_NUMBERS
    this.#isAwaited = false
  }
}
