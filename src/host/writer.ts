/**
 * Writes what a session has to say, when its policy finds it time: one list of bytes a write, until there is no more, the turn has
 * written enough, or the transport says "wait". Owns all that is arranged for writing. Hot.
 */
import { FlushPolicy, LATER, TURN_AFTER_NEXT, NEXT_TURN, NOW, ON_CHUNK, ON_OPENING, ON_WRITE, SOON } from '../core/flush.ts'
import { HEADER_BYTES } from '../core/wire/frame.ts'
import { toError } from '../foreign/values.ts'
import { TurnOfWriter } from './turn.ts'
import type { Clock } from './clock.ts'
import type { FlushDecision, FlushInit, FlushReason } from '../core/flush.ts'
import type { Session } from '../core/session.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** Code that writes in an endless chain of microtasks does not put a flush off for ever */
const MAX_MICROTASKS = 64

const settled = Promise.resolve()

export interface WriterConfig extends FlushInit {
  /** The most that one write holds on a slow path */
  readonly recordBytes: number
  /** What data leaves free in a write for what is urgent, while the transport is backed up */
  readonly reservedBytes: number
}

/** What follows how far the transport is */
interface TransportTimers {
  lookForPong (): void
  onTransportFull (): void
  onTransportDrained (): void
}

export interface WriterHost {
  readonly timers: TransportTimers
  /** Hands a write down. Returns false when the transport wants no more until it drains. */
  transmit (bytes: Uint8ArrayList, byteLength: number): boolean
  onTransmitFailed (err: Error): void
  /** Runs after each flush, outside of it */
  onFlushed (reason: FlushReason, writtenBytes: number): void
}

export class Writer {
  readonly policy: FlushPolicy
  readonly turn: TurnOfWriter
  /** Nothing is written any more: the connection has ended */
  isStopped = false
  /** Bytes are being handed down. No program's code runs meanwhile but what the transport calls. */
  isFlushing = false
  readonly #config: WriterConfig
  readonly #host: WriterHost
  readonly #session: Session<StreamOwner>
  readonly #clock: Clock
  #arranged: FlushDecision | undefined
  #timer: unknown
  #isTransportFull = false
  /** The transport said "wait", and what has gathered since is not all written yet */
  #isBackedUp = false
  #isRegardless = false
  /** What the last flush left behind its full writes, until there is more */
  #restBytes = 0
  #drains = 0
  /** There was a request since the last microtask */
  #hasGrown = false
  #microtasks = 0
  #isNextTurnAwaited = false

  constructor (session: Session<StreamOwner>, clock: Clock, config: WriterConfig, host: WriterHost) {
    this.policy = new FlushPolicy(config, clock.shortestTimerMs)
    this.#config = config
    this.#host = host
    this.#session = session
    this.#clock = clock
    this.turn = new TurnOfWriter(clock)
  }

  /** There may be output. Hot: runs once per send. */
  request (asked = ON_WRITE): void {
    const occasion = asked === ON_OPENING && !this.#opensFirst() ? ON_WRITE : asked
    const arranged = this.#arranged
    this.#hasGrown = true

    // what is arranged stays, as for most sends: to ask the policy for each of a turn that has seen enough flushes was a twelfth of the sender at 1 × 100 B
    const isSoon = arranged?.time === SOON && occasion === ON_WRITE
    const isEnough = arranged?.reason === 'next-turn' && occasion !== ON_CHUNK && !this.#session.lanes.hasUrgent

    if (isSoon || isEnough) {
      return
    }

    if (!this.#session.hasOutput) {
      if (this.#session.path.isHeld) {
        this.#host.timers.lookForPong()
      }

      return
    }

    if (this.#isTransportFull || this.isFlushing || this.isStopped) {
      return
    }

    this.turn.follow()

    if (this.#restBytes !== this.#session.lanes.queuedBytes) {
      this.#restBytes = 0
    }

    const decision = this.policy.decide(occasion, this.turn, this.#restBytes > 0, arranged !== undefined, this.#session)

    if (arranged === undefined || decision.time > arranged.time) {
      this.#arrange(decision)
    }
  }

  /** The transport takes more */
  drained (): void {
    this.#drains++

    if (this.#isTransportFull) {
      this.#isTransportFull = false
      this.#host.timers.onTransportDrained()
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
    if (this.isFlushing || this.isStopped) {
      return
    }

    let writtenBytes = 0
    this.isFlushing = true
    this.#arranged = undefined

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    try {
      writtenBytes = this.#write(isDue)
    } catch (err) {
      this.stop()
      this.#host.onTransmitFailed(toError(err, 'The transport threw'))
    } finally {
      this.isFlushing = false
    }

    this.#host.onFlushed(reason, writtenBytes)
  }

  /** Writes all there is, although the transport said "wait": for last words, which are few */
  flushRegardless (): void {
    this.#isRegardless = true
    // a flush that is in flight, because the transport has called back from send(), sees it too
    this.flush('forced')
  }

  /** No flush begins from here on. One that is in flight still writes the last words. */
  stop (): void {
    this.isStopped = true
    this.#arranged = undefined
    this.#clearTimer()
  }

  /**
   * This side has opened a stream. libp2p negotiates its protocol a few microtasks later: a SYN that leaves before
   * that lets the peer's own work on a new stream happen meanwhile, unless a write is due in a moment anyway. Only the first of a
   * turn: the SYNs of others gather.
   */
  #opensFirst (): boolean {
    this.turn.follow()
    const isFirst = !this.policy.isDelaying && this.#arranged?.time !== SOON && !this.turn.hasOpened

    if (isFirst) {
      this.turn.onOpened()
    }

    return isFirst
  }

  #arrange (decision: FlushDecision): void {
    if (decision.time === NOW) {
      this.flush(decision.reason)
      return
    }

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    this.#arranged = decision

    if (decision.time === SOON) {
      this.#microtasks = 0
      settled.then(this.#onMicrotask)
    } else if (decision.time === LATER) {
      this.#timer = this.#clock.setTimer(this.#onTimer, decision.delayMs)
    } else {
      this.#awaitNextTurn()
    }
  }

  #clearTimer (): void {
    this.#clock.clearTimer(this.#timer)
    this.#timer = undefined
  }

