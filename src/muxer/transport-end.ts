/**
 * How the transport comes to its end from here: gently, by force, or by force behind the last words. Transports are not all libp2p's, and
 * none of what they throw keeps a connection from its end.
 */
import { attempt, toError } from '../foreign/values.ts'
import { logError } from '../observe/log.ts'
import { abortable, abortedAfter } from '../foreign/promises.ts'
import type { Clock } from '../host/clock.ts'
import type { MessageStream } from '@libp2p/interface'

/** A connection that has said GoAway gets this long to hand it over before it is cut */
const LAST_WORDS_TIMEOUT_MS = 1000

/** A microtask later: the transport may be in the middle of a write */
export function closeTransport (maConn: MessageStream, reason: Error): void {
  queueMicrotask(() => {
    const signal = abortedAfter(LAST_WORDS_TIMEOUT_MS)
    abortable(closeGently(maConn, signal), signal).catch(() => { abortTransport(maConn, reason) })
  })
}

/**
 * Unlike a close, an abort tells libp2p why the connection has ended. But it discards what the transport has not sent. So this waits for a
 * turn of the event loop, and until a transport that said "wait" takes more, not for the peer. Returns what aborts the transport at once.
 */
export function abortBehindLastWords (maConn: MessageStream, clock: Clock, reason: Error): () => void {
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
    // a transport that is not libp2p's may throw
    if (!attempt(() => maConn.writableNeedsDrain, () => false)) {
      abort()
    }
  }
  // what a layer above has kept is written a few microtasks behind its drain
  const lookSoon = (): void => { clock.nextTurn(look) }
  const timer = clock.setTimer(abort, LAST_WORDS_TIMEOUT_MS)
  maConn.addEventListener('drain', lookSoon)
  maConn.addEventListener('close', settle)
  lookSoon()

  return abort
}

/** Without a close the socket below @libp2p/websockets 10 would stay open (js-libp2p 3625). What is closing can still be aborted. */
export function cutTransport (maConn: MessageStream, reason: Error): void {
  closeGently(maConn).catch(() => {})
  abortTransport(maConn, reason)
}

export function abortTransport (maConn: MessageStream, reason: Error): void {
  attempt(() => { maConn.abort(reason) }, err => {
    logError(maConn, 'the transport could not be aborted - %e', toError(err, 'The transport threw'))
  })
}

/** Rejects also when close() throws, or returns no promise: transports are not all libp2p's */
async function closeGently (maConn: MessageStream, signal?: AbortSignal): Promise<void> {
  await maConn.close({ signal })
}
