/**
 * The deadlines of the options: keep-alive pings, the end of streams that take too long, and of a connection whose transport accepts
 * nothing while the peer answers nothing. They share one timer, set to whatever is due first. A deadline that moves on does not set it anew: it fires early and looks
 * again. There is none when nothing can become due. A second timer asks again while data waits for a pong.
 *
 * A deadline counts only time in which the answer could have been seen. While the event loop stands still answers gather in the socket,
 * and timers run before anybody looks there. So the timer judges nothing when it fires: it waits as long again as it was late, in which
 * the transport is read, and judges then.
 */
import { YamuxTimeoutError } from '../api/errors.ts'
import { isAbandoned } from './stream-owner.ts'
import type { Clock } from './clock.ts'
import type { Session } from '../core/session.ts'
import type { LimitConfig } from '../options/limits.ts'
import type { State, StreamOwner } from './stream-owner.ts'

/** A stream that took too long is found up to this part of its timeout late: 10,000 of them are not 10,000 sweeps */
const SWEEP_PART_OF_TIMEOUT = 1 / 8

/** How long a program that has answered may take to begin to read, when there is no more room for what comes */
const ABANDONED_AFTER_MS = 1000

/** A peer that was silent for more than so many whole intervals, each with a ping in it, is gone */
const MAX_SILENT_INTERVALS = 2

/**
 * A peer that sends but never answers a ping does not speak yamux, or has its callers of ping() wait for ever. Pongs
 * behind data have been seen to take more than two intervals (rust-libp2p 5387: 70 s).
 */
const MAX_UNANSWERED_INTERVALS = 10

/** The longest that a peer gets in addition. A timer that is hours late shows that the machine slept, and the peer need not get hours. */
const LONGEST_GRACE_MS = 10_000
/** The longest delay a timer takes; a longer one would fire at once */
const MAX_TIMER_MS = 2 ** 31 - 1
/** How late a timer may be in an event loop that is not busy */
const ON_TIME_MS = 5
/** In an event loop that is always busy deadlines still have to come */
const MAX_LOOKS = 3

export interface TimersConfig {
  readonly enableKeepAlive: boolean
  readonly keepAliveInterval: number
  readonly limits: LimitConfig
}

export interface TimersHost {
  ping (): void
  request (): void
  fail (err: Error): void
}

export class Timers {
  readonly #host: TimersHost
  readonly #session: Session<StreamOwner>
  readonly #clock: Clock
  readonly #limits: LimitConfig
  readonly #keepAliveIntervalMs: number
  #timer: unknown
  #pongTimer: unknown
  #timerDueMs = Infinity
  /** How often the timer has fired for what is due now */
  #looks = 0
  #pingDueMs = Infinity
  #sweepDueMs = Infinity
  #writeDueMs = Infinity
  /** When the last chunk had come by the end of the last interval */
  #receivedMsBefore = 0
  #silentIntervals = 0
  /** Under way when the last interval began */
  #pendingPing: number | undefined
  #unansweredIntervals = 0
  #isStopped = false

  constructor (session: Session<StreamOwner>, clock: Clock, { enableKeepAlive, keepAliveInterval, limits }: TimersConfig, host: TimersHost) {
    this.#host = host
    this.#session = session
    this.#clock = clock
    this.#limits = limits
    this.#keepAliveIntervalMs = enableKeepAlive ? keepAliveInterval : Infinity
  }

  /** The first ping goes at once, so that there is a round trip to work with */
  start (): void {
    if (this.#keepAliveIntervalMs !== Infinity) {
      this.#pingDueMs = this.#clock.nowMs() + this.#keepAliveIntervalMs
      this.#ping()
      this.#arm()
    }
  }

  stop (): void {
    this.#isStopped = true
    this.#clock.clearTimer(this.#timer)
    this.#clock.clearTimer(this.#pongTimer)
  }

  /** Data is held back until a pong comes. One may have been dropped, or the peer answers none: then it goes on without. */
  lookForPong (): void {
    if (!this.#isStopped) {
      this.#pongTimer ??= this.#clock.setBackgroundTimer(this.#onPongDue, this.#session.path.lookDelayMs)
    }
  }

  /** The event loop looks for a pong first: where it has stood still they wait in the socket, and timers run before anybody looks there */
  readonly #onPongDue = (): void => {
    this.#clock.nextTurn(() => {
      this.#pongTimer = undefined

