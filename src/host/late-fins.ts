/**
 * FINs for a peer that has said GoAway(0), on streams that the peer has finished. Such a peer is usually about to close its transport, and
 * writing to that would turn a clean end into an error. So these FINs wait a moment for the transport to end. A peer that stays, as
 * go-yamux may, gets them then: without the FIN it would take the answer that it still reads for cut off. A FIN behind queued data does
 * not wait.
 */
import { GoAwayCode } from '../core/wire/frame.ts'
import type { Session } from '../core/session.ts'
import type { Clock } from './clock.ts'
import type { State, StreamOwner } from './stream-owner.ts'

/** The end of a transport follows the GoAway at once, and comes later when a packet is lost or the peer is busy */
const LATE_FIN_MS = 100

export class LateFins {
  readonly #session: Session<StreamOwner>
  readonly #clock: Clock
  readonly #closeWrite: (state: State) => void
  readonly #waiting = new Set<State>()
  #timer: unknown
  /** The peer stays, as far as one can see, or the connection has ended */
  #isOver = false

  constructor (session: Session<StreamOwner>, clock: Clock, closeWrite: (state: State) => void) {
    this.#session = session
    this.#clock = clock
    this.#closeWrite = closeWrite
  }

  /** Returns whether the stream's FIN waits here, to be asked for again later: not one that need not, or that has waited. */
  keepBack (state: State): boolean {
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
