/**
 * What must happen although nobody sends: keep-alive pings, the end of streams that take too long, and of
 * a connection whose transport accepts nothing. One timer, set to whatever is due first, and never set
 * anew for a deadline that moves on: it then fires early and looks again. None when nothing can become due.
 *
 * A deadline counts only time in which the answer could have been seen. While the event loop stands still answers gather in the
 * socket, and timers run before anybody looks there. So nothing is judged when the timer fires, but by a second one behind a look
 * at the transport: as much later as the first was late, and once more if it is late itself.
 */
import { KeepAliveTimeoutError, WriteTimeoutError } from '../errors.ts'
import { deadlineOf } from './stream-timeouts.ts'
import type { Clock } from '../clock.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'
import type { StreamTimeouts } from './stream-timeouts.ts'

/** Streams that took too long are found up to this part of their timeout late, so that 10,000 of them do not mean 10,000 sweeps */
const SWEEP_PART_OF_TIMEOUT = 1 / 8

/** A peer that was silent for this many whole intervals, each with a ping in it, is gone */
const MAX_SILENT_INTERVALS = 2

/**
 * A peer that sends but never answers a ping does not speak yamux, or has its callers of ping() wait for ever. Pongs
 * behind data have been seen to take more than two intervals (rust-libp2p 5387: 70 s).
 */
const MAX_UNANSWERED_INTERVALS = 10

/** The longest that a peer gets in addition. A timer that is hours late shows that the machine slept, and the peer need not get hours. */
const LONGEST_STALL_MS = 10_000
/** The longest delay a timer takes; a longer one would fire at once */
const MAX_TIMER_MS = 2 ** 31 - 1
/** How late a timer may be in an event loop that is not busy */
const ON_TIME_MS = 5
/** In an event loop that is always busy deadlines still have to come */
const MAX_LOOKS = 3

export interface HousekeepingInit {
  clock: Clock
  /** Infinity turns keep-alive off */
  keepAliveIntervalMs: number
  timeouts: StreamTimeouts & { writeTimeoutMs: number }
  streams (): Iterable<StreamState<YamuxStream>>
  ping (): void
  /** The value of the one that is not answered yet */
  pendingPing (): number | undefined
  /** The connection is of no use any more */
  onDead (err: Error): void
}

export class Housekeeping {
  readonly #init: HousekeepingInit
  #timer: unknown
  #timerDueMs = Infinity
  /** How often the timer has fired for what is due now */
  #looks = 0
  #pingDueMs = Infinity
  #sweepDueMs = Infinity
  #writeDueMs = Infinity
  #lastReceivedMs: number
  #silentIntervals = 0
  /** Under way when the last interval began */
  #pendingPing: number | undefined
  #unansweredIntervals = 0
  #isStopped = false

  constructor (init: HousekeepingInit) {
    this.#init = init
    this.#lastReceivedMs = init.clock.nowMs()
  }

  /** The first ping goes at once, so that there is a round trip to work with */
  start (): void {
    if (this.#init.keepAliveIntervalMs !== Infinity) {
      this.#pingDueMs = this.#init.clock.nowMs() + this.#init.keepAliveIntervalMs
      this.#ping()
      this.#arm()
    }
  }

  stop (): void {
    this.#isStopped = true
    this.#init.clock.clearTimer(this.#timer)
  }

  onReceived (nowMs: number): void {
    this.#lastReceivedMs = nowMs
    this.#silentIntervals = 0
  }

  /** A stream has got a deadline that it did not have before */
  watch (state: StreamState<YamuxStream>): void {
    const nowMs = this.#init.clock.nowMs()
    const deadline = deadlineOf(state, this.#init.timeouts, nowMs)

    if (deadline !== undefined && nowMs + deadline.leftMs < this.#sweepDueMs) {
      this.#sweepDueMs = nowMs + deadline.leftMs
      this.#arm()
    }
  }

  /** The transport says "wait" */
  onTransportFull (nowMs: number): void {
    this.#writeDueMs = nowMs + this.#init.timeouts.writeTimeoutMs
    this.#arm()
  }

  onTransportDrained (): void {
    this.#writeDueMs = Infinity
  }

  #arm (): void {
    const dueMs = Math.min(this.#pingDueMs, this.#sweepDueMs, this.#writeDueMs)

    if (this.#isStopped || dueMs >= this.#timerDueMs) {
      return
    }

    const { clock } = this.#init
    const inMs = Math.min(MAX_TIMER_MS, Math.max(0, dueMs - clock.nowMs()))
    clock.clearTimer(this.#timer)
    this.#looks = 0
    this.#timerDueMs = clock.nowMs() + inMs
    this.#timer = clock.setTimer(this.#onTimer, inMs)
  }

  readonly #onTimer = (): void => {
    const { clock } = this.#init
    const nowMs = clock.nowMs()
    const lateMs = Math.max(0, nowMs - this.#timerDueMs)

    if (this.#looks === 0 || (lateMs > ON_TIME_MS && this.#looks < MAX_LOOKS)) {
      this.#looks++
      const graceMs = Math.min(LONGEST_STALL_MS, lateMs)
      this.#timerDueMs = nowMs + graceMs
      this.#timer = clock.setTimer(this.#onTimer, graceMs)
    } else {
      this.#looks = 0
      this.#timerDueMs = Infinity
      this.#judge(nowMs)
    }
  }

  #judge (nowMs: number): void {
    if (nowMs >= this.#writeDueMs) {
      this.#init.onDead(new WriteTimeoutError(this.#init.timeouts.writeTimeoutMs))
      return
    }

    if (nowMs >= this.#pingDueMs) {
      this.#keepAlive(nowMs)
    }

    if (nowMs >= this.#sweepDueMs) {
      this.#sweep(nowMs)
    }

    this.#arm()
  }

  #keepAlive (nowMs: number): void {
    this.#pingDueMs = nowMs + this.#init.keepAliveIntervalMs
    this.#silentIntervals++
    // the same one: while there is traffic another is under way most of the time
    const isUnanswered = this.#pendingPing !== undefined && this.#pendingPing === this.#init.pendingPing()
    this.#unansweredIntervals = isUnanswered ? this.#unansweredIntervals + 1 : 0

    if (this.#silentIntervals > MAX_SILENT_INTERVALS) {
      this.#init.onDead(new KeepAliveTimeoutError('sent nothing, with a ping to answer,', nowMs - this.#lastReceivedMs))
    } else if (this.#unansweredIntervals >= MAX_UNANSWERED_INTERVALS) {
      this.#init.onDead(new KeepAliveTimeoutError('did not answer a ping', this.#unansweredIntervals * this.#init.keepAliveIntervalMs))
    } else {
      this.#ping()
    }
  }

  #ping (): void {
    this.#init.ping()
    this.#pendingPing = this.#init.pendingPing()
  }

  #sweep (nowMs: number): void {
    this.#sweepDueMs = Infinity

    for (const state of [...this.#init.streams()]) {
      const deadline = deadlineOf(state, this.#init.timeouts, nowMs)

      // one that has ended was ended by who heard of another's end
      if (deadline === undefined || state.isOver) {
        continue
      }

      if (deadline.leftMs <= 0) {
        state.owner?.abort(deadline.createError())
      } else {
        this.#sweepDueMs = Math.min(this.#sweepDueMs, nowMs + Math.max(deadline.leftMs, deadline.timeoutMs * SWEEP_PART_OF_TIMEOUT))
      }
    }
  }
}
