/**
 * Writes what a session has to say, when its policy finds it time: one list of bytes a write, until there is no more or the
 * transport says "wait". Owns all that is arranged for writing, and how much this turn of the event loop has written. Hot.
 */
import { adaptive, delay, NEXT_TURN, off, turn } from '../core/flush/strategies.ts'
import { HEADER_BYTES } from '../core/wire/frame.ts'
import { toError } from '../thrown.ts'
import { fillYoungMemory, YOUNG_FROM_BYTES } from '../young-memory.ts'
import type { Clock } from '../clock.ts'
import type { Config } from '../options/config.ts'
import type { FlushDecision, FlushOccasion, FlushPolicy, FlushReason, FlushTime, Moment } from '../core/flush/policy.ts'
import type { Session } from '../core/session.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Code that writes in an endless chain of microtasks does not put a flush off for ever */
const MAX_MICROTASKS = 64

/**
 * So much is written in one turn, in about 10 ms at 400 MB/s; the rest is for the next. Writers that go on as soon
 * as they may would otherwise keep the application's timers waiting: 20 of them for 35 ms. With a quarter of it
 * 1,000 streams of small messages lose a tenth.
 */
const MAX_TURN_BYTES = 4_194_304
/** The same while there are urgent streams, whose next message may come in the next turn: 20 such writers, 9 ms */
const MAX_TURN_BYTES_WITH_URGENT = 262_144
/**
 * So long after the first write of a turn only urgent data is written: with Noise 4 MiB take 20 to 30 ms. But all connections together may
 * write for as long as the program itself has just worked: what is stopped waits for all of that again. A server that works 50 ms in each turn
 * took seven of them for 5 MiB of answers.
 */
const MAX_TURN_MS = 5
/** And so many writes: small ones take longer by the byte. Who sends a byte whenever one has left would write 160,000 times in 2 s. */
const MAX_TURN_WRITES = 1000

/**
 * Answers to a chunk that comes so long after the last flush do not wait for the next turn, and where the program works so long in its turns
 * none do: a reader that works 200 ms in each gave its credit a turn late, and its pongs.
 */
const APART_MS = 1
const LONG_TURN_MS = 10

/** A new decision replaces what is arranged only if it is earlier */
const PRECEDENCE: Record<FlushTime, number> = { keep: 0, later: 1, 'next-round': 2, 'next-turn': 3, soon: 4, now: 5 }

/** Turns that write less, and leave nothing, say nothing of how long the program works */
const LOOKED_FROM_BYTES = 4096
/** A write that is shorter takes next to no time */
const TIMED_FROM_BYTES = 65_519

const settled = Promise.resolve()

/** How long all writers of this thread have written: that is not the program's own work */
let allWritingMs = 0

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
  /** Infinity when the turn has written enough: only urgent data still leaves in it */
  flushesThisTurn = 0
  /** The turn has written so much that urgent data waits too */
  isTurnOver = false
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
  #turnBytes = 0
  #turnWrites = 0
  #turnBeganMs = 0
  #flushedMs = 0
  /** How long the program worked between the last turn that wrote and the one behind it */
  #programMs = 0
  /** What `allWritingMs` was when this turn began, and behind the last flush */
  #turnWritingMs = 0
  #flushedWritingMs = 0
  #isTurnLong = false
  /** The turn has written so much that all but urgent data waits */
  #isTurnSpent = false
  #hasOpenedThisTurn = false
  #isNextTurnAwaited = false

  constructor (session: Session<unknown>, config: Config, clock: Clock, handler: WriterHandler) {
    this.policy = createPolicy(config, clock.shortestTimerMs)
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
    if (!this.isTurnOver && (this.#programMs >= LONG_TURN_MS || this.#session.receivedMs - this.#flushedMs >= APART_MS)) {
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

      this.#turnBeganMs = this.#turnWrites === 0 ? nowMs : this.#turnBeganMs
      this.#isTurnLong = nowMs - this.#turnBeganMs >= MAX_TURN_MS && allWritingMs - this.#turnWritingMs + nowMs - startMs >= this.#programMs
      this.#transmit(bytes)
      writtenBytes += bytes.byteLength

      // no pull when nothing is left, as behind most writes
      if (!session.hasOutput) {
        this.#isBackedUp &&= this.#isTransportFull
        break
      }

      if (this.#isRegardless || isDue?.() === true) {
        continue
      }

      if (isDue !== undefined || this.#isTurnSpent) {
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
      this.#flushedMs = writtenBytes >= TIMED_FROM_BYTES ? this.#clock.nowMs() : nowMs
      allWritingMs += Math.max(0, this.#flushedMs - startMs)
      this.#flushedWritingMs = allWritingMs
      this.flushesThisTurn = this.#isTurnSpent ? Infinity : this.flushesThisTurn + 1
      this.#awaitNextTurn()
    }

    return writtenBytes
  }

  #transmit (bytes: Uint8ArrayList): void {
    const drainsBefore = this.#drains
    if (bytes.byteLength >= YOUNG_FROM_BYTES) {
      fillYoungMemory(bytes.byteLength)
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
    this.#turnBytes += bytes.byteLength
    this.#turnWrites++
    this.isTurnOver = this.#turnBytes >= MAX_TURN_BYTES * Math.max(1, this.#programMs / LONG_TURN_MS) || this.#turnWrites >= MAX_TURN_WRITES
    this.#isTurnSpent = this.isTurnOver || this.#isTurnLong || (this.#turnBytes >= MAX_TURN_BYTES_WITH_URGENT && this.#session.streams.urgentCount > 0)
  }

  /** What was left out of a full write would not fill another, and nobody waits for it */
  #hasRest (): boolean {
    const { lanes, control } = this.#session
    const isLittle = lanes.queuedBytes + HEADER_BYTES < Math.min(this.#maxBatchBytes, this.#session.underWay.writeBytes)

    return isLittle && this.policy.defersRest && this.#programMs < LONG_TURN_MS && !lanes.hasUrgent && !control.hasMoreThanAcks
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

    // a lone message is not worth the look at the clock
    if (this.#turnWrites > 0 && (this.#arranged !== undefined || this.#turnBytes >= LOOKED_FROM_BYTES)) {
      this.#programMs = this.#clock.nowMs() - this.#flushedMs - (allWritingMs - this.#flushedWritingMs)
    }

    this.#turnWritingMs = allWritingMs
    this.flushesThisTurn = 0
    this.isTurnOver = false
    this.#isTurnSpent = false
    this.#turnBytes = 0
    this.#turnWrites = 0
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
