/**
 * Decides with a policy when output is written, and writes it: one list of bytes a write, until
 * there is no more or the transport says "wait". Owns all that is scheduled for writing.
 */
import type { Clock } from './clock.ts'
import type { FlushPolicy } from './core/flush/flush-policy.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * A turn ends when so many microtasks in a row have brought no output. Callers that await what they
 * have just opened write a few microtasks later, and that should still ride along.
 */
const QUIET_MICROTASKS = 3
/** Code that writes in an endless chain of microtasks does not put the flush off for ever */
const MAX_MICROTASKS = 64

export interface CoalescerInit {
  policy: FlushPolicy
  clock: Clock
  /** The next write, or undefined when there is nothing to write */
  pull (): Uint8ArrayList | undefined
  /** Returns false when the transport wants no more until it drains */
  send (bytes: Uint8ArrayList): boolean
  /** Runs after each flush, outside of it: what it makes the application write is the next flush */
  onFlushed (): void
  onError (err: Error): void
}

export class Coalescer {
  readonly #init: CoalescerInit
  readonly #snapshot = { hasFlushedThisTurn: false }
  #isTransportFull = false
  #isFlushing = false
  #isFlushArranged = false
  #isStopped = false
  #hasGrown = false
  #microtasks = 0
  #quietMicrotasks = 0

  constructor (init: CoalescerInit) {
    this.#init = init
  }

  /** The transport has said "wait" */
  get isTransportFull (): boolean {
    return this.#isTransportFull
  }

  /** There is output. Hot: runs once per send. */
  request (): void {
    if (this.#isFlushArranged) {
      this.#hasGrown = true
      return
    }

    if (this.#isTransportFull || this.#isFlushing || this.#isStopped) {
      return
    }

    switch (this.#init.policy.decide(this.#snapshot)) {
      case 'now':
        this.flush()
        break
      case 'end-of-turn':
        this.#isFlushArranged = true
        this.#microtasks = 0
        this.#quietMicrotasks = 0
        queueMicrotask(this.#onMicrotask)
        break
      default:
        // the task that ends this turn is on its way: see #startTurn
        this.#isFlushArranged = true
    }
  }

  /** The transport takes more */
  drained (): void {
    if (this.#isTransportFull) {
      this.#isTransportFull = false
      this.flush()
    }
  }

  /** Writes what there is, as far as the transport takes it */
  flush (): void {
    if (this.#isFlushing || this.#isStopped) {
      return
    }

    this.#isFlushing = true

    try {
      this.#write()
    } catch (err: any) {
      this.stop()
      this.#init.onError(err)
    } finally {
      this.#isFlushing = false
    }

    this.#init.onFlushed()
  }

  /** Writes all there is, although the transport said "wait": for last words, which are few */
  flushRegardless (): void {
    this.#isTransportFull = false
    this.flush()
  }

  /** Nothing is written from here on */
  stop (): void {
    this.#isStopped = true
  }

  #write (): void {
    while (!this.#isTransportFull) {
      const bytes = this.#init.pull()

      if (bytes === undefined) {
        return
      }

      this.#startTurn()
      this.#isTransportFull = !this.#init.send(bytes)
    }
  }

  /** From the first write of a turn to the next turn, further output is held */
  #startTurn (): void {
    if (!this.#snapshot.hasFlushedThisTurn) {
      this.#snapshot.hasFlushedThisTurn = true
      this.#init.clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onMicrotask = (): void => {
    this.#quietMicrotasks = this.#hasGrown ? 0 : this.#quietMicrotasks + 1
    this.#hasGrown = false

    if (this.#quietMicrotasks < QUIET_MICROTASKS && ++this.#microtasks < MAX_MICROTASKS) {
      queueMicrotask(this.#onMicrotask)
    } else {
      this.#arrangedFlush()
    }
  }

  readonly #onNextTurn = (): void => {
    this.#snapshot.hasFlushedThisTurn = false

    if (this.#isFlushArranged) {
      this.#arrangedFlush()
    }
  }

  #arrangedFlush (): void {
    this.#isFlushArranged = false
    this.flush()
  }
}
