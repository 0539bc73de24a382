/**
 * Delays FINs to a peer that has sent GoAway(0), on streams that the peer has finished. Such a peer usually closes its transport next, and a
 * write to a closed transport would turn a clean end into an error. A peer that stays, as go-yamux may, gets the FINs after a moment: without
 * them it would take the answer for truncated. A FIN after queued data does not wait.
 */
import { GoAwayCode } from '../core/wire/frame.ts'
import type { Session } from '../core/session.ts'
import type { Clock } from './clock.ts'
import type { State, StreamOwner } from './stream-owner.ts'

/** The transport ends right after the GoAway, or later if a packet is lost or the peer is busy */
const LATE_FIN_MS = 100

export class LateFins {
  readonly #session: Session<StreamOwner>
  readonly #clock: Clock
  readonly #closeWrite: (state: State) => void
  readonly #waiting = new Set<State>()
  #timer: unknown
  /** The peer stays, it seems, or the connection has ended */
  #isOver = false

  constructor (session: Session<StreamOwner>, clock: Clock, closeWrite: (state: State) => void) {
    this.#session = session
    this.#clock = clock
    this.#closeWrite = closeWrite
  }

  /** Returns true if the FIN waits here. `closeWrite` runs again for it later, and then it waits no more. */
  delays (state: State): boolean {
    const isLate = this.#session.remoteGoAwayCode === GoAwayCode.NormalTermination && state.life.remoteWriteStatus === 'closed' && state.sendQueue.byteLength === 0

    if (!isLate || this.#isOver || this.#waiting.has(state)) {
      return false
    }

    if (this.#waiting.size === 0) {
      // timers run before the event loop looks at the transport
      this.#timer = this.#clock.setTimer(() => { this.#clock.nextTurn(this.#release) }, LATE_FIN_MS)
    }

    this.#waiting.add(state)

    return true
  }

  stop (): void {
    this.#isOver = true
    this.#clock.clearTimer(this.#timer)
    this.#waiting.clear()
  }

  readonly #release = (): void => {
    this.#isOver = true
    this.#waiting.forEach(state => { this.#closeWrite(state) })
    this.#waiting.clear()
  }
}
