/**
 * FINs for a peer that has said GoAway(0), on streams that the peer has finished. Such a peer is usually about to close its transport, and
 * writing to that would turn a clean end into an error. So these FINs wait a moment for the transport to end. A peer that stays, as
 * go-yamux may, gets them then: without the FIN it would take the answer that it still reads for cut off. A FIN behind queued data does
 * not wait.
 */
import { GoAwayCode } from '../core/wire/frame.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { Driver } from './driver.ts'

type State = StreamState<MuxedStream>

/** The end of a transport follows the GoAway at once, and comes later when a packet is lost or the peer is busy */
const LATE_FIN_MS = 100

export class LateFins {
  readonly #driver: Driver
  readonly #waiting = new Set<State>()
  #timer: unknown
  /** The peer stays, as far as one can see */
  #isOver = false

  constructor (driver: Driver) {
    this.#driver = driver
  }

  /** Returns whether the stream's FIN waits here, to be asked for again later: not one that need not, or that has waited. */
  keepBack (state: State): boolean {
    const { session, writer, clock } = this.#driver
    const isLate = session.remoteGoAwayCode === GoAwayCode.NormalTermination && state.life.remoteWriteStatus === 'closed' && state.sendQueue.byteLength === 0

    if (!isLate || this.#isOver || writer.isStopped || this.#waiting.has(state)) {
      return false
    }

    if (this.#waiting.size === 0) {
      // timers run before the event loop looks at the transport
      this.#timer = clock.setTimer(() => { clock.nextTurn(this.#release) }, LATE_FIN_MS)
    }

    this.#waiting.add(state)

    return true
  }

  stop (): void {
    this.#driver.clock.clearTimer(this.#timer)
    this.#waiting.clear()
  }

  readonly #release = (): void => {
    this.#isOver = true
    this.#waiting.forEach(state => { this.#driver.closeWrite(state) })
    this.#waiting.clear()
  }
}
