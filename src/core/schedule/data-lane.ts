/**
 * Which stream's bytes go out next among those of one lane: deficit round robin. Hot.
 *
 * Each stream in turn may send one quantum; what a full batch cuts off is sent first in the next one.
 * So every stream with data gets the same share of bytes, whatever the size of its messages, and
 * waits at most one quantum of each other stream (Shreedhar and Varghese, "Efficient Fair Queuing").
 */
import { FLAG_ACK, FLAG_FIN, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../frame/frame.ts'
import { NEWS_TAKEN } from '../stream-state.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { StreamState } from '../stream-state.ts'

/**
 * Nobody is sent a frame cut to less than this: its header and the receiver's work cost more than the
 * space. A share that the end of a batch cut shorter is carried over to the stream's next turn.
 */
const MIN_CUT_FRAME_BYTES = 1024

/** What bounds the next frames, the same for all streams */
export interface FrameLimits {
  /** Of the whole batch */
  maxFrames: number
  /** Left free in the batch */
  reservedBytes: number
  /** No other stream waits, in this lane or another */
  isAlone: boolean
  nowMs: number
}

export interface DataLaneInit<Owner> {
  /** The largest payload of a frame while streams contend, and the share of each in a round */
  frameBytes: number
  /** The largest payload of a frame that no other stream waits behind */
  loneFrameBytes: number
  /** A waiting writer may go on at or below this */
  lowWaterMarkBytes: number
  onNews (stream: StreamState<Owner>, news: number): void
  /** A frame of a stream whose `waitsSinceMs` is known was written */
  onWaited (lane: number, waitedMs: number): void
  /** The FIN is in a batch */
  onFinWritten (stream: StreamState<Owner>): void
  /** All data is written, but the batch has no room for the FIN */
  onFinDue (stream: StreamState<Owner>): void
  /** The stream has left the lane: nothing waits, or there is no credit for it */
  onBlocked (stream: StreamState<Owner>): void
  /** Bytes of the stream cannot be written: it is to be taken out of the lane */
  onBytesLost (stream: StreamState<Owner>, err: Error, nowMs: number): void
}

/** What `fillFrame` says when the batch has no room for a frame */
export const NO_ROOM = -1

export class DataLane<Owner> {
  /** The bytes of all streams in the lane */
  queuedBytes = 0
  streamCount = 0
  readonly #init: DataLaneInit<Owner>
  #first: StreamState<Owner> | undefined
  #last: StreamState<Owner> | undefined

  constructor (init: DataLaneInit<Owner>) {
    this.#init = init
  }

  /** The stream has (more) bytes: call after each push, with the count */
  enlist (stream: StreamState<Owner>, addedBytes: number): void {
    if (stream.isInDataLane) {
      this.queuedBytes += addedBytes
    } else if (stream.canSendData) {
      stream.isInDataLane = true
      stream.deficitBytes = 0
      this.streamCount++
      this.queuedBytes += stream.sendQueue.byteLength
      this.#append(stream)
    }
  }

  /** The stream's bytes are discarded, and nothing of it stays behind */
  discard (stream: StreamState<Owner>): void {
    this.remove(stream)
    stream.sendQueue.clear()
  }

  /** The stream goes to another lane, with all that is queued */
  remove (stream: StreamState<Owner>): void {
    if (stream.isInDataLane) {
      stream.isInDataLane = false
      this.streamCount--
      this.queuedBytes -= stream.sendQueue.byteLength
      this.#unlink(stream)
    }
  }

  /**
   * Writes the next frame of the stream whose turn it is; returns the length of its payload, 0 when the stream
   * had to be given up, or NO_ROOM. The lane must not be empty.
   */
  fillFrame (batch: WriteBatch, limits: FrameLimits): number {
    const stream = this.#first as StreamState<Owner>
    const payloadBytes = this.#choosePayloadBytes(stream, batch, limits)

    if (payloadBytes === NO_ROOM) {
      return NO_ROOM
    }

    const flags = stream.owes & (FLAG_SYN | FLAG_ACK)
    batch.header(TYPE_DATA, flags, stream.id, payloadBytes)

    try {
      stream.sendQueue.moveTo(batch, payloadBytes)
    } catch (err: any) {
      batch.dropFrame()
      this.#init.onBytesLost(stream, err, limits.nowMs)
      return 0
    }

    stream.owes &= ~flags
    this.#account(stream, payloadBytes, limits.nowMs)

    if (stream.sendQueue.byteLength === 0 && stream.isClosing) {
      this.#finish(stream, batch, limits)
    }

    this.#rotate()

    return payloadBytes
  }

  #choosePayloadBytes (stream: StreamState<Owner>, batch: WriteBatch, limits: FrameLimits): number {
    const roomBytes = batch.roomBytes - limits.reservedBytes - HEADER_BYTES
    const wholeBytes = stream.wholeFrameBytes
    const shareBytes = this.#shareBytes(stream, wholeBytes || MIN_CUT_FRAME_BYTES, limits.isAlone)

    if (wholeBytes > roomBytes && batch.dataFrameCount > 0) {
      return NO_ROOM
    }

    // there will be no larger batch than this one, which has only control frames
    if (wholeBytes > 0 && stream.isNeverCut) {
      return wholeBytes
    }

    const messageBytes = stream.isMerging ? stream.sendQueue.byteLength : stream.sendQueue.firstPieceBytes
    const payloadBytes = Math.min(messageBytes, stream.sendCredit.availableBytes, shareBytes)

    if (payloadBytes <= roomBytes) {
      return payloadBytes
    }

    // an empty batch takes what it can: there will be no larger one
    return roomBytes < MIN_CUT_FRAME_BYTES && (batch.frameCount > 0 || roomBytes <= 0) ? NO_ROOM : roomBytes
  }

  #account (stream: StreamState<Owner>, payloadBytes: number, nowMs: number): void {
    const queuedBytes = stream.sendQueue.byteLength
    stream.sendCredit.spend(payloadBytes)
    stream.deficitBytes = Math.max(0, stream.deficitBytes - payloadBytes)
    stream.lastActiveMs = nowMs
    stream.dataFramesSent++
    this.queuedBytes -= payloadBytes

    if (stream.waitsSinceMs !== undefined) {
      this.#init.onWaited(stream.lane, nowMs - stream.waitsSinceMs)
      stream.waitsSinceMs = queuedBytes > 0 ? nowMs : undefined
    }

    if (queuedBytes === 0) {
      stream.onQueueEmpty()
    }

    if (queuedBytes === 0 || (stream.awaitsDrain && queuedBytes <= this.#init.lowWaterMarkBytes)) {
      this.#init.onNews(stream, NEWS_TAKEN)
    }
  }

  /**
   * The FIN follows the last DATA frame as a frame of its own. It could ride on it, but @libp2p/yamux
   * takes the flags of a frame before its body, and a FIN before data makes it discard them.
   */
  #finish (stream: StreamState<Owner>, batch: WriteBatch, limits: FrameLimits): void {
    if (batch.roomBytes >= HEADER_BYTES && batch.frameCount < limits.maxFrames) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_FIN, stream.id, 0)
      this.#init.onFinWritten(stream)
    } else {
      this.#init.onFinDue(stream)
    }
  }

  /** After a frame of the first stream: it goes on, goes to the back, or leaves */
  #rotate (): void {
    const stream = this.#first as StreamState<Owner>

    if (!stream.canSendData) {
      this.remove(stream)
      this.#init.onBlocked(stream)
    } else if (stream.deficitBytes < (stream.wholeFrameBytes || MIN_CUT_FRAME_BYTES) && this.#last !== stream) {
      this.#unlink(stream)
      this.#append(stream)
    }
  }

  /** A share smaller than `leastBytes` is not worth a frame: it is kept for the stream's next turn */
  #shareBytes (stream: StreamState<Owner>, leastBytes: number, isAlone: boolean): number {
    if (isAlone) {
      return this.#init.loneFrameBytes
    }

    if (stream.deficitBytes < leastBytes) {
      stream.deficitBytes += this.#init.frameBytes
    }

    return Math.min(stream.deficitBytes, this.#init.frameBytes)
  }

  #append (stream: StreamState<Owner>): void {
    stream.previousInDataLane = this.#last

    if (this.#last === undefined) {
      this.#first = stream
    } else {
      this.#last.nextInDataLane = stream
    }

    this.#last = stream
  }

  #unlink (stream: StreamState<Owner>): void {
    const { previousInDataLane: previous, nextInDataLane: next } = stream
    stream.previousInDataLane = undefined
    stream.nextInDataLane = undefined

    if (previous === undefined) {
      this.#first = next
    } else {
      previous.nextInDataLane = next
    }

    if (next === undefined) {
      this.#last = previous
    } else {
      next.previousInDataLane = previous
    }
  }
}
