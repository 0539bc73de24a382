/**
 * Decides with a policy when output is written, and writes it: one list of bytes a write, until
 * there is no more or the transport says "wait". Owns all that is scheduled for writing.
 */
import { NEXT_TURN } from '../core/flush/fast-lane.ts'
import { HEADER_BYTES } from '../core/frame/frame.ts'
import { toError } from '../thrown.ts'
import { OutputSnapshot } from './output-snapshot.ts'
import { TurnBudget } from './turn-budget.ts'
import type { Output } from './output-snapshot.ts'
import type { Clock } from '../clock.ts'
import type { FlushDecision, FlushOccasion, FlushPolicy, FlushReason, FlushTime } from '../core/flush/flush-policy.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Code that writes in an endless chain of microtasks does not put a flush off for ever */
const MAX_MICROTASKS = 64

/** What is arranged gives way only to what comes before it */
const PRECEDENCE: Record<FlushTime, number> = { hold: 0, at: 1, 'next-round': 2, 'next-turn': 3, soon: 4, now: 5 }

const settled = Promise.resolve()

export interface CoalescerInit {
  policy: FlushPolicy
  output: Output
  clock: Clock
  /** The longest write */
  maxBatchBytes: number
  /**
   * The next write, or undefined when there is nothing to write. `isBackedUp`: the transport takes it
   * more slowly than it comes.
   */
  pull (isBackedUp: boolean): Uint8ArrayList | undefined
  /** Returns false when the transport wants no more until it drains */
  send (bytes: Uint8ArrayList): boolean
  /** Runs after each flush, outside of it: what it makes the application write is the next flush */
  onFlushed (reason: FlushReason, writtenBytes: number): void
  /** The transport has begun to say "wait", or has ceased to */
  onTransportFull (): void
  onTransportDrained (): void
  onError (err: Error): void
}

export class Coalescer {
  readonly #init: CoalescerInit
  readonly #snapshot: OutputSnapshot
  readonly #turn: TurnBudget
  #arranged: FlushDecision | undefined
  #timer: unknown
  #isTransportFull = false
  /** The transport said "wait", and what has gathered since is not all written yet */
  #isBackedUp = false
  #isFlushing = false
  #isStopped = false
  #isRegardless = false
  /** What the last flush left behind its full writes, until there is more */
  #restBytes = 0
  #drains = 0
  #hasGrown = false
  #microtasks = 0

  constructor (init: CoalescerInit) {
    this.#init = init
    this.#turn = new TurnBudget(init.clock, () => { this.#onNextTurn() })
    this.#snapshot = new OutputSnapshot(init.output, init.clock, this.#turn)
  }

  /** There is output. Hot: runs once per send. */
  request (occasion: FlushOccasion = 'write'): void {
    const arranged = this.#arranged
    this.#hasGrown = true

    if ((arranged?.time === 'soon' && occasion === 'write') || this.#isTransportFull || this.#isFlushing || this.#isStopped) {
      return
    }

    // in a turn that has seen enough flushes: asking the policy for each send was a twelfth of the sender at 1 × 100 B
    if (arranged === NEXT_TURN && !this.#init.output.hasUrgent) {
      return
    }

    if (this.#restBytes > 0 && this.#init.output.queuedBytes !== this.#restBytes) {
      this.#restBytes = 0
    }

    this.#snapshot.isRest = this.#restBytes > 0
    this.#snapshot.occasion = occasion
    this.#snapshot.isArranged = arranged !== undefined
    const decision = this.#init.policy.decide(this.#snapshot)

    if (arranged === undefined || PRECEDENCE[decision.time] > PRECEDENCE[arranged.time]) {
      this.#arrange(decision)
    }
  }

  /**
   * This side has opened a stream. libp2p negotiates its protocol a few microtasks later: a SYN that leaves before
   * that lets the peer's own work on a new stream happen meanwhile, unless a write is due in a moment anyway.
   */
  requestForOpened (): void {
    const leavesFirst = this.#init.policy.opensAtOnce && this.#arranged?.time !== 'soon' && this.#turn.takeOpening()
    this.request(leavesFirst ? 'opening' : 'write')
  }

  /** The transport takes more */
  drained (): void {
    this.#drains++

    if (this.#isTransportFull) {
      this.#isTransportFull = false
      this.#init.onTransportDrained()
      this.flush('drain')
    }
  }

  /** Writes what the transport takes for as long as `isDue` says so, however much this turn has written */
  flushWhile (isDue: () => boolean): void {
    if (!this.#isTransportFull) {
      this.flush('forced', isDue)
    }
  }

