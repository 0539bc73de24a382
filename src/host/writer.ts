/**
 * Writes the output of a session when the flush policy decides. A flush makes one write after another until no output is left, the turn has
 * written enough, or the transport is full. Also schedules the next flush. Hot.
 */
import { FlushPolicy, LATER, TURN_AFTER_NEXT, NEXT_TURN, NOW, ON_CHUNK, ON_OPENING, ON_WRITE, SOON } from '../core/flush.ts'
import { HEADER_BYTES } from '../core/wire/frame.ts'
import { toError } from '../foreign/values.ts'
import { WriterTurn } from './turn.ts'
import type { Clock } from './clock.ts'
import type { FlushDecision, FlushReason } from '../core/flush.ts'
import type { Session } from '../core/session.ts'
import type { Config } from '../options/config.ts'
import type { StreamOwner } from './stream-owner.ts'
import type { Timers } from './timers.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

/** How many microtasks in a row may delay a flush: code may write in an endless chain of them */
const MAX_MICROTASKS = 64

const settled = Promise.resolve()

export interface WriterHost {
  readonly session: Session<StreamOwner>
  readonly clock: Clock
  readonly config: Config
  /** The timers for held data, and for a transport that takes nothing */
  readonly timers: Pick<Timers, 'scheduleLook' | 'onTransportFull' | 'onTransportDrained'>
  /** Hands a write to the transport. Returns false if the transport wants no more until it drains. */
  transmit (bytes: Uint8ArrayList, byteLength: number): boolean
  onTransmitFailed (err: Error): void
  /** Runs after each flush, when another may begin */
  onFlushed (reason: FlushReason, writtenBytes: number): void
}

export class Writer {
  readonly policy: FlushPolicy
  readonly turn: WriterTurn
  /** The connection has ended: no flush begins any more */
  isStopped = false
  /** A flush is running: apart from the transport's own callbacks, no code of the application may run */
  isFlushing = false
  /** The transport takes no more until it drains */
  isTransportFull = false
  readonly #host: WriterHost
  readonly #session: Session<StreamOwner>
  /** When the next flush is due, and why */
  #scheduled: FlushDecision | undefined
  #timer: unknown
  /** The transport was full, and not all output since then is written */
  #isBackedUp = false
  /** The connection ends: everything is written, even if the transport is full */
  #isFinal = false
  /** Bytes left over by the last flush after full writes; reset to 0 when more is queued */
  #restBytes = 0
  #drains = 0
  /** `request` was called since the last microtask */
  #hasGrown = false
  #microtasks = 0
  #isNextTurnAwaited = false

  constructor (host: WriterHost) {
    this.policy = new FlushPolicy(host.config, host.clock.shortestTimerMs)
    this.#host = host
    this.#session = host.session
    this.turn = new WriterTurn(host.clock)
  }

  /** There may be output: schedules a flush, or flushes now. Hot: runs once per send. */
  request (asked = ON_WRITE): void {
    const occasion = asked === ON_OPENING && !this.#claimFirstOpening() ? ON_WRITE : asked
    const scheduled = this.#scheduled
    this.#hasGrown = true

    // after most sends the schedule stays, and the policy need not be asked
    const isSoon = scheduled?.promptness === SOON && occasion === ON_WRITE
    const isEnough = scheduled?.reason === 'next-turn' && occasion !== ON_CHUNK && !this.#session.lanes.hasUrgent

    if (isSoon || isEnough) {
      return
    }

    if (!this.#session.hasOutput) {
      // data that is queued and cannot be written is held, although `isHeld` may have changed since
      if (this.#session.lanes.streamCount > 0) {
        this.#host.timers.scheduleLook()
      }

      return
    }

    if (this.isTransportFull || this.isFlushing || this.isStopped) {
      return
    }

    this.turn.update()

    if (this.#restBytes !== this.#session.lanes.queuedBytes) {
      this.#restBytes = 0
    }

    const decision = this.policy.decide(occasion, this.turn, this.#restBytes > 0, scheduled !== undefined, this.#session)

    if (scheduled === undefined || decision.promptness > scheduled.promptness) {
      this.#schedule(decision)
    }
  }

  /** The transport takes more */
  drained (): void {
    this.#drains++

    if (this.isTransportFull) {
      this.isTransportFull = false
      this.#host.timers.onTransportDrained()
      this.flush('drain')
    }
  }

  /** Writes until no output is left, the transport is full, or `shouldGoOn` returns false; without `shouldGoOn`, until the turn has written enough */
  flush (reason: FlushReason, shouldGoOn?: () => boolean): void {
    if (this.isFlushing || this.isStopped) {
      return
    }

    let writtenBytes = 0
    this.isFlushing = true
    this.#scheduled = undefined

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    try {
      writtenBytes = this.#write(shouldGoOn)
    } catch (err) {
      this.stop()
      this.#host.onTransmitFailed(toError(err, 'The transport threw'))
    } finally {
      this.isFlushing = false
    }

    this.#host.onFlushed(reason, writtenBytes)
  }

  /** Writes the final resets and the GoAway, even if the transport is full */
  flushFinal (): void {
    this.#isFinal = true
    // if the transport has called back from send(), the flush that is running heeds the flag
    this.flush('forced')
  }

  /** No flush begins after this. A running one still writes the final frames. */
  stop (): void {
    this.isStopped = true
    this.#scheduled = undefined
    this.#clearTimer()
  }

  /**
   * Returns true if the SYN of a new stream leaves at once. libp2p negotiates the protocol a few microtasks later, and the peer can set up
   * the stream meanwhile. Not if a flush is due soon anyway, and only for the first stream of a turn: the other SYNs gather.
   */
  #claimFirstOpening (): boolean {
    this.turn.update()
    const isFirst = !this.policy.isDelaying && this.#scheduled?.promptness !== SOON && !this.turn.hasOpened

    if (isFirst) {
      this.turn.onOpened()
    }

    return isFirst
  }

