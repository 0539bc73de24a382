/**
 * What a muxer has written in this turn of the event loop, and how much of that is enough. Hot.
 */
import type { Clock } from '../clock.ts'

/**
 * So much is written in one turn, in about 10 ms at 400 MB/s; the rest is for the next. Writers that go on as soon
 * as they may would otherwise keep the application's timers waiting: 20 of them for 35 ms. With a quarter of it
 * 1,000 streams of small messages lose a tenth.
 */
const MAX_BYTES = 4_194_304
/** The same while there are urgent streams, whose next message may come in the next turn: 20 such writers, 9 ms */
const MAX_BYTES_WITH_URGENT = 262_144
/** Small writes take longer by the byte: who sends another byte whenever one has left would write 160,000 times in 2 s */
const MAX_WRITES = 1000

export class TurnBudget {
  #bytes = 0
  #writes = 0
  /** Infinity when the bytes are spent: nothing else leaves in this turn */
  flushes = 0
  #hasOpened = false
  #isNextAwaited = false
  readonly #clock: Clock
  readonly #onNext: () => void

  /** `onNext` runs when a turn begins that was waited for */
  constructor (clock: Clock, onNext: () => void) {
    this.#clock = clock
    this.#onNext = onNext
  }

  isSpent (hasUrgentStreams: boolean): boolean {
    return this.#bytes >= (hasUrgentStreams ? MAX_BYTES_WITH_URGENT : MAX_BYTES) || this.#writes >= MAX_WRITES
  }

  /** Urgent data does not wait for the bytes of others, but nor may it take all of a turn */
  get isOver (): boolean {
    return this.#bytes >= MAX_BYTES || this.#writes >= MAX_WRITES
  }

  countWrite (bytes: number): void {
    this.#bytes += bytes
    this.#writes++
  }

  countFlush (hasUrgentStreams: boolean): void {
    this.flushes = this.isSpent(hasUrgentStreams) ? Infinity : this.flushes + 1
    this.awaitNext()
  }

  /** Only the first stream that is opened in a turn: the SYNs of others gather */
  takeOpening (): boolean {
    const isFirst = !this.#hasOpened
    this.#hasOpened = true
    this.awaitNext()

    return isFirst
  }

  awaitNext (): void {
    if (!this.#isNextAwaited) {
      this.#isNextAwaited = true
      this.#clock.nextTurn(this.#begin)
    }
  }

  readonly #begin = (): void => {
    this.#isNextAwaited = false
    this.flushes = 0
    this.#bytes = 0
    this.#writes = 0
    this.#hasOpened = false
    this.#onNext()
  }
}