  #write (isDue?: () => boolean): number {
    const session = this.#session
    const { recordBytes, reservedBytes } = this.#config
    let writtenBytes = 0
    let startMs = -1
    let nowMs = 0
    this.#restBytes = 0
    this.turn.follow()

    while (!this.#isTransportFull || this.#isRegardless) {
      nowMs = this.#clock.nowMs()
      startMs = startMs < 0 ? nowMs : startMs
      const bytes = session.pull(recordBytes, this.policy.isOff ? 1 : Infinity, nowMs, this.#isBackedUp ? reservedBytes : 0)

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
        this.#isBackedUp = this.#isTransportFull
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
        this.#isBackedUp = this.#isTransportFull
        break
      }
    }

    if (session.path.isHeld) {
      this.#host.timers.lookForPong()
    }

    if (writtenBytes > 0) {
      this.turn.onFlushed(writtenBytes, startMs, nowMs)
    }

    return writtenBytes
  }

  #transmit (bytes: Uint8ArrayList, byteLength: number): void {
    const drainsBefore = this.#drains

    const takesMore = this.#host.transmit(bytes, byteLength)
    // a transport that drained within the call will not say so again
    const isFull = !takesMore && this.#drains === drainsBefore

    if (isFull && !this.#isTransportFull) {
      this.#session.path.onTransportFull(this.#clock.nowMs())
      this.#host.timers.onTransportFull()
    }

    this.#isTransportFull = isFull
    this.#isBackedUp ||= isFull
  }

  /** What was left out of a full write would not fill another, and nobody waits for it */
  #hasRest (): boolean {
    const { lanes, control, path: { bound } } = this.#session
    const isLittle = lanes.queuedBytes + HEADER_BYTES < bound.writeBytes

    return isLittle && !this.policy.isOff && !this.turn.isLong && !lanes.hasUrgent && !control.hasMoreThanAcks
  }

  /**
   * Flushes when the last microtask has brought no output: who writes right after awaiting something else is in
   * time. To wait for three quiet ones keeps answers behind more of libp2p's own work: a request on a new stream
   * then takes a sixth longer.
   */
  readonly #onMicrotask = (): void => {
    if (this.#arranged?.time !== SOON) {
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

    if (this.#arranged?.time === LATER) {
      this.flush(this.#arranged.reason)
    }
  }

  #awaitNextTurn (): void {
    if (!this.#isNextTurnAwaited) {
      this.#isNextTurnAwaited = true
      this.turn.awaitNext()
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onNextTurn = (): void => {
    this.#isNextTurnAwaited = false

    if (this.#arranged?.time === TURN_AFTER_NEXT) {
      // the event loop looks for news between this turn and the next
      this.#arranged = { ...this.#arranged, time: NEXT_TURN }
      this.#awaitNextTurn()
    } else if (this.#arranged?.time === NEXT_TURN) {
      this.flush(this.#arranged.reason)
    }
  }
}