      if (!this.#isStopped) {
        this.#session.path.look(this.#clock.nowMs())
        this.#host.request()
      }
    })
  }

  /** A stream has got a deadline that it did not have before */
  watch (state: State): void {
    const dueMs = this.#dueMsOf(state)

    if (dueMs < this.#sweepDueMs) {
      this.#sweepDueMs = dueMs
      this.#arm()
    }
  }

  /** The transport says "wait" */
  onTransportFull (): void {
    this.#writeDueMs = this.#clock.nowMs() + this.#limits.writeTimeoutMs
    this.#arm()
  }

  onTransportDrained (): void {
    this.#writeDueMs = Infinity
  }

  #arm (): void {
    const dueMs = Math.min(this.#pingDueMs, this.#sweepDueMs, this.#writeDueMs)

    // nor anew while it looks: a transport that is full for a moment every millisecond would put that off for ever
    if (this.#isStopped || this.#looks > 0 || dueMs >= this.#timerDueMs) {
      return
    }

    const clock = this.#clock
    const nowMs = clock.nowMs()
    // exactly: were it a little later, each call would set the timer anew
    this.#timerDueMs = Math.max(nowMs, Math.min(nowMs + MAX_TIMER_MS, dueMs))
    clock.clearTimer(this.#timer)
    this.#timer = clock.setBackgroundTimer(this.#onTimer, this.#timerDueMs - nowMs)
  }

  readonly #onTimer = (): void => {
    const clock = this.#clock
    const nowMs = clock.nowMs()
    const lateMs = Math.max(0, nowMs - this.#timerDueMs)

    if (this.#looks === 0 || (lateMs > ON_TIME_MS && this.#looks < MAX_LOOKS)) {
      this.#looks++
      const graceMs = Math.min(LONGEST_GRACE_MS, lateMs)
      this.#timerDueMs = nowMs + graceMs
      this.#timer = clock.setBackgroundTimer(this.#onTimer, graceMs)
    } else {
      this.#looks = 0
      this.#judge(nowMs)
    }
  }

  #judge (nowMs: number): void {
    if (nowMs >= this.#sweepDueMs) {
      this.#sweep(nowMs)
    }

    if (nowMs >= Math.min(this.#writeDueMs, this.#pingDueMs)) {
      // the event loop looks for an answer first: where a program's fake timers jump minutes ahead there was no chance to see one
      this.#timerDueMs = nowMs
      this.#clock.nextTurn(this.#judgePeer)
    } else {
      this.#timerDueMs = Infinity
      this.#arm()
    }
  }

  readonly #judgePeer = (): void => {
    const nowMs = this.#clock.nowMs()
    const { writeTimeoutMs } = this.#limits
    this.#timerDueMs = Infinity

    if (this.#isStopped) {
      return
    }

    if (nowMs >= this.#writeDueMs) {
      // a transport with a large buffer says "go on" when all of it is gone: until then the peer's answers show that bytes arrive
      this.#writeDueMs = Math.max(this.#writeDueMs, this.#session.answeredMs + writeTimeoutMs)
    }

    if (nowMs >= this.#writeDueMs) {
      this.#host.fail(new YamuxTimeoutError('WriteTimeoutError', `The transport accepted nothing and the peer answered nothing for ${writeTimeoutMs} ms, see limits.writeTimeoutMs`))
      return
    }

    if (nowMs >= this.#pingDueMs) {
      this.#keepAlive(nowMs)
    }

    this.#arm()
  }

  #keepAlive (nowMs: number): void {
    const { receivedMs, roundTrip: { oldestValue } } = this.#session
    this.#pingDueMs = nowMs + this.#keepAliveIntervalMs
    this.#silentIntervals = receivedMs === this.#receivedMsBefore ? this.#silentIntervals + 1 : 1
    this.#receivedMsBefore = receivedMs
    // the same one, nor one behind it: while there is traffic another is in flight most of the time
    const isUnanswered = this.#pendingPing !== undefined && this.#pendingPing === oldestValue
    this.#unansweredIntervals = isUnanswered ? this.#unansweredIntervals + 1 : 0

    if (this.#silentIntervals > MAX_SILENT_INTERVALS) {
      // it may never have sent anything
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
    this.#pendingPing = this.#session.roundTrip.oldestValue
  }

  #sweep (nowMs: number): void {
    this.#sweepDueMs = Infinity

    for (const state of [...this.#session.streams.values()]) {
      const dueMs = this.#dueMsOf(state)

      // a listener of one that was aborted may have ended it
      if (dueMs === Infinity || state.life.isOver) {
        continue
      }

      if (dueMs > nowMs) {
        // one that is opened slowly may be found a little earlier: there are 256 at most
        const timeoutMs = dueMs - state.lastActiveMs
        this.#sweepDueMs = Math.min(this.#sweepDueMs, Math.max(dueMs, nowMs + timeoutMs * SWEEP_PART_OF_TIMEOUT))
      } else if (isAbandoned(state)) {
        state.owner?.refuseRest()
      } else {
        state.owner?.abort(this.#createError(state, dueMs))
      }
    }
  }

  /** When the first of its timeouts is over, Infinity if the stream may wait for ever. Streams have no timers of their own: this is worked out when somebody asks. */
  #dueMsOf (state: State): number {
    const { owner, lastActiveMs } = state
    const { openTimeoutMs, closeTimeoutMs } = this.#limits

    return Math.min(
      // 0 and Infinity say that a stream may be idle for ever
      lastActiveMs + (owner?.inactivityTimeout || Infinity),
      state.awaitsAck ? state.openedMs + openTimeoutMs : Infinity,
      state.life.writeStatus === 'writable' ? Infinity : lastActiveMs + (isAbandoned(state) ? Math.min(closeTimeoutMs, ABANDONED_AFTER_MS) : closeTimeoutMs)
    )
  }

  /** The timeout that was over at `dueMs` */
  #createError (state: State, dueMs: number): Error {
    const { openTimeoutMs, closeTimeoutMs } = this.#limits
    const { inactivityTimeout = 0 } = state.owner ?? {}

    if (dueMs === state.lastActiveMs + inactivityTimeout) {
      return new YamuxTimeoutError('InactivityTimeoutError', `Stream ${state.id} carried no data for ${inactivityTimeout} ms, see streamOptions.inactivityTimeout`)
    }

    return state.awaitsAck && dueMs === state.openedMs + openTimeoutMs
      ? new YamuxTimeoutError('OpenTimeoutError', `The peer did not acknowledge stream ${state.id} within ${openTimeoutMs} ms, see limits.openTimeoutMs`)
      : new YamuxTimeoutError('CloseTimeoutError', `Stream ${state.id} was closed and then carried nothing for ${closeTimeoutMs} ms, ${state.sendQueue.byteLength} bytes were not sent for want of credit, see limits.closeTimeoutMs`)
  }
}
