/**
 * How long a stream may take to be acknowledged, to end once it was closed, and to be idle. Read from the
 * stream when somebody asks: it has no timer of its own.
 */
import { CloseTimeoutError, InactivityTimeoutError, OpenTimeoutError } from '../errors.ts'
import type { StreamState } from '../core/stream-state.ts'
import type { YamuxStream } from '../stream/stream.ts'

export interface StreamTimeouts {
  /** From the SYN to the peer's first frame */
  openTimeoutMs: number
  /** From when this side has closed, and from each byte that moves after that */
  closeTimeoutMs: number
}

/** What is due first for a stream */
export interface StreamDeadline {
  timeoutMs: number
  leftMs: number
  createError (): Error
}

/** Undefined if the stream may wait for ever */
export function deadlineOf (state: StreamState<YamuxStream>, timeouts: StreamTimeouts, nowMs: number): StreamDeadline | undefined {
  const { id, lastActiveMs } = state
  const { openTimeoutMs, closeTimeoutMs } = timeouts
  const { inactivityTimeout = 0 } = state.owner ?? {}
  // 0 and Infinity say that a stream may be idle for ever
  const inactivityTimeoutMs = inactivityTimeout > 0 ? inactivityTimeout : Infinity
  let first: StreamDeadline | undefined

  const consider = (timeoutMs: number, sinceMs: number, createError: () => Error): void => {
    const leftMs = timeoutMs - (nowMs - sinceMs)

    if (leftMs < (first?.leftMs ?? Infinity)) {
      first = { timeoutMs, leftMs, createError }
    }
  }

  consider(inactivityTimeoutMs, lastActiveMs, () => new InactivityTimeoutError(id, inactivityTimeoutMs))

  if (state.awaitsAck) {
    consider(openTimeoutMs, state.openedMs, () => new OpenTimeoutError(id, openTimeoutMs))
  }

  if (state.isClosing) {
    consider(closeTimeoutMs, lastActiveMs, () => new CloseTimeoutError(id, closeTimeoutMs, state.sendQueue.byteLength))
  }

  return first
}
