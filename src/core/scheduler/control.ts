/**
 * Control frames, which go before data: answers and requests of the session, then what is pending of streams. There is at most one
 * entry a stream, and what is superseded before it is written vanishes.
 */
import { FLAG_ACK, FLAG_RST, FLAG_SYN, HEADER_BYTES, SESSION_ID, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../wire/frame.ts'
import { PENDING_FIN, PENDING_RST, PENDING_UPDATE } from '../stream-state.ts'
import { Replies } from './replies.ts'
import type { WindowTuning } from '../window/receive-window.ts'
import type { Batch } from './batch.ts'
import type { StreamState } from '../stream-state.ts'

export interface ControlHandler<Owner> {
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
  readonly #handler: ControlHandler<Owner>
  /** In the order in which something came to be pending */
  readonly #streams = new Set<StreamState<Owner>>()
  /** Those with more than an ACK pending, and perhaps some that had */
  readonly #beyondAcks = new Set<StreamState<Owner>>()
  #pingValue: number | undefined
  #goAwayCode: number | undefined
  /** Nothing follows that */
  hasWrittenGoAway = false

  constructor (handler: ControlHandler<Owner>) {
    this.#handler = handler
    this.replies = new Replies(() => { handler.onRepliesFull() })
  }

  get hasOutput (): boolean {
    return this.#streams.size > 0 || this.replies.count > 0 || this.#pingValue !== undefined || this.#goAwayCode !== undefined
  }

  /** There is something that somebody waits for. Hot: runs once per send. */
  get hasMoreThanAcks (): boolean {
    return this.replies.count > 0 || this.#pingValue !== undefined || this.#goAwayCode !== undefined ||
      (this.#beyondAcks.size > 0 && this.#findMoreThanAcks())
  }

  /** Something (more) is pending of the stream */
  enlist (stream: StreamState<Owner>): void {
    this.#streams.add(stream)

    if ((stream.pending & ~FLAG_ACK) !== 0) {
      this.#beyondAcks.add(stream)
    }
  }

  /** Nothing is pending of the stream any more */
  remove (stream: StreamState<Owner>): void {
    this.#streams.delete(stream)
    this.#beyondAcks.delete(stream)
  }

  ping (value: number): void {
    this.#pingValue = value
  }

  /** Written behind everything else, once. Until then a later code replaces an earlier one. */
  goAway (code: number): void {
    if (!this.hasWrittenGoAway) {
      this.#goAwayCode = code
    }
  }

  fill (batch: Batch, maxFrames: number, nowMs: number): void {
    if (this.replies.count > 0) {
      this.replies.fill(batch, maxFrames)
    }

    if (this.#pingValue !== undefined && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#pingValue)
      this.#pingValue = undefined
      this.#handler.onPingWritten(nowMs)
    }

    if (this.#streams.size > 0) {
      this.#writeStreams(batch, maxFrames, nowMs)
    }

    if (this.#goAwayCode !== undefined && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_GO_AWAY, 0, SESSION_ID, this.#goAwayCode)
      this.#goAwayCode = undefined
      this.hasWrittenGoAway = true
    }
  }

  /** A SYN may have gone with data since; each is found out once */
  #findMoreThanAcks (): boolean {
    for (const stream of this.#beyondAcks) {
      if ((stream.pending & ~FLAG_ACK) !== 0) {
        return true
      }

      this.#beyondAcks.delete(stream)
    }

    return false
  }

  #writeStreams (batch: Batch, maxFrames: number, nowMs: number): void {
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

  #writeStream (stream: StreamState<Owner>, batch: Batch, nowMs: number): void {
    const { receiveWindow } = stream
    const isOpening = (stream.pending & (FLAG_SYN | FLAG_ACK)) !== 0
    // one flag a frame: jvm-libp2p takes no two, and py-libp2p loses a FIN beside an ACK
    const pending = isOpening ? stream.pending & ~PENDING_FIN : stream.pending
    stream.pending &= ~pending

    if ((pending & PENDING_RST) !== 0) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, stream.id, stream.errorCode)
      this.#handler.onResetWritten(stream)
      return
    }

    // all may have gone with a DATA frame
    if (pending === 0) {
      return
    }

    // a raised window is advertised with the SYN or ACK: nothing else tells the peer before its first bytes
    const saysWindow = ((pending & PENDING_UPDATE) !== 0 || receiveWindow.isRaised) && stream.mayGrant
    stream.hasHeldUpdate ||= (pending & PENDING_UPDATE) !== 0 && !saysWindow
    const deltaBytes = saysWindow ? receiveWindow.takeUpdate(nowMs, this.#handler.windowTuning) : 0
    const flags = pending & (FLAG_SYN | FLAG_ACK | PENDING_FIN)

    if (flags === 0 && deltaBytes === 0) {
      return
    }

    batch.header(TYPE_WINDOW_UPDATE, flags, stream.id, deltaBytes)

    if ((flags & PENDING_FIN) !== 0) {
      this.#handler.onFinWritten(stream)
    } else if (stream.pending !== 0) {
      this.enlist(stream)
    }
  }
}

function hasRoom (batch: Batch, maxFrames: number): boolean {
  return batch.roomBytes >= HEADER_BYTES && batch.frameCount < maxFrames
}

/**
 * SYN and ACK need no frame of their own when the stream's first DATA frame is about to go. They wait for one write at most: behind many
 * busy streams that frame may come late, and the peer counts on the ACK.
 */
function canRideOnData (stream: StreamState): boolean {
  return !stream.hasDeferredControl && stream.pending !== 0 && (stream.pending & (PENDING_RST | PENDING_UPDATE)) === 0 &&
    stream.canSendData && !stream.receiveWindow.isRaised
}
