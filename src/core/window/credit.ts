/**
 * Grants credit to the peer: when a stream gives back the bytes that were read, and when its window is raised. The size of windows and the
 * connection's budget are in receive-window.ts. Hot: `giveBack` runs once per event.
 */
import { PENDING_UPDATE } from '../stream-state.ts'
import { FAR_MS } from './receive-window.ts'
import type { StreamState } from '../stream-state.ts'
import type { ConnectionBudget } from './receive-window.ts'
import type { RoundTrip } from './round-trip.ts'

export interface CreditHost<Owner> {
  readonly receivedMs: number
  readonly roundTrip: RoundTrip
  readonly streams: { readonly budget: ConnectionBudget }
  ping (): void
  schedule (stream: StreamState<Owner>, pending: number, canWait?: boolean): void
  /** An update must wait for the end of a long frame */
  delaysUpdate (stream: StreamState<Owner>, nowMs: number): boolean
}

export class Credit<Owner> {
  /** How long the program works before it reads the next chunk; 0 if that is short */
  programMs = 0
  readonly #host: CreditHost<Owner>

  constructor (host: CreditHost<Owner>) {
    this.#host = host
  }

  /**
   * Gives back bytes of the window that were read, and queues an update if one is due. Uses the time of the last chunk: to read the clock
   * for each event would cost too much. Hot: runs once per event.
   */
  giveBack (stream: StreamState<Owner>, payloadBytes: number): void {
    const { receiveWindow } = stream
    const { roundTrip, receivedMs: nowMs } = this.#host
    // payloadBytes is 0 at the end of a long frame, for which a head start may have waited
    const hasHeadStart = receiveWindow.isNew ? this.#addHeadStart(stream) : payloadBytes === 0 && receiveWindow.isRaised
    receiveWindow.read(payloadBytes, nowMs)
    const isDue = receiveWindow.isUpdateDue(nowMs, roundTrip.smoothedMs, this.programMs)

    if ((isDue || hasHeadStart) && !stream.life.isReset) {
      if (!stream.mayGrant || this.#host.delaysUpdate(stream, nowMs)) {
        stream.hasDelayedUpdate = true
        return
      }

      this.#host.schedule(stream, PENDING_UPDATE, !isDue)

      if (isDue && roundTrip.isStale(nowMs)) {
        this.#host.ping()
      }
    }
  }

  /** Grants a stalled stream more, up to `maxUnreadBytes` unread; returns whether anything was granted */
  relieve (stream: StreamState<Owner>, maxUnreadBytes: number, nowMs: number): boolean {
    // unread bytes count, not the window: a loop may hold a part of it while it waits to send
    const roomBytes = maxUnreadBytes - stream.readBuffer.byteLength
    const isRelieved = stream.receiveWindow.relieve(roomBytes, nowMs, this.#host.streams.budget)

    if (isRelieved) {
      this.#host.schedule(stream, PENDING_UPDATE)
    }

    return isRelieved
  }

  /** Returns how much the window update that is being written grants */
  take ({ receiveWindow }: StreamState<Owner>, nowMs: number): number {
    const { roundTrip, streams } = this.#host

    return receiveWindow.takeUpdate(nowMs, roundTrip.smoothedMs, streams.budget, this.programMs)
  }

  /** Gives a stream its head start when its first bytes are read. Credit takes about as long as the peer's first answer did, its program included. */
  #addHeadStart (stream: StreamState<Owner>): boolean {
    const { roundTrip, receivedMs, streams } = this.#host
    const creditMs = stream.isOutbound ? receivedMs - stream.openedMs : Math.max(roundTrip.shorterMs ?? 0, this.programMs)

    return creditMs >= FAR_MS && stream.mayGrant && stream.receiveWindow.addHeadStart(creditMs, streams.budget)
  }
}
