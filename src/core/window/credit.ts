/**
 * The credit that the peer gets: when a stream gives back what was read, and with how much more. How large a window is, and what all of a
 * connection may grow by, is in receive-window.ts. Hot: `giveBack` runs once per event.
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
  schedule (stream: StreamState<Owner>, what: number, canWait?: boolean): void
  /** An update waits for the end of a long frame */
  delaysUpdate (stream: StreamState<Owner>, nowMs: number): boolean
}

export class Credit<Owner> {
  /** How long the program works before it looks for the next chunk; 0 if that is next to nothing */
  programMs = 0
  readonly #host: CreditHost<Owner>

  constructor (host: CreditHost<Owner>) {
    this.#host = host
  }

  /**
   * So many bytes of the window are free again; an update is due when they are enough. The time of it is that of the last chunk: a look
   * at the clock for each event would cost more than it tells. Hot: runs once per event.
   */
  giveBack (stream: StreamState<Owner>, payloadBytes: number): void {
    const { receiveWindow } = stream
    const { roundTrip, receivedMs: nowMs } = this.#host
    // a head start may have waited for the end of a long frame, where nothing more is read
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

  /** Grants a stalled stream more, until `maxUnreadBytes` wait to be read; returns whether there was more to grant */
  relieve (stream: StreamState<Owner>, maxUnreadBytes: number, nowMs: number): boolean {
    // what counts is what is unread: a loop may hold a part of the window, and wait to send that back
    const roomBytes = maxUnreadBytes - stream.readBuffer.byteLength
    const isRelieved = stream.receiveWindow.relieve(roomBytes, nowMs, this.#host.streams.budget)

    if (isRelieved) {
      this.#host.schedule(stream, PENDING_UPDATE)
    }

    return isRelieved
  }

  /** What a window update that is being written now grants */
  take ({ receiveWindow }: StreamState<Owner>, nowMs: number): number {
    const { roundTrip, streams } = this.#host

    return receiveWindow.takeUpdate(nowMs, roundTrip.smoothedMs, streams.budget, this.programMs)
  }

  /** The first bytes of a stream are being read. How long credit takes shows best in how long the peer's answer took: its program's turn counts too. */
  #addHeadStart (stream: StreamState<Owner>): boolean {
    const { roundTrip, receivedMs, streams } = this.#host
    const creditMs = stream.isOutbound ? receivedMs - stream.openedMs : Math.max(roundTrip.shorterMs ?? 0, this.programMs)

    return creditMs >= FAR_MS && stream.mayGrant && stream.receiveWindow.addHeadStart(creditMs, streams.budget)
  }
}
