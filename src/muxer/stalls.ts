/**
 * Streams that stand still. They get more credit than was read, out of the connection's budget and up to what a stream may buffer:
 *
 * - Both ends write, and neither reads before it has written. Credit that follows reading would leave them so for ever.
 * - This side has answered and closed a stream of the peer, and nobody has begun to read what the peer still sends. When there is no more to
 *   grant, a timer refuses the rest with a reset, as HTTP/2 servers do.
 */
import { logError } from '../log.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { Driver } from './driver.ts'

type State = StreamState<MuxedStream>

/** A stream that has no more to be granted is reported when it has carried nothing for so long */
const REPORTED_AFTER_MS = 10_000
/** At once; others are only counted */
const MAX_LOGGED = 8

export class Stalls {
  readonly #driver: Driver
  /** Not looked at yet */
  #suspects = new Set<State>()
  /** Still stalled when they were looked at: what they were granted may not do, and others may give back some of the budget */
  readonly #standing = new Set<State>()
  #standingTimer: unknown
  readonly #reported = new WeakSet<State>()

  constructor (driver: Driver) {
    this.#driver = driver
  }

  /**
   * The stream may stand still now. A reader may be on the way, so the stream is looked at when the event loop has come round: this one
   * alone, not all that are stalled. No timer, as streams must go on where an application's tests hold timers.
   */
  suspect (state: State): void {
    if (this.#driver.writer.isStopped || !standsStill(state)) {
      return
    }

    if (this.#suspects.size === 0) {
      this.#driver.clock.nextTurn(this.#lookAtSuspects)
    }

    this.#suspects.add(state)
  }

  stop (): void {
    this.#driver.clock.clearTimer(this.#standingTimer)
    this.#suspects.clear()
    this.#standing.clear()
  }

  readonly #lookAtSuspects = (): void => {
    const suspects = this.#suspects
    this.#suspects = new Set()

    for (const state of suspects) {
      this.#relieve(state)
    }

    this.#awaitStanding()
    this.#driver.request()
  }

  readonly #lookAtStanding = (): void => {
    const quietSinceMs = this.#driver.clock.nowMs() - REPORTED_AFTER_MS
    const stuck: State[] = []
    this.#standingTimer = undefined

    for (const state of this.#standing) {
      if (!this.#relieve(state) && state.isStalled && state.lastActiveMs <= quietSinceMs && !this.#reported.has(state)) {
        stuck.push(state)
      }
    }

    this.#awaitStanding()
    this.#driver.request()
    stuck.forEach(this.#report)
  }

  #awaitStanding (): void {
    if (this.#standing.size > 0) {
      this.#standingTimer ??= this.#driver.clock.setTimer(this.#lookAtStanding, REPORTED_AFTER_MS)
    }
  }

  /** Returns whether it was granted anything */
  #relieve (state: State): boolean {
    if (!standsStill(state)) {
      this.#standing.delete(state)
      return false
    }

    const { session: { credit }, clock, timers } = this.#driver
    const isRelieved = credit.relieve(state, state.owner?.maxReadBufferLength ?? 0, clock.nowMs())

    if (state.sendQueue.byteLength > 0) {
      this.#standing.add(state)
    } else if (!isRelieved) {
      timers.watch(state)
    }

    return isRelieved
  }

  readonly #report = (state: State, index: number): void => {
    const { id, sendQueue, readBuffer, receiveWindow, owner } = state
    this.#reported.add(state)

    if (index < MAX_LOGGED) {
      logError(this.#driver, '%e', new Error(`Stream ${id} carried nothing for ${REPORTED_AFTER_MS} ms: ${sendQueue.byteLength} bytes wait for the peer to read, and ${readBuffer.byteLength} to be read here. Read while you write, or raise streamOptions.maxReadBufferLength (${owner?.maxReadBufferLength}) or maxConnectionWindow: the window is ${receiveWindow.windowBytes} bytes`))
    }

    this.#driver.metrics?.gather('stalls', 1)
  }
}

/** This side has closed a stream of the peer, whose window is used up, and nobody has begun to read: perhaps nobody will */
export function isAbandoned ({ hasAnswered, isStalled, owner }: State): boolean {
  return hasAnswered && isStalled && owner?.isLeftUnread === true
}

function standsStill (state: State): boolean {
  return !state.life.isOver && (state.sendQueue.byteLength > 0 ? state.isStalled : isAbandoned(state))
}
