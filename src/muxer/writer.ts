/**
 * Writes what a session has to say, when its policy finds it time: one list of bytes a write, until there is no more or the
 * transport says "wait". Owns all that is arranged for writing. Hot.
 */
import { adaptive, delay, NEXT_TURN, off, turn } from '../core/flush/strategies.ts'
import { HEADER_BYTES } from '../core/wire/frame.ts'
import { toError } from '../thrown.ts'
import { fillYoungMemory, YOUNG_FROM_BYTES } from '../young-memory.ts'
import { TurnOfWriter } from './turn.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../options/config.ts'
import type { FlushDecision, FlushOccasion, FlushPolicy, FlushReason, FlushTime, Moment } from '../core/flush/policy.ts'
import type { Session } from '../core/session.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Code that writes in an endless chain of microtasks does not put a flush off for ever */
const MAX_MICROTASKS = 64

/**
 * Answers to a chunk that comes so long after the last flush do not wait for the next turn, and where turns are long none do: a reader that
 * works 200 ms in each gave its credit a turn late, and its pongs.
 */
const APART_MS = 1

/** A new decision replaces what is arranged only if it is earlier */
const PRECEDENCE: Record<FlushTime, number> = { keep: 0, later: 1, 'next-round': 2, 'next-turn': 3, soon: 4, now: 5 }

const settled = Promise.resolve()

export interface WriterHandler {
  /** Hands a write down. Returns false when the transport wants no more until it drains. */
  transmit (bytes: Uint8ArrayList): boolean
  /** Runs after each flush, outside of it: what it makes the application write is the next flush */
  onFlushed (reason: FlushReason, writtenBytes: number): void
  /** The transport has begun to say "wait", or has ceased to */
  onTransportFull (): void
  onTransportDrained (): void
  onTransmitFailed (err: Error): void
  /** Data waits until less is under way */
  onHeldBack (): void
}

export class Writer implements Moment {
  readonly policy: FlushPolicy
  occasion: FlushOccasion = 'write'
  isArranged = false
  isRest = false
  readonly turn: TurnOfWriter
  readonly #session: Session<unknown>
  readonly #clock: Clock
  readonly #handler: WriterHandler
  readonly #maxBatchBytes: number
  /** What is left to urgent data of each write while the transport is slower than the streams */
  readonly #reservedBytes: number
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
  /** There was a request since the last microtask */
  #hasGrown = false
  #microtasks = 0
  #hasOpenedThisTurn = false
  #isNextTurnAwaited = false

  constructor (session: Session<unknown>, config: Config, clock: Clock, handler: WriterHandler) {
    this.policy = createPolicy(config, clock.shortestTimerMs)
    this.turn = new TurnOfWriter(clock.nowMs)
    this.#session = session
    this.#clock = clock
    this.#handler = handler
    this.#maxBatchBytes = config.maxBatchBytes
    this.#reservedBytes = config.reservedBytes
  }

