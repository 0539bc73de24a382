/**
 * Decides with a policy when output is written, and writes it: one list of bytes a write, until
 * there is no more or the transport says "wait". Owns all that is scheduled for writing.
 */
import type { Clock } from '../clock.ts'
import type { FlushDecision, FlushPolicy } from '../core/flush/flush-policy.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/**
 * `soon` means that so many microtasks in a row have brought no output. Callers that await what
 * they have just opened write two microtasks later, and that should ride along.
 */
const QUIET_MICROTASKS = 3
/** Code that writes in an endless chain of microtasks does not put a flush off for ever */
const MAX_MICROTASKS = 64

const settled = Promise.resolve()

export interface CoalescerInit {
  policy: FlushPolicy
  /** See FlushSnapshot */
  isPressing (): boolean
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
  readonly #snapshot = { isPressing: false, isEndOfChunk: false, flushesThisTurn: 0 }
  #arranged: FlushDecision | undefined
  #isTransportFull = false
  #isFlushing = false
  #isStopped = false
  #isRegardless = false
  #drains = 0
  #hasGrown = false
  #microtasks = 0
  #quietMicrotasks = 0

  constructor (init: CoalescerInit) {
    this.#init = init
  }

  /** There is output. Hot: runs once per send. */
  request (isEndOfChunk = false): void {
    this.#hasGrown = true

    if ((this.#arranged === 'soon' && !isEndOfChunk) || this.#isTransportFull || this.#isFlushing || this.#isStopped) {
      return
    }

    this.#snapshot.isPressing = this.#init.isPressing()
    this.#snapshot.isEndOfChunk = isEndOfChunk
    const decision = this.#init.policy.decide(this.#snapshot)

    if (decision === 'now') {
      this.flush()
    } else if (decision === 'soon' && this.#arranged !== 'soon') {
      this.#arranged = decision
      this.#microtasks = 0
      this.#quietMicrotasks = 0
      settled.then(this.#onMicrotask)
    } else if (this.#arranged == null) {
      this.#arranged = decision

      // the task that ends this turn is on its way already: see #countFlush
      if (decision === 'end-of-turn') {
        this.#init.clock.endOfTurn(this.#onEndOfTurn)
      }
    }
  }

  /** The transport takes more */
  drained (): void {
    this.#drains++

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
    this.#arranged = undefined

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
    this.#isRegardless = true
    // a flush that is under way, because the transport has called back from send(), sees it too
    this.flush()
  }

  /** Nothing is written from here on */
  stop (): void {
    this.#isStopped = true
  }

  #write (): void {
    let writes = 0

    while (!this.#isTransportFull || this.#isRegardless) {
      const bytes = this.#init.pull()

      if (bytes === undefined) {
        break
      }

      writes++
      const drainsBefore = this.#drains
      const takesMore = this.#init.send(bytes)
      // a transport that drained within the call will not say so again
      this.#isTransportFull = !takesMore && this.#drains === drainsBefore
    }

    if (writes > 0) {
      this.#countFlush()
    }
  }

  #countFlush (): void {
    if (this.#snapshot.flushesThisTurn++ === 0) {
      this.#init.clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onMicrotask = (): void => {
    if (this.#arranged !== 'soon') {
      return
    }

    this.#quietMicrotasks = this.#hasGrown ? 0 : this.#quietMicrotasks + 1
    this.#hasGrown = false

    if (this.#quietMicrotasks < QUIET_MICROTASKS && ++this.#microtasks < MAX_MICROTASKS) {
      settled.then(this.#onMicrotask)
    } else {
      this.flush()
    }
  }

  readonly #onEndOfTurn = (): void => {
    if (this.#arranged === 'end-of-turn') {
      this.flush()
    }
  }

  readonly #onNextTurn = (): void => {
    this.#snapshot.flushesThisTurn = 0

    if (this.#arranged === 'next-turn') {
      this.flush()
    }
  }
}
