/**
 * Delays FINs to a peer that has sent GoAway(0), on streams that the peer has finished. Such a peer usually closes its transport next, and a
 * write to a closed transport would turn a clean end into an error. A peer that stays, as go-yamux may, gets the FINs after a moment: without
 * them it would take the answer for truncated. A FIN after queued data does not wait.
 */
import { GoAwayCode } from '../core/wire/frame.ts'
import type { Clock } from './clock.ts'
import type { State } from './stream-owner.ts'

/** The transport ends right after the GoAway, or later if a packet is lost or the peer is busy */
const LATE_FIN_MS = 100

export interface LateFinsHost {
  readonly session: { readonly remoteGoAwayCode: number | undefined }
  readonly clock: Clock
  closeWrite (state: State): void
}

export class LateFins {
  readonly #host: LateFinsHost
  #waiting: State[] = []
  #timer: unknown
  /** The peer stays, it seems, or the connection has ended */
  #isOver = false

  constructor (host: LateFinsHost) {
    this.#host = host
  }

  /** Makes the FIN wait here if it should, and returns whether it does. `closeWrite` runs again for it later, and then it waits no more. */
  tryDelay (state: State): boolean {
    const isLate = this.#host.session.remoteGoAwayCode === GoAwayCode.NormalTermination && state.life.remoteWriteStatus === 'closed' && state.sendQueue.byteLength === 0

    if (!isLate || this.#isOver || this.#waiting.includes(state)) {
      return false
    }

    if (this.#waiting.length === 0) {
      const { clock } = this.#host
      // timers run before the event loop looks at the transport
      this.#timer = clock.setTimer(() => { clock.nextTurn(this.#release) }, LATE_FIN_MS)
    }

    this.#waiting.push(state)

    return true
  }

  stop (): void {
    this.#isOver = true
    this.#host.clock.clearTimer(this.#timer)
    this.#waiting = []
  }

  readonly #release = (): void => {
    this.#isOver = true
    this.#waiting.forEach(state => { this.#host.closeWrite(state) })
    this.#waiting = []
  }
}
