/**
 * What is not payload and goes first: answers and requests of the session, then what streams owe.
 *
 * Streams stand here as intents, so the lane holds at most one entry a stream. What a peer can
 * provoke without a stream (pongs, refusals) is counted and bounded.
 */
import { FLAG_ACK, FLAG_RST, FLAG_SYN, HEADER_BYTES, SESSION_ID, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../frame/frame.ts'
import { ProtocolError } from '../protocol-error.ts'
import { NEWS_LOCAL_FIN, OWES_FIN, OWES_RST, OWES_UPDATE } from '../stream-state.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { WindowTuning } from '../flow/receive-window.ts'
import type { StreamState } from '../stream-state.ts'

/**
 * Pongs and refusals that may wait for a transport that accepts nothing, 4 bytes each. The Rust
 * crate h2 bounds the resets it is made to send by the same number.
 */
const MAX_UNREAD_REPLIES = 1024

export interface ControlLaneInit<Owner> {
  onNews (stream: StreamState<Owner>, news: number): void
  /** The RST is in a batch: the stream's place among the open streams is free */
  onResetWritten (stream: StreamState<Owner>): void
  /** The ping is in a batch */
  onPingWritten (nowMs: number): void
  readonly windowTuning: WindowTuning
}

export class ControlLane<Owner> {
  readonly #init: ControlLaneInit<Owner>
  #pongs: number[] = []
  #refusedIds: number[] = []
  #pingValue: number | undefined
  #goAwayCode: number | undefined
  #streams: Array<StreamState<Owner>> = []

  constructor (init: ControlLaneInit<Owner>) {
    this.#init = init
  }

  /** An upper bound: superseded intents write nothing */
  get frameCount (): number {
    return this.#streams.length + this.#pongs.length + this.#refusedIds.length +
      (this.#pingValue == null ? 0 : 1) + (this.#goAwayCode == null ? 0 : 1)
  }

  /** Looks at the streams only as far as the first that owes more */
  get hasMoreThanAcks (): boolean {
    return this.frameCount > this.#streams.length || this.#streams.some(stream => (stream.owes & ~FLAG_ACK) !== 0)
  }

  enlist (stream: StreamState<Owner>): void {
    if (!stream.isInControlLane) {
      stream.isInControlLane = true
      stream.hasDeferredControl = false
      this.#streams.push(stream)
    }
  }

  ping (value: number): void {
    this.#pingValue = value
  }

  pong (value: number): void {
    this.#pongs.push(value)
    this.#checkReplies()
  }

  refuse (streamId: number): void {
    this.#refusedIds.push(streamId)
    this.#checkReplies()
  }

  /** Written behind everything that is in the lane by then */
  goAway (code: number): void {
    this.#goAwayCode = code
  }

  fill (batch: WriteBatch, maxFrames: number, nowMs: number): void {
    if (this.frameCount === 0) {
      return
    }

    this.#writeReplies(this.#pongs, batch, maxFrames, value => { batch.header(TYPE_PING, FLAG_ACK, SESSION_ID, value) })

    if (this.#pingValue != null && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#pingValue)
      this.#pingValue = undefined
      this.#init.onPingWritten(nowMs)
    }

    this.#writeReplies(this.#refusedIds, batch, maxFrames, id => { batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, id, 0) })
    this.#writeStreams(batch, maxFrames, nowMs)

    if (this.#goAwayCode != null && hasRoom(batch, maxFrames)) {
      batch.header(TYPE_GO_AWAY, 0, SESSION_ID, this.#goAwayCode)
      this.#goAwayCode = undefined
    }
  }

  #writeReplies (values: number[], batch: WriteBatch, maxFrames: number, write: (value: number) => void): void {
    let written = 0

    while (written < values.length && hasRoom(batch, maxFrames)) {
      write(values[written++])
    }

    values.splice(0, written)
  }

  #writeStreams (batch: WriteBatch, maxFrames: number, nowMs: number): void {
    const streams = this.#streams
    let deferred = 0
    let next = 0

    while (next < streams.length && hasRoom(batch, maxFrames)) {
      const stream = streams[next++]

      if (canRideOnData(stream)) {
        stream.hasDeferredControl = true
        streams[deferred++] = stream
      } else {
        stream.isInControlLane = false
        this.#writeStream(stream, batch, nowMs)
      }
    }

    streams.splice(deferred, next - deferred)
  }

  #writeStream (stream: StreamState<Owner>, batch: WriteBatch, nowMs: number): void {
    if ((stream.owes & OWES_RST) !== 0) {
      stream.owes = 0
      batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, stream.id, stream.errorCode)
      this.#init.onResetWritten(stream)
      return
    }

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
      this.#init.onNews(stream, NEWS_LOCAL_FIN)
    }
  }

  #checkReplies (): void {
    const replies = this.#pongs.length + this.#refusedIds.length

    if (replies > MAX_UNREAD_REPLIES) {
      throw new ProtocolError('ERR_TOO_MANY_UNREAD_REPLIES', `received frames that call for ${replies} replies the peer does not read, allowed ${MAX_UNREAD_REPLIES}`)
    }
  }
}

function hasRoom (batch: WriteBatch, maxFrames: number): boolean {
  return batch.roomBytes >= HEADER_BYTES && batch.frameCount < maxFrames
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
