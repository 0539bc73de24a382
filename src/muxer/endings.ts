/**
 * How a connection's transport is ended: gently, by force, or by force behind the last words; and which FINs wait for an end that the
 * peer has announced (LateFins).
 */
import { GoAwayCode } from '../core/wire/frame.ts'
import { toError } from '../foreign.ts'
import { logError } from '../log.ts'
import { abortable } from '../promises.ts'
import type { Clock } from '../clock.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { MuxedStream } from '../stream/stream.ts'
import type { Driver } from './driver.ts'
import type { MessageStream } from '@libp2p/interface'

/** A connection that has said GoAway gets this long to hand it over before it is cut */
const LAST_WORDS_TIMEOUT_MS = 1000

/** A microtask later: the transport may be in the middle of a write */
export function closeTransport (maConn: MessageStream, reason: Error): void {
  queueMicrotask(() => {
    const signal = AbortSignal.timeout(LAST_WORDS_TIMEOUT_MS)
    abortable(closeGently(maConn, signal), signal).catch(() => { abortTransport(maConn, reason) })
  })
}

/**
 * Unlike a close, an abort tells libp2p why the connection has ended. It discards what the transport has not sent, so it waits for a
 * turn of the event loop, and until a transport that said "wait" takes more. The peer is not waited for.
 */
export function abortBehindLastWords (maConn: MessageStream, clock: Clock, reason: Error): void {
  let isOver = false
  const settle = (): void => {
    isOver = true
    clock.clearTimer(timer)
    maConn.removeEventListener('drain', lookSoon)
    maConn.removeEventListener('close', settle)
  }
  const abort = (): void => {
    if (!isOver) {
      settle()
      cutTransport(maConn, reason)
    }
  }
  const look = (): void => {
    if (!needsDrain(maConn)) {
      abort()
    }
  }
  // what a layer above has kept is written a few microtasks behind its drain
  const lookSoon = (): void => { clock.nextTurn(look) }
  const timer = clock.setTimer(abort, LAST_WORDS_TIMEOUT_MS)
  maConn.addEventListener('drain', lookSoon)
  maConn.addEventListener('close', settle)
  lookSoon()
}

/** A transport that is not libp2p's may throw */
function needsDrain (maConn: MessageStream): boolean {
  try {
    return maConn.writableNeedsDrain
  } catch {
    return false
  }
}

/** Without a close the socket below @libp2p/websockets 10 would stay open (js-libp2p 3625). What is closing can still be aborted. */
export function cutTransport (maConn: MessageStream, reason: Error): void {
  closeGently(maConn).catch(() => {})
  abortTransport(maConn, reason)
}

export function abortTransport (maConn: MessageStream, reason: Error): void {
  try {
    maConn.abort(reason)
  } catch (err) {
    logError(maConn, 'the transport could not be aborted - %e', toError(err, 'The transport threw'))
  }
}

/** Rejects also when close() throws, or returns no promise: transports are not all libp2p's */
async function closeGently (maConn: MessageStream, signal?: AbortSignal): Promise<void> {
  await maConn.close({ signal })
}

type State = StreamState<MuxedStream>

/** The end of a transport follows the GoAway at once, and comes later when a packet is lost or the peer is busy */
const MOMENT_MS = 100

/**
 * FINs for a peer that has said GoAway(0), on streams that the peer has finished. Such a peer is usually about to close its transport, and
 * writing to that would turn a clean end into an error. So these FINs wait a moment for the transport to end. A peer that stays, as
 * go-yamux may, gets them then: without the FIN it would take the answer that it still reads for cut off.
 */
export class LateFins {
  readonly #driver: Driver
  readonly #waiting = new Set<State>()
  #timer: unknown
  #isReleasing = false
  #isStopped = false

  constructor (driver: Driver) {
    this.#driver = driver
  }

  /** Keeps the stream's FIN for a moment, if it is one to wait with, and says whether it does. A FIN behind queued data does not wait. */
  postpone (state: State): boolean {
    const { session, clock } = this.#driver
    const isLate = session.remoteGoAwayCode === GoAwayCode.NormalTermination && state.life.remoteWriteStatus === 'closed' && state.sendQueue.byteLength === 0

    if (!isLate || this.#isReleasing || this.#isStopped) {
      return false
    }

    if (this.#waiting.size === 0) {
      // timers run before the event loop looks at the transport
      this.#timer = clock.setTimer(() => { clock.nextTurn(this.#release) }, MOMENT_MS)
    }

    this.#waiting.add(state)

    return true
  }

  /** Nothing is written from here on */
  stop (): void {
    this.#isStopped = true
    this.#driver.clock.clearTimer(this.#timer)
    this.#waiting.clear()
  }

  readonly #release = (): void => {
    this.#isReleasing = true
    this.#waiting.forEach(state => { this.#driver.closeWrite(state) })
    this.#waiting.clear()
    this.#isReleasing = false
  }
}