  /** There is output. Hot: runs once per send. */
  request (occasion: FlushOccasion = 'write'): void {
    const arranged = this.#arranged
    this.#hasGrown = true

    if ((arranged?.time === 'soon' && occasion === 'write') || this.#isTransportFull || this.#isFlushing || this.#isStopped) {
      return
    }

    if (this.#session.underWay.isHeld && !this.#session.hasOutput) {
      this.#handler.onHeldBack()
      return
    }

    // in a turn that has seen enough flushes: asking the policy for each send was a twelfth of the sender at 1 × 100 B
    if (arranged === NEXT_TURN && !this.#session.lanes.hasUrgent) {
      if (occasion === 'chunk') {
        this.#answerInTurn()
      }

      return
    }

    if (this.#restBytes !== this.#session.lanes.queuedBytes) {
      this.#restBytes = 0
    }

    this.isRest = this.#restBytes > 0
    this.occasion = occasion
    this.isArranged = arranged !== undefined
    const decision = this.policy.decide(this, this.#session)

    if (arranged === undefined || PRECEDENCE[decision.time] > PRECEDENCE[arranged.time]) {
      this.#arrange(decision)
    }

    if (decision === NEXT_TURN && occasion === 'chunk') {
      this.#answerInTurn()
    }
  }

  /** The turn has seen enough flushes; a long one may have more */
  #answerInTurn (): void {
    if (!this.turn.isOver && (this.turn.isLong || this.#session.receivedMs - this.turn.flushedMs >= APART_MS)) {
      this.flush('chunk')
    }
  }

  /**
   * This side has opened a stream. libp2p negotiates its protocol a few microtasks later: a SYN that leaves before
   * that lets the peer's own work on a new stream happen meanwhile, unless a write is due in a moment anyway. Only the first of a
   * turn: the SYNs of others gather.
   */
  requestForOpened (): void {
    const leavesFirst = this.policy.opensAtOnce && this.#arranged?.time !== 'soon' && !this.#hasOpenedThisTurn

    if (leavesFirst) {
      this.#hasOpenedThisTurn = true
      this.#awaitNextTurn()
    }

    this.request(leavesFirst ? 'opening' : 'write')
  }

  /** The transport takes more */
  drained (): void {
    this.#drains++

    if (this.#isTransportFull) {
      this.#isTransportFull = false
      this.#handler.onTransportDrained()
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
    this.#arranged = undefined

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    try {
      writtenBytes = this.#write(isDue)
    } catch (err) {
      this.stop()
      this.#handler.onTransmitFailed(toError(err, 'The transport threw'))
    } finally {
      this.#isFlushing = false
    }

    this.#handler.onFlushed(reason, writtenBytes)
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
    this.#arranged = undefined
    this.#clearTimer()
  }

  #arrange (decision: FlushDecision): void {
    if (decision.time === 'now') {
      this.flush(decision.reason)
      return
    }

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    this.#arranged = decision

    switch (decision.time) {
      case 'soon':
        this.#microtasks = 0
        settled.then(this.#onMicrotask)
        break
      case 'next-turn':
      case 'next-round':
        this.#awaitNextTurn()
        break
      case 'later':
        this.#timer = this.#clock.setTimer(this.#onTimer, decision.delayMs ?? 0)
        break
    }
  }

  #clearTimer (): void {
    this.#clock.clearTimer(this.#timer)
    this.#timer = undefined
  }

  #write (isDue?: () => boolean): number {
    const session = this.#session
    let writtenBytes = 0
    let startMs = -1
    let nowMs = 0
    this.#restBytes = 0

    while (!this.#isTransportFull || this.#isRegardless) {
      nowMs = this.#clock.nowMs()
      startMs = startMs < 0 ? nowMs : startMs
      const bytes = session.pull(this.#maxBatchBytes, this.policy.maxFramesPerWrite, nowMs, this.#isBackedUp ? this.#reservedBytes : 0)

      if (bytes === undefined) {
        this.#isBackedUp = false
        break
      }

      // a list of bytes counts them when it is asked
      const { byteLength } = bytes
      this.#transmit(bytes, byteLength)
      this.turn.onWrite(byteLength, startMs, nowMs, session.streams.urgentCount > 0)
      writtenBytes += byteLength

      // no pull when nothing is left, as behind most writes
      if (!session.hasOutput) {
        this.#isBackedUp &&= this.#isTransportFull
        break
      }

      if (this.#isRegardless || isDue?.() === true) {
        continue
      }

      if (isDue !== undefined || this.turn.isSpent) {
        break
      }

      if (session.lanes.queuedBytes > 0 && this.#hasRest()) {
        this.#restBytes = session.lanes.queuedBytes
        // what gathered while the transport was full is written, unless it is full again
        this.#isBackedUp &&= this.#isTransportFull
        break
      }
    }

    if (session.underWay.isHeld) {
      this.#handler.onHeldBack()
    }

    if (writtenBytes > 0) {
      this.turn.onFlushed(writtenBytes, startMs, nowMs)
      this.#awaitNextTurn()
    }

    return writtenBytes
  }

  #transmit (bytes: Uint8ArrayList, byteLength: number): void {
    const drainsBefore = this.#drains

    if (byteLength >= YOUNG_FROM_BYTES) {
      fillYoungMemory(byteLength)
    }

    const takesMore = this.#handler.transmit(bytes)
    // a transport that drained within the call will not say so again
    const isFull = !takesMore && this.#drains === drainsBefore

    if (isFull && !this.#isTransportFull) {
      this.#session.underWay.onTransportFull(this.#clock.nowMs())
      this.#handler.onTransportFull()
    }

    this.#isTransportFull = isFull
    this.#isBackedUp ||= isFull
  }

  /** What was left out of a full write would not fill another, and nobody waits for it */
  #hasRest (): boolean {
    const { lanes, control } = this.#session
    const isLittle = lanes.queuedBytes + HEADER_BYTES < Math.min(this.#maxBatchBytes, this.#session.underWay.writeBytes)

    return isLittle && this.policy.defersRest && !this.turn.isLong && !lanes.hasUrgent && !control.hasMoreThanAcks
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
      this.flush(this.#arranged.reason)
    }
  }

  readonly #onTimer = (): void => {
    this.#timer = undefined
    this.#flushIfArranged('later')
  }

  #awaitNextTurn (): void {
    if (!this.#isNextTurnAwaited) {
      this.#isNextTurnAwaited = true
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onNextTurn = (): void => {
    this.#isNextTurnAwaited = false

    this.turn.begin(this.#arranged !== undefined)
    this.#hasOpenedThisTurn = false

    if (this.#arranged?.time === 'next-round') {
      // the event loop looks for news between this turn and the next
      this.#arranged = { ...this.#arranged, time: 'next-turn' }
      this.#awaitNextTurn()
    } else if (this.#arranged !== undefined) {
      this.#flushIfArranged('next-turn')
    }
  }
}

function createPolicy (config: Config, shortestTimerMs: number): FlushPolicy {
  const { watermarkBytes } = config

  switch (config.strategy) {
    case 'off':
      return off
    case 'delay':
      return delay({ watermarkBytes, shortestTimerMs, delayMs: () => config.delayMs })
    case 'adaptive':
      return adaptive({ watermarkBytes, shortestTimerMs, maxDelayMs: config.maxDelayMs })
    default:
      return turn
  }
}
