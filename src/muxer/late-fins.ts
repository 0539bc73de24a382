/**
 * FINs for a peer that has said GoAway(0), on streams that it has finished. It is usually about to close its transport, and a
 * write that meets that makes an error of an end in good order. So they wait a moment for the transport to end. A peer that stays,
 * as go-yamux may, gets them behind that: without the FIN it would take the answer that it still reads for cut off.
 */
import { GoAwayCode } from '../core/frame/frame.ts'
import type { Clock } from '../clock.ts'
import type { Session } from '../core/session.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'

type State = StreamState<YamuxStream>

/** The end of a transport follows the GoAway at once, and comes later when a packet is lost or the peer is busy */
const MOMENT_MS = 100

export class LateFins {
  readonly #session: Session<YamuxStream>
  readonly #clock: Clock
  readonly #closeWrite: (state: State) => void
  readonly #waiting = new Set<State>()
  #timer: unknown
  #isReleasing = false
  #isStopped = false

  /** `closeWrite` is called for each stream that was held back, when the moment is over */
  constructor (session: Session<YamuxStream>, clock: Clock, closeWrite: (state: State) => void) {
    this.#session = session
    this.#clock = clock
    this.#closeWrite = closeWrite
  }

  /** Whether the stream's FIN is one to wait with. One behind data goes with that. */
  holdBack (state: State): boolean {
    const isLate = this.#session.remoteGoAwayCode === GoAwayCode.NormalTermination && state.isRemoteFinished && state.sendQueue.byteLength === 0

    if (!isLate || this.#isReleasing || this.#isStopped) {
      return false
    }

    if (this.#waiting.size === 0) {
      // timers run before the event loop looks at the transport
      this.#timer = this.#clock.setTimer(() => { this.#clock.nextTurn(this.#release) }, MOMENT_MS)
    }

    this.#waiting.add(state)

    return true
  }

  /** Nothing is written from here on */
  stop (): void {
    this.#isStopped = true
    this.#clock.clearTimer(this.#timer)
    this.#waiting.clear()
  }

  readonly #release = (): void => {
    this.#isReleasing = true
    this.#waiting.forEach(this.#closeWrite)
    this.#waiting.clear()
    this.#isReleasing = false
  }
}