  /** Writes what there is, as far as the transport takes it */
  flush (reason: FlushReason, isDue?: () => boolean): void {
    if (this.#isFlushing || this.#isStopped) {
      return
    }

    let writtenBytes = 0
    this.#isFlushing = true
    this.#disarrange()

    try {
      writtenBytes = this.#write(isDue)
    } catch (err) {
      this.stop()
      this.#init.onError(toError(err, 'The transport threw'))
    } finally {
      this.#isFlushing = false
    }

    this.#init.onFlushed(reason, writtenBytes)
  }

  /** Writes all there is, although the transport said "wait": for last words, which are few */
  flushRegardless (): void {
    this.#isRegardless = true
    // a flush that is under way, because the transport has called back from send(), sees it too
    this.flush('forced')
  }

  /** Nothing is written from here on */
  stop (): void {
    this.#isStopped = true
    this.#disarrange()
  }

  #arrange (decision: FlushDecision): void {
    if (decision.time === 'now') {
      this.flush(decision.reason)
      return
    }

    this.#disarrange()
    this.#arranged = decision

    switch (decision.time) {
      case 'soon':
        this.#microtasks = 0
        settled.then(this.#onMicrotask)
        break
      case 'next-turn':
      case 'next-round':
        this.#turn.awaitNext()
        break
      case 'at':
        this.#timer = this.#init.clock.setTimer(this.#onTimer, Math.max(0, (decision.atMs ?? 0) - this.#init.clock.nowMs()))
        break
    }
  }

  #disarrange (): void {
    this.#arranged = undefined

    if (this.#timer !== undefined) {
      this.#init.clock.clearTimer(this.#timer)
      this.#timer = undefined
    }
  }

  #write (isDue?: () => boolean): number {
    let writtenBytes = 0
    this.#restBytes = 0

    while (!this.#isTransportFull || this.#isRegardless) {
      // cheaper than to ask for what is not there, once behind each flush
      const bytes = this.#init.output.hasOutput ? this.#init.pull(this.#isBackedUp) : undefined

      if (bytes === undefined) {
        this.#isBackedUp = false
        break
      }

      writtenBytes += bytes.byteLength
      const drainsBefore = this.#drains
      const takesMore = this.#init.send(bytes)
      // a transport that drained within the call will not say so again
      this.#setTransportFull(!takesMore && this.#drains === drainsBefore)
      this.#turn.countWrite(bytes.byteLength)

      if (this.#isRegardless || isDue?.() === true) {
        continue
      }

      if (isDue !== undefined || this.#turn.isSpent(this.#init.output.hasUrgentStreams)) {
        break
      }

      this.#restBytes = this.#findRest()

      if (this.#restBytes > 0) {
        this.#isBackedUp &&= this.#isTransportFull
        break
      }
    }

    if (writtenBytes > 0) {
      this.#turn.countFlush(this.#init.output.hasUrgentStreams)
    }

    return writtenBytes
  }

  /** What was left out of a full write and would not fill another, if nobody waits for it */
  #findRest (): number {
    const { output, maxBatchBytes, policy } = this.#init
    const { queuedBytes } = output

    return policy.holdsRest && queuedBytes > 0 && queuedBytes + HEADER_BYTES < maxBatchBytes && !output.hasUrgent && !output.hasControl ? queuedBytes : 0
  }

  #setTransportFull (isFull: boolean): void {
    if (isFull && !this.#isTransportFull) {
      this.#init.onTransportFull()
    }

    this.#isTransportFull = isFull
    this.#isBackedUp ||= isFull
  }

  /** If it is still what is arranged */
  #flushIfArranged (time: FlushTime): void {
    if (this.#arranged?.time === time) {
      this.flush(this.#arranged.reason)
    }
  }

  /**
   * Flushes when the last microtask has brought no output: who writes right after awaiting something else is in
   * time. To wait for three quiet ones keeps answers behind more of libp2p's own work: a request on a new stream
   * then takes a sixth longer.
   */
  readonly #onMicrotask = (): void => {
    if (this.#arranged?.time !== 'soon') {
      return
    }

    if (this.#hasGrown && ++this.#microtasks < MAX_MICROTASKS) {
      this.#hasGrown = false
      settled.then(this.#onMicrotask)
    } else {
      this.#flushIfArranged('soon')
    }
  }

  #onNextTurn (): void {
    if (this.#arranged?.time === 'next-round') {
      // the event loop looks for news between this turn and the next
      this.#arranged = { ...this.#arranged, time: 'next-turn' }
      this.#turn.awaitNext()
    } else {
      this.#flushIfArranged('next-turn')
    }
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#flushIfArranged('at')
  }
}
