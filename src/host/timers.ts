/**
 * The deadlines of the options: keep-alive pings, timeouts of streams, and the write timeout of a transport. They share one timer, set to the
 * first deadline. If a deadline moves later, the timer stays: it fires early and checks. Without deadlines there is no timer.
 *
 * Two more timers: one runs while data is held, the other while credit is withheld.
 *
 * A deadline counts only time in which an answer could have been read. While the event loop is blocked answers gather in the socket, and
 * timers run before the socket is read. So a timer that fires decides nothing at first. It waits for as long as it was late, while the
 * transport is read, and decides then.
 */
import { YamuxTimeoutError } from '../api/errors.ts'
import { WITHHELD_LOOK_MS } from '../core/window/credit.ts'
import { isNeverRead, waitsForReader } from './stream-owner.ts'
import type { Clock } from './clock.ts'
import type { Session } from '../core/session.ts'
import type { LimitConfig } from '../options/limits.ts'
import type { State, StreamOwner } from './stream-owner.ts'

/** A timeout may be noticed late by this fraction of its length, so that 10,000 streams do not need 10,000 sweeps */
const SWEEP_PART_OF_TIMEOUT = 1 / 8

/** How long an application that has answered may take to begin reading if no more credit can be granted */
const REFUSED_AFTER_MS = 1000

/** A peer that was silent for more than this many whole intervals, each with a ping, is gone */
const MAX_SILENT_INTERVALS = 2

/**
 * A peer that sends but never answers a ping breaks the protocol, and leaves calls of ping() pending. The limit is high because pongs queue
 * behind data: rust-libp2p 5387 reports one after 70 s, more than two intervals.
 */
const MAX_UNANSWERED_INTERVALS = 10

/** The most that a late timer adds to a deadline. A timer that is hours late shows that the machine slept, and the peer need not get hours. */
const MAX_GRACE_MS = 10_000
/** The longest delay that a timer accepts; with a longer one it fires at once */
const MAX_TIMER_MS = 2 ** 31 - 1
/** How late a timer may be if the event loop is not busy */
const ON_TIME_MS = 5
/** Deadlines must also expire if the event loop is always busy */
const MAX_FIRINGS = 3

export interface TimersHost {
  readonly session: Session<StreamOwner>
  readonly clock: Clock
  readonly config: { readonly enableKeepAlive: boolean, readonly keepAliveInterval: number, readonly limits: LimitConfig }
  ping (): void
  request (): void
  fail (err: Error): void
}

export class Timers {
  readonly #host: TimersHost
  readonly #keepAliveIntervalMs: number
  #timer: unknown
  #holdTimer: unknown
  #creditTimer: unknown
  #timerDueMs = Infinity
  /** How often the timer has fired for the deadline that is due */
  #firings = 0
  #pingDueMs = Infinity
  #sweepDueMs = Infinity
  /** When a sweep last found a stream with data that its program had still to read */
  #readersSeenMs: WeakMap<State, number> | undefined
  #writeDueMs = Infinity
  /** The session's `receivedMs` at the end of the last interval */
  #receivedMsBefore = 0
  #silentIntervals = 0
  /** The oldest ping in flight at the beginning of the last interval */
  #pendingPing: number | undefined
  #unansweredIntervals = 0
  #isStopped = false

  constructor (host: TimersHost) {
    const { enableKeepAlive, keepAliveInterval } = host.config
    this.#host = host
    this.#keepAliveIntervalMs = enableKeepAlive ? keepAliveInterval : Infinity
  }

  /** Sends the first ping at once, to measure the round trip */
  start (): void {
    if (this.#keepAliveIntervalMs !== Infinity) {
      this.#pingDueMs = this.#host.clock.nowMs() + this.#keepAliveIntervalMs
      this.#ping()
      this.#arm()
    }
  }

  stop (): void {
    this.#isStopped = true
    this.#host.clock.clearTimer(this.#timer)
    this.#host.clock.clearTimer(this.#holdTimer)
    this.#host.clock.clearTimer(this.#creditTimer)
  }

  /** Data is held. If no pong ends that, as the peer may drop it, the path control looks after a while. */
  scheduleLook (): void {
    if (!this.#isStopped) {
      this.#holdTimer ??= this.#host.clock.setBackgroundTimer(this.#onHoldDue, Math.min(MAX_TIMER_MS, this.#host.session.path.lookDelayMs))
    }
  }

  /** Credit is withheld. If no pong frees it, the peer may have dropped the ping. */
  scheduleCreditLook (): void {
    if (!this.#isStopped) {
      this.#creditTimer ??= this.#host.clock.setBackgroundTimer(this.#onCreditDue, WITHHELD_LOOK_MS)
    }
  }

