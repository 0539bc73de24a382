/**
 * Control frames, which leave before data: first those of the session, then those of streams, except a FIN behind data (lanes.ts). A stream has
 * at most one entry, and a frame that is superseded before it is written vanishes.
 *
 * Pongs and the RSTs of refused streams are limited. Otherwise they would pile up for a peer that sends and does not read (CVE-2024-32984,
 * CVE-2019-9512).
 */
import { ProtocolError } from '../errors.ts'
import { PENDING_FIN, PENDING_RST, PENDING_UPDATE } from '../stream-state.ts'
import { FLAG_ACK, FLAG_RST, FLAG_SYN, SESSION_ID, TYPE_GO_AWAY, TYPE_PING, TYPE_WINDOW_UPDATE } from '../wire/frame.ts'
import type { StreamState } from '../stream-state.ts'
import type { Batch } from './batch.ts'

/** The Rust crate h2 has the same limit for resets that a peer provokes. */
const MAX_UNREAD_REPLIES = 1024

export interface ControlHost<Owner> {
  readonly credit: { take (stream: StreamState<Owner>, nowMs: number): number }
  readonly streams: { freeSlot (stream: StreamState<Owner>): void }
  onPingWritten (nowMs: number): void
  onFinBatched (stream: StreamState<Owner>): void
}

export class ControlLane<Owner> {
  hasOutput = false
  /** After the GoAway no RST is written except to refuse a stream. Window updates are, for data that the peer still sends. */
  hasWrittenGoAway = false
  /** The replies have reached their limit, and may be written now. If that frees no room, the peer does not read. */
  onRepliesFull: (() => void) | undefined
  readonly #host: ControlHost<Owner>
  /** In the order in which their first frame became pending */
  readonly #streams = new Set<StreamState<Owner>>()
  /** Streams with more than an ACK pending. It may have been written since: #hasPressing removes such streams. */
  readonly #pressing = new Set<StreamState<Owner>>()
  readonly #pongs: number[] = []
  readonly #refusedIds: number[] = []
  #pingValue: number | undefined
  #goAwayCode: number | undefined
  /** One of these four is queued */
  #hasSessionFrames = false

  constructor (host: ControlHost<Owner>) {
    this.#host = host
  }

  /** Something is pending that cannot wait. Hot: runs once per send. */
  get cannotWait (): boolean {
    return this.#hasSessionFrames || (this.#pressing.size > 0 && this.#hasPressing())
  }

  /** The number of replies queued */
  get replyCount (): number {
    return this.#pongs.length + this.#refusedIds.length
  }

  /** Enters a stream that has something pending. If that `canWait`, as an ACK can, cannotWait ignores it. */
  enlist (stream: StreamState<Owner>, canWait = false): void {
    this.#streams.add(stream)
    this.hasOutput = true

    if (!canWait && (stream.pending & ~FLAG_ACK) !== 0) {
      this.#pressing.add(stream)
    }
  }

  /** Removes a stream that has nothing pending */
  remove (stream: StreamState<Owner>): void {
    this.#streams.delete(stream)
    this.#pressing.delete(stream)
    this.hasOutput = this.#hasSessionFrames || this.#streams.size > 0
  }

  pong (value: number): void {
    this.#reply(this.#pongs, value)
  }

  refuse (streamId: number): void {
    this.#reply(this.#refusedIds, streamId)
  }

  ping (value: number): void {
    this.#pingValue = value
    this.#noteSessionFrame()
  }

  /** Written once, behind all other control frames. Until then a later code replaces an earlier one. */
  goAway (code: number): void {
    if (!this.hasWrittenGoAway) {
      this.#goAwayCode = code
      this.#noteSessionFrame()
    }
  }

