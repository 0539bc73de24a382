/**
 * What must happen although nobody sends: keep-alive pings, and the end of streams that are idle
 * too long. One timer, set to whatever is due first; none when nothing can become due.
 */
import { MAX_TIMER_MS } from '../config.ts'
import { InactivityTimeoutError, KeepAliveTimeoutError } from '../errors.ts'
import type { Clock } from '../clock.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'

/** Idle streams are found up to this part of their timeout late, so that 10,000 of them do not mean 10,000 sweeps */
const SWEEP_PART_OF_TIMEOUT = 1 / 8

/** A peer that was silent for this many whole intervals, each with a ping in it, is gone */
const MAX_SILENT_INTERVALS = 2

export interface HousekeepingInit {
  clock: Clock
  /** Infinity turns keep-alive off */
  keepAliveIntervalMs: number
  streams (): Iterable<StreamState<YamuxStream>>
  ping (): void
  onSilence (err: Error): void
}

export class Housekeeping {
  readonly #init: HousekeepingInit
  #timer: unknown
  #timerDueMs = Infinity
  #pingDueMs = Infinity
  #sweepDueMs = Infinity
  #lastReceivedMs: number
  #silentIntervals = 0
  #isStopped = false

  constructor (init: HousekeepingInit) {
    this.#init = init
    this.#lastReceivedMs = init.clock.nowMs()
  }

  /** The first ping goes at once, so that there is a round trip to work with */
  start (): void {
    if (this.#init.keepAliveIntervalMs !== Infinity) {
      this.#pingDueMs = this.#init.clock.nowMs() + this.#init.keepAliveIntervalMs
      this.#init.ping()
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

  /** A stream was opened */
  onStream (inactivityTimeoutMs: number): void {
    if (isTimed(inactivityTimeoutMs)) {
      const dueMs = this.#init.clock.nowMs() + inactivityTimeoutMs

      if (dueMs < this.#sweepDueMs) {
        this.#sweepDueMs = dueMs
        this.#arm()
      }
    }
  }

  #arm (): void {
    const dueMs = Math.min(this.#pingDueMs, this.#sweepDueMs)

    if (this.#isStopped || dueMs >= this.#timerDueMs) {
      return
    }

    const { clock } = this.#init
    clock.clearTimer(this.#timer)
    this.#timerDueMs = dueMs
    this.#timer = clock.setTimer(this.#onTimer, Math.min(MAX_TIMER_MS, Math.max(0, dueMs - clock.nowMs())))
  }

  readonly #onTimer = (): void => {
    const nowMs = this.#init.clock.nowMs()
    this.#timerDueMs = Infinity

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

    if (this.#silentIntervals > MAX_SILENT_INTERVALS) {
      this.#init.onSilence(new KeepAliveTimeoutError(nowMs - this.#lastReceivedMs))
    } else {
      this.#init.ping()
    }
  }

  #sweep (nowMs: number): void {
    this.#sweepDueMs = Infinity

    for (const { owner, lastActiveMs } of [...this.#init.streams()]) {
      if (owner == null || !isTimed(owner.inactivityTimeout)) {
        continue
      }

      const timeoutMs = owner.inactivityTimeout
      const leftMs = timeoutMs - (nowMs - lastActiveMs)

      if (leftMs <= 0) {
        owner.abort(new InactivityTimeoutError(Number(owner.id), timeoutMs))
      } else {
        this.#sweepDueMs = Math.min(this.#sweepDueMs, nowMs + Math.max(leftMs, timeoutMs * SWEEP_PART_OF_TIMEOUT))
      }
    }
  }
}

/** 0 and Infinity say that a stream may be idle for ever */
function isTimed (timeoutMs: number): boolean {
  return timeoutMs > 0 && timeoutMs !== Infinity
}
