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
  const { id, owner, lastActiveMs, openedMs } = state
  const inactivityTimeoutMs = owner === undefined ? Infinity : asTimeout(owner.inactivityTimeout)
  const { openTimeoutMs, closeTimeoutMs } = timeouts
  const deadlines: StreamDeadline[] = [{
    timeoutMs: inactivityTimeoutMs,
    leftMs: inactivityTimeoutMs - (nowMs - lastActiveMs),
    createError: () => new InactivityTimeoutError(id, inactivityTimeoutMs)
  }]

  if (state.awaitsAck) {
    deadlines.push({
      timeoutMs: openTimeoutMs,
      leftMs: openTimeoutMs - (nowMs - openedMs),
      createError: () => new OpenTimeoutError(id, openTimeoutMs)
    })
  }

  if (state.isClosing) {
    deadlines.push({
      timeoutMs: closeTimeoutMs,
      leftMs: closeTimeoutMs - (nowMs - lastActiveMs),
      createError: () => new CloseTimeoutError(id, closeTimeoutMs, state.sendQueue.byteLength)
    })
  }

  const first = deadlines.reduce((first, next) => next.leftMs < first.leftMs ? next : first)

  return first.leftMs === Infinity ? undefined : first
}

/** 0 and Infinity say that a stream may be idle for ever */
function asTimeout (inactivityTimeoutMs: number): number {
  return inactivityTimeoutMs > 0 ? inactivityTimeoutMs : Infinity
}