  fill (batch: Batch, nowMs: number): void {
    if (!this.hasOutput) {
      return
    }

    while (this.#pongs.length > 0 && batch.hasRoom) {
      batch.header(TYPE_PING, FLAG_ACK, SESSION_ID, this.#pongs.shift() as number)
    }

    while (this.#refusedIds.length > 0 && batch.hasRoom) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, this.#refusedIds.shift() as number, 0)
    }

    if (this.#pingValue !== undefined && batch.hasRoom) {
      batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#pingValue)
      this.#pingValue = undefined
      this.#host.onPingWritten(nowMs)
    }

    if (this.#streams.size > 0) {
      this.#writeStreams(batch, nowMs)
    }

    if (this.#goAwayCode !== undefined && batch.hasRoom) {
      batch.header(TYPE_GO_AWAY, 0, SESSION_ID, this.#goAwayCode)
      this.#goAwayCode = undefined
      this.hasWrittenGoAway = true
    }

    this.#hasSessionFrames &&= this.replyCount > 0 || this.#pingValue !== undefined || this.#goAwayCode !== undefined
    this.hasOutput = this.#hasSessionFrames || this.#streams.size > 0
  }

  #reply (values: number[], value: number): void {
    if (this.replyCount >= MAX_UNREAD_REPLIES) {
      this.onRepliesFull?.()

      if (this.replyCount >= MAX_UNREAD_REPLIES) {
        throw new ProtocolError('ERR_TOO_MANY_UNREAD_REPLIES', `received frames that need ${this.replyCount + 1} replies, which the peer does not read, allowed ${MAX_UNREAD_REPLIES}`)
      }
    }

    values.push(value)
    this.#noteSessionFrame()
  }

  #noteSessionFrame (): void {
    this.#hasSessionFrames = true
    this.hasOutput = true
  }

  /** A SYN may have left with data since: such streams are removed here, each once */
  #hasPressing (): boolean {
    for (const stream of this.#pressing) {
      if ((stream.pending & ~FLAG_ACK) !== 0) {
        return true
      }

      this.#pressing.delete(stream)
    }

    return false
  }

  #writeStreams (batch: Batch, nowMs: number): void {
    for (const stream of this.#streams) {
      if (!batch.hasRoom) {
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
    const { credit, streams } = this.#host
    const { receiveWindow } = stream
    const isOpening = (stream.pending & (FLAG_SYN | FLAG_ACK)) !== 0
    // one flag a frame: jvm-libp2p rejects two, and py-libp2p loses a FIN that comes with an ACK
    const pending = isOpening ? stream.pending & ~PENDING_FIN : stream.pending
    stream.pending &= ~pending

    if ((pending & PENDING_RST) !== 0) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_RST, stream.id, stream.errorCode)
      streams.freeSlot(stream)
      return
    }

    // a raised window is advertised with the SYN or ACK, so that the peer knows it before its first bytes
    const saysWindow = ((pending & PENDING_UPDATE) !== 0 || receiveWindow.isRaised) && stream.mayGrant
    stream.hasDelayedUpdate ||= (pending & PENDING_UPDATE) !== 0 && !saysWindow
    const deltaBytes = saysWindow ? credit.take(stream, nowMs) : 0
    const flags = pending & (FLAG_SYN | FLAG_ACK | PENDING_FIN)

    if (flags === 0 && deltaBytes === 0) {
      return
    }

    batch.header(TYPE_WINDOW_UPDATE, flags, stream.id, deltaBytes)

    if ((flags & PENDING_FIN) !== 0) {
      this.#host.onFinBatched(stream)
    } else if (stream.pending !== 0) {
      this.enlist(stream)
    }
  }
}

/**
 * SYN and ACK need no frame of their own if the stream is about to send its first DATA frame. They are deferred for one write at most.
 * Behind many busy streams the DATA frame may come late, and the peer relies on the ACK.
 */
function canRideOnData (stream: StreamState): boolean {
  return !stream.hasDeferredControl && stream.pending !== 0 && (stream.pending & (PENDING_RST | PENDING_UPDATE)) === 0 &&
    stream.canSendData && !stream.receiveWindow.isRaised
}