  #schedule (decision: FlushDecision): void {
    if (decision.promptness === NOW) {
      this.flush(decision.reason)
      return
    }

    if (this.#timer !== undefined) {
      this.#clearTimer()
    }

    this.#scheduled = decision

    if (decision.promptness === SOON) {
      this.#microtasks = 0
      settled.then(this.#onMicrotask)
    } else if (decision.promptness === LATER) {
      // cleared when another decision, a flush or the end takes its place
      this.#timer = this.#host.clock.setTimer(() => { this.flush(decision.reason) }, decision.delayMs)
    } else {
      this.#awaitNextTurn()
    }
  }

  #clearTimer (): void {
    this.#host.clock.clearTimer(this.#timer)
    this.#timer = undefined
  }

  #write (shouldGoOn?: () => boolean): number {
    const session = this.#session
    const { recordBytes, reservedBytes } = this.#host.config
    let writtenBytes = 0
    let startMs = -1
    let nowMs = 0
    this.#restBytes = 0
    this.turn.update()

    while (!this.isTransportFull || this.#isFinal) {
      nowMs = this.#host.clock.nowMs()
      startMs = startMs < 0 ? nowMs : startMs
      const bytes = session.sender.pull(recordBytes, this.policy.isOff ? 1 : Infinity, nowMs, this.#isBackedUp ? reservedBytes : 0)

      if (bytes === undefined) {
        this.#isBackedUp = false
        break
      }

      // a Uint8ArrayList adds up its length at each call
      const { byteLength } = bytes
      this.#transmit(bytes, byteLength)
      this.turn.onWrite(byteLength, startMs, nowMs, session.streams.urgentCount > 0)
      writtenBytes += byteLength

      // after most writes nothing is left
      if (!session.hasOutput) {
        this.#isBackedUp = this.isTransportFull
        break
      }

      if (this.#isFinal || shouldGoOn?.() === true) {
        continue
      }

      if (shouldGoOn !== undefined || this.turn.isSpent) {
        break
      }

      if (session.lanes.queuedBytes > 0 && this.#hasRest(byteLength)) {
        this.#restBytes = session.lanes.queuedBytes
        // the output that gathered while the transport was full is written, unless it is full again
        this.#isBackedUp = this.isTransportFull
        break
      }
    }

    if (session.lanes.streamCount > 0 && !session.hasOutput) {
      this.#host.timers.scheduleLook()
    }

    if (writtenBytes > 0) {
      this.turn.onFlushed(writtenBytes, startMs, nowMs)
    }

    return writtenBytes
  }

  #transmit (bytes: Uint8ArrayList, byteLength: number): void {
    const drainsBefore = this.#drains

    const takesMore = this.#host.transmit(bytes, byteLength)
    // a transport that drained within the call does not emit 'drain' again
    const isFull = !takesMore && this.#drains === drainsBefore

    if (isFull && !this.isTransportFull) {
      this.#session.path.onTransportFull(this.#host.clock.nowMs())
      this.#host.timers.onTransportFull()
    }

    this.isTransportFull = isFull
    this.#isBackedUp ||= isFull
  }

  /** After a full write, data that would not fill another one may wait for more. After a short write it leaves immediately: it merely did not fit into that write. */
  #hasRest (writtenBytes: number): boolean {
    const { lanes, control, path } = this.#session
    const isLittle = writtenBytes >= path.fullWriteBytes / 2 && lanes.queuedBytes + HEADER_BYTES < path.fullWriteBytes

    return isLittle && !this.policy.isOff && !this.turn.isLong && !lanes.hasUrgent && !control.cannotWait
  }

  /**
   * Flushes after one quiet microtask: the first without new output. So code that writes right after an `await` is in time. Each further
   * microtask would delay answers by more of libp2p's work.
   */
  readonly #onMicrotask = (): void => {
    if (this.#scheduled?.promptness !== SOON) {
      return
    }

    if (this.#hasGrown && ++this.#microtasks < MAX_MICROTASKS) {
      this.#hasGrown = false
      settled.then(this.#onMicrotask)
    } else {
      this.flush(this.#scheduled.reason)
    }
  }

  #awaitNextTurn (): void {
    if (!this.#isNextTurnAwaited) {
      this.#isNextTurnAwaited = true
      this.turn.loop.awaitNextTurn()
      this.#host.clock.nextTurn(this.#onNextTurn)
    }
  }

  readonly #onNextTurn = (): void => {
    this.#isNextTurnAwaited = false

    if (this.#scheduled?.promptness === TURN_AFTER_NEXT) {
      // the event loop polls for I/O between this turn and the next
      this.#scheduled = { ...this.#scheduled, promptness: NEXT_TURN }
      this.#awaitNextTurn()
    } else if (this.#scheduled?.promptness === NEXT_TURN) {
      this.flush(this.#scheduled.reason)
    }
  }
}