  readonly #onHoldDue = (): void => {
    this.#afterInput(nowMs => {
      this.#holdTimer = undefined
      this.#host.session.path.look(nowMs)
    })
  }

  readonly #onCreditDue = (): void => {
    this.#afterInput(nowMs => {
      this.#creditTimer = undefined
      this.#host.session.credit.look(nowMs)
    })
  }

  /** Lets the event loop read the socket first: after a blocked turn timers run before it, and the pong may be there */
  #afterInput (look: (nowMs: number) => void): void {
    this.#host.clock.nextTurn(() => {
      if (!this.#isStopped) {
        look(this.#host.clock.nowMs())
        this.#host.request()
      }
    })
  }

  /** The stream may have a new deadline */
  watch (state: State): void {
    const dueMs = this.#dueMsOf(state)

    if (dueMs < this.#sweepDueMs) {
      this.#sweepDueMs = dueMs
      this.#arm()
    }
  }

  onTransportFull (): void {
    this.#writeDueMs = this.#host.clock.nowMs() + this.#host.config.limits.writeTimeoutMs
    this.#arm()
  }

  onTransportDrained (): void {
    this.#writeDueMs = Infinity
  }

  #arm (): void {
    const dueMs = Math.min(this.#pingDueMs, this.#sweepDueMs, this.#writeDueMs)

    // not between two firings, or a transport that fills up briefly every millisecond would postpone the second forever
    if (this.#isStopped || this.#firings > 0 || dueMs >= this.#timerDueMs) {
      return
    }

    const clock = this.#host.clock
    const nowMs = clock.nowMs()
    // not a moment later than due, or each call would set the timer again
    this.#timerDueMs = Math.max(nowMs, Math.min(nowMs + MAX_TIMER_MS, dueMs))
    clock.clearTimer(this.#timer)
    this.#timer = clock.setBackgroundTimer(this.#onTimer, this.#timerDueMs - nowMs)
  }

  readonly #onTimer = (): void => {
    const clock = this.#host.clock
    const nowMs = clock.nowMs()
    const lateMs = Math.max(0, nowMs - this.#timerDueMs)

    if (this.#firings === 0 || (lateMs > ON_TIME_MS && this.#firings < MAX_FIRINGS)) {
      this.#firings++
      const graceMs = Math.min(MAX_GRACE_MS, lateMs)
      this.#timerDueMs = nowMs + graceMs
      this.#timer = clock.setBackgroundTimer(this.#onTimer, graceMs)
    } else {
      this.#firings = 0
      this.#checkDeadlines(nowMs)
    }
  }

  #checkDeadlines (nowMs: number): void {
    if (nowMs >= this.#sweepDueMs) {
      this.#sweep(nowMs)
    }

    if (nowMs >= Math.min(this.#writeDueMs, this.#pingDueMs)) {
      // the event loop reads the socket first: if an application's fake timers jump by minutes, no answer could have been read
      this.#timerDueMs = nowMs
      this.#host.clock.nextTurn(this.#checkPeer)
    } else {
      this.#timerDueMs = Infinity
      this.#arm()
    }
  }

  readonly #checkPeer = (): void => {
    const nowMs = this.#host.clock.nowMs()
    const { writeTimeoutMs } = this.#host.config.limits
    this.#timerDueMs = Infinity

    if (this.#isStopped) {
      return
    }

    if (nowMs >= this.#writeDueMs) {
      // a transport emits 'drain' only when its whole, possibly large, buffer is empty: until then the peer's answers show that bytes arrive
      this.#writeDueMs = Math.max(this.#writeDueMs, this.#host.session.answeredMs + writeTimeoutMs)
    }

    if (nowMs >= this.#writeDueMs) {
      this.#host.fail(new YamuxTimeoutError('WriteTimeoutError', `The transport accepted no data and the peer did not answer for ${writeTimeoutMs} ms, see limits.writeTimeoutMs`))
      return
    }

    if (nowMs >= this.#pingDueMs) {
      this.#keepAlive(nowMs)
    }

    this.#arm()
  }

  #keepAlive (nowMs: number): void {
    const { receivedMs, roundTrip: { oldestValue } } = this.#host.session
    this.#pingDueMs = nowMs + this.#keepAliveIntervalMs
    this.#silentIntervals = receivedMs === this.#receivedMsBefore ? this.#silentIntervals + 1 : 1
    this.#receivedMsBefore = receivedMs
    // compared by value, as under traffic another ping is in flight most of the time
    const isUnanswered = this.#pendingPing !== undefined && this.#pendingPing === oldestValue
    this.#unansweredIntervals = isUnanswered ? this.#unansweredIntervals + 1 : 0

    if (this.#silentIntervals > MAX_SILENT_INTERVALS) {
      // receivedMs is 0 if the peer has never sent anything
      this.#onDeadPeer('sent nothing', Math.min(nowMs - receivedMs, this.#silentIntervals * this.#keepAliveIntervalMs))
    } else if (this.#unansweredIntervals >= MAX_UNANSWERED_INTERVALS) {
      this.#onDeadPeer('did not answer a ping', this.#unansweredIntervals * this.#keepAliveIntervalMs)
    } else {
      this.#ping()
    }
  }

  #onDeadPeer (what: string, waitedMs: number): void {
    this.#host.fail(new YamuxTimeoutError('KeepAliveTimeoutError', `The peer ${what} for ${Math.round(waitedMs)} ms`))
  }

  #ping (): void {
    this.#host.ping()
    this.#pendingPing = this.#host.session.roundTrip.oldestValue
  }

  #sweep (nowMs: number): void {
    this.#sweepDueMs = Infinity

    for (const state of [...this.#host.session.streams.values()]) {
      // a slow program must not lose data that has arrived; once it has read, the peer gets most of closeTimeoutMs to send more
      if (waitsForReader(state)) {
        this.#readersSeenMs = (this.#readersSeenMs ?? new WeakMap()).set(state, nowMs)
        this.#sweepDueMs = Math.min(this.#sweepDueMs, nowMs + this.#host.config.limits.closeTimeoutMs * SWEEP_PART_OF_TIMEOUT)
      }

      const dueMs = this.#dueMsOf(state)

      // a listener of an aborted stream may have ended this one
      if (dueMs === Infinity || state.life.isOver) {
        continue
      }

      if (dueMs > nowMs) {
        // this is less than the timeout of a stream that awaits its ACK, whose sweep then comes early; there are at most 256
        const timeoutMs = dueMs - this.#quietFromMs(state)
        this.#sweepDueMs = Math.min(this.#sweepDueMs, Math.max(dueMs, nowMs + timeoutMs * SWEEP_PART_OF_TIMEOUT))
      } else if (isNeverRead(state) && !isInactive(state, dueMs)) {
        state.owner?.refuseRest()
      } else {
        state.owner?.abort(this.#createError(state, dueMs))
      }
    }
  }

  /** When the first timeout of the stream expires; Infinity if it has none. Computed on demand, as streams have no timers. */
  #dueMsOf (state: State): number {
    const { owner, lastActiveMs } = state
    const { openTimeoutMs, closeTimeoutMs } = this.#host.config.limits

    return Math.min(
      // 0 and Infinity: no timeout
      lastActiveMs + (owner?.inactivityTimeout || Infinity),
      state.awaitsAck ? state.openedMs + openTimeoutMs : Infinity,
      state.life.writeStatus === 'writable' ? Infinity : this.#quietFromMs(state) + (isNeverRead(state) ? Math.min(closeTimeoutMs, REFUSED_AFTER_MS) : closeTimeoutMs)
    )
  }

  #quietFromMs (state: State): number {
    return Math.max(state.lastActiveMs, this.#readersSeenMs?.get(state) ?? 0)
  }

  /** The error for the timeout that expired at `dueMs` */
  #createError (state: State, dueMs: number): Error {
    const { openTimeoutMs, closeTimeoutMs } = this.#host.config.limits

    if (isInactive(state, dueMs)) {
      return new YamuxTimeoutError('InactivityTimeoutError', `Stream ${state.id} carried no data for ${state.owner?.inactivityTimeout} ms, see streamOptions.inactivityTimeout`)
    }

    return state.awaitsAck && dueMs === state.openedMs + openTimeoutMs
      ? new YamuxTimeoutError('OpenTimeoutError', `The peer did not acknowledge stream ${state.id} within ${openTimeoutMs} ms, see limits.openTimeoutMs`)
      : new YamuxTimeoutError('CloseTimeoutError', `Stream ${state.id} was closed for writing and then carried no data for ${closeTimeoutMs} ms, ${state.sendQueue.byteLength} bytes were not sent for lack of credit, see limits.closeTimeoutMs`)
  }
}

/** The timeout that expired at `dueMs` is the stream's inactivityTimeout */
function isInactive ({ owner, lastActiveMs }: State, dueMs: number): boolean {
  return dueMs === lastActiveMs + (owner?.inactivityTimeout ?? 0)
}
