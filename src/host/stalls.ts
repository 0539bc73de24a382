/**
 * Grants stalled streams credit beyond what the application has read, from the connection's budget and up to `maxReadBufferLength`:
 *
 * - Both ends write before they read. Credit that follows reading alone would deadlock them.
 * - This side has answered and closed a stream of the peer, and reads nothing of what the peer still sends. Once no more credit can be
 *   granted, timers.ts refuses the rest with a reset, as HTTP/2 servers do.
 */
import { logError } from '../observe/log.ts'
import { isNeverRead } from './stream-owner.ts'
import type { Credit } from '../core/window/credit.ts'
import type { Clock } from './clock.ts'
import type { State, StreamOwner } from './stream-owner.ts'
import type { Logger } from '@libp2p/interface'

/** A stalled stream is reported after it has carried nothing for this long */
const REPORTED_AFTER_MS = 10_000
/** In one report; further streams are only counted */
const MAX_LOGGED = 8

export interface StallsHost {
  readonly session: { readonly credit: Credit<StreamOwner> }
  readonly clock: Clock
  readonly log: Logger
  readonly metrics?: { gather (name: 'stalls', count: number): void }
  readonly timers: { watch (state: State): void }
  request (): void
}

export class Stalls {
  readonly #host: StallsHost
  /** Not looked at yet; undefined if there are none */
  #suspects: Set<State> | undefined
  /** Still stalled after a look: the grant may not suffice, and other streams may return budget later */
  readonly #stillStalled = new Set<State>()
  #timer: unknown
  readonly #reported = new WeakSet<State>()

  constructor (host: StallsHost) {
    this.#host = host
  }

  /**
   * The stream may be stalled. It is checked in the next turn, as a reader may come until then. Not by a timer: streams must go on under an
   * application's fake timers.
   */
  suspect (state: State): void {
    if (!needsCredit(state)) {
      return
    }

    if (this.#suspects === undefined) {
      this.#suspects = new Set()
      this.#host.clock.nextTurn(this.#lookAtSuspects)
    }

    this.#suspects.add(state)
  }

  /** The stream has ended, and nothing here may keep its data */
  forget (state: State): void {
    this.#stillStalled.delete(state)
  }

  stop (): void {
    this.#host.clock.clearTimer(this.#timer)
    this.#stillStalled.clear()
  }

  readonly #lookAtSuspects = (): void => {
    const suspects = this.#suspects ?? []
    this.#suspects = undefined

    for (const state of suspects) {
      this.#relieve(state)
    }

    this.#awaitNextLook()
    this.#host.request()
  }

  readonly #lookAtStillStalled = (): void => {
    const quietSinceMs = this.#host.clock.nowMs() - REPORTED_AFTER_MS
    const stuck: State[] = []
    this.#timer = undefined

    for (const state of this.#stillStalled) {
      if (!this.#relieve(state) && state.isStalled && state.lastActiveMs <= quietSinceMs && !this.#reported.has(state)) {
        stuck.push(state)
      }
    }

    this.#awaitNextLook()
    this.#host.request()
    stuck.forEach(this.#report)
  }

  #awaitNextLook (): void {
    if (this.#stillStalled.size > 0) {
      this.#timer ??= this.#host.clock.setTimer(this.#lookAtStillStalled, REPORTED_AFTER_MS)
    }
  }

  /** Returns true if credit was granted */
  #relieve (state: State): boolean {
    if (!needsCredit(state)) {
      this.#stillStalled.delete(state)
      return false
    }

    const { session, clock, timers } = this.#host
    const isRelieved = session.credit.relieve(state, state.owner?.maxReadBufferLength ?? 0, clock.nowMs())

    if (state.sendQueue.byteLength > 0) {
      this.#stillStalled.add(state)
    } else if (!isRelieved) {
      timers.watch(state)
    }

    return isRelieved
  }

  readonly #report = (state: State, index: number): void => {
    const { id, sendQueue, readBuffer, receiveWindow, owner } = state
    this.#reported.add(state)

    if (index < MAX_LOGGED) {
      logError(this.#host, '%e', new Error(`Stream ${id} carried nothing for ${REPORTED_AFTER_MS} ms: ${sendQueue.byteLength} bytes wait for the peer to read, and ${readBuffer.byteLength} to be read here. Read while you write, or raise streamOptions.maxReadBufferLength (${owner?.maxReadBufferLength}) or maxConnectionWindow: the window is ${receiveWindow.windowBytes} bytes`))
    }

    this.#host.metrics?.gather('stalls', 1)
  }
}

function needsCredit (state: State): boolean {
  return !state.life.isOver && (state.sendQueue.byteLength > 0 ? state.isStalled : isNeverRead(state))
}
