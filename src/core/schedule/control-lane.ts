/**
 * What is not payload and goes first: answers and requests of the session, then what streams owe.
 *
 * Streams stand here as intents, so the lane holds at most one entry a stream, and what is
 * superseded before it is written vanishes.
 */
import { FLAG_ACK, FLAG_RST, FLAG_SYN, SESSION_ID, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../frame/frame.ts'
import { OWES_FIN, OWES_RST, OWES_UPDATE } from '../stream-state.ts'
import { hasRoom, Replies } from './replies.ts'
import type { WindowTuning } from '../flow/receive-window.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { StreamState } from '../stream-state.ts'

export interface ControlLaneInit<Owner> {
  /** The FIN is in a batch */
  onFinWritten (stream: StreamState<Owner>): void
  /** The RST is in a batch: the stream's place among the open streams is free */
  onResetWritten (stream: StreamState<Owner>): void
  /** The ping is in a batch */
  onPingWritten (nowMs: number): void
  /** Replies pile up: the transport may take them */
  onRepliesFull (): void
  readonly windowTuning: WindowTuning
}

export class ControlLane<Owner> {
  readonly replies: Replies
  readonly #init: ControlLaneInit<Owner>
  /** In the order in which they came to owe something */
  readonly #streams = new Set<StreamState<Owner>>()
  /** Those of them that owe more than an ACK, and perhaps some that did */
  readonly #beyondAcks = new Set<StreamState<Owner>>()
  #pingValue: number | undefined
  #goAwayCode: number | undefined
  #hasWrittenGoAway = false

  constructor (init: ControlLaneInit<Owner>) {
    this.#init = init
    this.replies = new Replies(() => { init.onRepliesFull() })
  }

  get hasOutput (): boolean {
    return this.#streams.size > 0 || this.#hasSessionOutput
  }

  /** Hot: asked for once per send while nothing is arranged that comes soon */
  get hasMoreThanAcks (): boolean {
    return this.#hasSessionOutput || (this.#beyondAcks.size > 0 && this.#findMoreThanAcks())
  }

  /** The stream owes something (more) */
  enlist (stream: StreamState<Owner>): void {
    this.#streams.add(stream)

    if (owesMoreThanAck(stream)) {
      this.#beyondAcks.add(stream)
    }
  }

  /** The stream owes nothing any more */
  remove (stream: StreamState<Owner>): void {
    this.#streams.delete(stream)
    this.#beyondAcks.delete(stream)
  }

  ping (value: number): void {
    this.#pingValue = value
  }

  /** Written behind everything that is in the lane by then; said once, and the last code until then counts */
  goAway (code: number): void {
    if (!this.#hasWrittenGoAway) {
      this.#goAwayCode = code
    }
  }

  fill (batch: WriteBatch, maxFrames: number, nowMs: number): void {
    this.replies.fill(batch, maxFrames)

    if (this.#pingValue !== undefined && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#pingValue)
      this.#pingValue = undefined
      this.#init.onPingWritten(nowMs)
    }

    if (this.#streams.size > 0) {
      this.#writeStreams(batch, maxFrames, nowMs)
    }

    if (this.#goAwayCode !== undefined && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_GO_AWAY, 0, SESSION_ID, this.#goAwayCode)
      this.#goAwayCode = undefined
      this.#hasWrittenGoAway = true
    }
  }

  get #hasSessionOutput (): boolean {
    return this.replies.count > 0 || this.#pingValue !== undefined || this.#goAwayCode !== undefined
  }

  /** A SYN may have gone with data since; each is found out once */
  #findMoreThanAcks (): boolean {
    for (const stream of this.#beyondAcks) {
      if (owesMoreThanAck(stream)) {
        return true
      }

      this.#beyondAcks.delete(stream)
    }

    return false
  }

  #writeStreams (batch: WriteBatch, maxFrames: number, nowMs: number): void {
    for (const stream of this.#streams) {
      if (!hasRoom(batch, maxFrames)) {
        return
      }

      if (canRideOnData(stream)) {
        stream.hasDeferredControl = true
      } else {
        this.remove(stream)
        this.#writeStream(stream, batch, nowMs)
      }
    }
  }

  #writeStream (stream: StreamState<Owner>, batch: WriteBatch, nowMs: number): void {
    if ((stream.owes & OWES_RST) !== 0) {
      stream.owes = 0
      batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, stream.id, stream.errorCode)
      this.#init.onResetWritten(stream)
      return
    }

    // all may have gone with a DATA frame
    if (stream.owes === 0) {
      return
    }

    const deltaBytes = owesUpdate(stream) ? stream.receiveWindow.takeUpdate(nowMs, this.#init.windowTuning) : 0
    const flags = stream.owes & (FLAG_SYN | FLAG_ACK | OWES_FIN)
    stream.owes = 0

    if (flags === 0 && deltaBytes === 0) {
      return
    }

    batch.header(TYPE_WINDOW_UPDATE, flags, stream.id, deltaBytes)

    if ((flags & OWES_FIN) !== 0) {
      this.#init.onFinWritten(stream)
    }
  }
}

function owesMoreThanAck (stream: StreamState): boolean {
  return (stream.owes & ~FLAG_ACK) !== 0
}

/** A raised window is advertised with the SYN or ACK: nothing else tells the peer before its first bytes */
function owesUpdate (stream: StreamState): boolean {
  return !stream.isRemoteFinished && ((stream.owes & OWES_UPDATE) !== 0 || stream.receiveWindow.isRaised)
}

/**
 * SYN and ACK need no frame of their own when the stream's first DATA frame is about to go. They
 * wait for it once: behind many busy streams its turn may come late, and the peer counts on the ACK.
 */
function canRideOnData (stream: StreamState): boolean {
  return !stream.hasDeferredControl && stream.canSendData && stream.owes !== 0 &&
    (stream.owes & (OWES_RST | OWES_UPDATE)) === 0 && !stream.receiveWindow.isRaised
}
