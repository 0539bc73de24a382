/**
 * Ends the transport: closes it, aborts it, or cuts it, which is both, immediately or after the final frames. A transport may be of any package,
 * and an exception of it must not keep a connection open.
 */
import { attempt, toError } from '../foreign/values.ts'
import { logError } from '../observe/log.ts'
import { abortable } from '../foreign/promises.ts'
import type { Clock } from '../host/clock.ts'
import type { MessageStream } from '@libp2p/interface'

/** How long a transport may take to send the final frames, or to close */
const FINAL_FRAMES_TIMEOUT_MS = 1000

/** Closes in a microtask, as the transport may be in the middle of a write */
export function closeTransport (transport: MessageStream, reason: Error): void {
  queueMicrotask(() => {
    const signal = AbortSignal.timeout(FINAL_FRAMES_TIMEOUT_MS)
    abortable(closeGently(transport, signal), signal).catch(() => { abortTransport(transport, reason) })
  })
}

/**
 * Unlike a close, an abort gives libp2p the reason why the connection has ended. But it discards data that the transport has not sent. So this
 * waits until the next turn, and for 'drain' if the transport is full, but not for the peer. Returns a function that cuts immediately.
 */
export function cutAfterFinalFrames (transport: MessageStream, clock: Clock, reason: Error): () => void {
  let isOver = false
  const settle = (): void => {
    isOver = true
    clock.clearTimer(timer)
    transport.removeEventListener('drain', checkSoon)
    transport.removeEventListener('close', settle)
  }
  const cut = (): void => {
    if (!isOver) {
      settle()
      cutTransport(transport, reason)
    }
  }
  const check = (): void => {
    // a transport of another package may throw
    if (!attempt(() => transport.writableNeedsDrain, () => false)) {
      cut()
    }
  }
  // a layer of the transport may keep data, and write it a few microtasks after the drain
  const checkSoon = (): void => { clock.nextTurn(check) }
  const timer = clock.setTimer(cut, FINAL_FRAMES_TIMEOUT_MS)
  transport.addEventListener('drain', checkSoon)
  transport.addEventListener('close', settle)
  checkSoon()

  return cut
}

/** Closes and aborts immediately. Without the close the socket of @libp2p/websockets 10 stays open (js-libp2p 3625). A closing transport can be aborted. */
export function cutTransport (transport: MessageStream, reason: Error): void {
  closeGently(transport).catch(() => {})
  abortTransport(transport, reason)
}

export function abortTransport (transport: MessageStream, reason: Error): void {
  attempt(() => { transport.abort(reason) }, err => {
    logError(transport, 'the transport could not be aborted - %e', toError(err, 'The transport threw'))
  })
}

/** Async, so that a close() that throws, or returns no promise, is handled as well: a transport may be of any package */
async function closeGently (transport: MessageStream, signal?: AbortSignal): Promise<void> {
  await transport.close({ signal })
}
