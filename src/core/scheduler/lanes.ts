/**
 * Which stream's bytes go out next. Hot.
 *
 * Lanes: urgent before normal before bulk, and none starves. Within a lane, deficit round robin: in each round every stream may send one
 * quantum, and what a full batch cuts off goes first in the next one. So all streams with data send equally many bytes, whatever the size of
 * their messages, and each waits for at most one quantum of every other stream (Shreedhar and Varghese, "Efficient Fair Queuing"). A stream
 * that has sent little in a round does not wait for the others: it goes ahead, as new flows do with FQ-CoDel (RFC 8290, 4.2). So a small
 * message waits for one write, and not for the megabytes of all bulk streams.
 *
 * An example with a quantum of 16 KiB, and two files and a chat in one lane: each file sends a frame of 16 KiB in a round (`quantum`). If the
 * end of a batch cuts that frame to 10 KiB, 6 KiB are left for the next batch (`deficit`). The chat has sent 300 bytes in this round
 * (`round`), less than a quantum, so its next message goes before both files (`ahead`). If it is in a lane in front, it always does, and the
 * bytes that go before the files are counted (`overtaken`): after 128 KiB one of the files sends a frame.
 *
 * Invariant: queuedBytes and streamCount are the sums over the streams in the lanes, allQueuedBytes over all streams.
 */
import { allocUnsafe } from 'uint8arrays/alloc'
import { EVENT_DRAINED, EVENT_STALLED, PENDING_FIN } from '../stream-state.ts'
import { encodeHeader, FLAG_ACK, FLAG_FIN, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../wire/frame.ts'
import { BULK, LANES, NORMAL, Ring, URGENT } from './lane.ts'
import type { SessionInit } from '../session-init.ts'
import type { StreamState } from '../stream-state.ts'
import type { Batch } from './batch.ts'

/**
 * What the lanes in front may send while a lane waits; then it sends up to a quantum. With eight quanta a lane that is always passed keeps a
 * ninth of the connection, and bulk still moves every second at 1 Mbit/s.
 */
export const MAX_OVERTAKEN_BYTES = 131_072
const MAX_OVERTAKEN_BURSTS = 8

/**
 * No frame is cut to less than this: its header and the receiver's work cost more than the space. If the end of a batch leaves less, the
 * stream keeps its quantum for the next batch.
 */
const MIN_CUT_FRAME_BYTES = 1024

/*
 * How much a stream may have queued when its writer is told to wait, and to go on. While the writer fetches more, the path works on what is
 * queued here: a kernel that takes megabytes gave writers that time, and holds next to nothing where data waits above it.
 */

/** `send()` returns false from here on, four Noise records: with 64 KiB a writer stops so often that the number of records doubles */
export const HIGH_WATERMARK_BYTES = 262_144
/** 'drain' comes at or below this part of it, so that the writer is back before the queue is empty */
export const LOW_WATERMARK_PART = 1 / 2

/** All streams together: from here on each may queue less, so that a thousand writers whose peer gives no credit do not queue 256 MB */
export const CROWDED_FROM_BYTES = 4_194_304
/** What `send()` takes then, in addition to the stream's quantum */
export const CROWDED_WATERMARK_BYTES = 65_536

export interface LanesHost<Owner> {
  emit (stream: StreamState<Owner>, event: number): void
  schedule (stream: StreamState<Owner>, what: number): void
  fail (stream: StreamState<Owner>, err: Error, nowMs: number): void
  onFinWritten (stream: StreamState<Owner>): void
}

type FrameSizes = Pick<SessionInit, 'frameBytes' | 'loneFrameBytes'>

export class DataLanes<Owner> {
  /** What streams in the lanes have queued */
  queuedBytes = 0
  /** What all streams have queued, with credit or without */
  allQueuedBytes = 0
  /** Streams with data to send and credit for it */
  streamCount = 0
  /** One of them is in the urgent lane */
  hasUrgent = false
  /** How much more than the water marks writers may have queued, where data is held back */
  extraQueueBytes = 0
  /** A frame of a stream whose `waitsSinceMs` is known was written. For who measures that. */
  onWaited: ((lane: number, waitedMs: number) => void) | undefined
  readonly #rings = LANES.map(() => new Ring())
  readonly #sizes: FrameSizes
  readonly #host: LanesHost<Owner>
  /** What each stream may send in a round */
  #quantumBytes = 0
  /** What it may send at once: its quantum, or a frame if that is more */
  #burstBytes = 0
  /** What goes ahead of a lane that waits */
  #maxOvertakenBytes = 0

  constructor (sizes: FrameSizes, host: LanesHost<Owner>) {
    this.#sizes = sizes
    this.#host = host
    this.setQuantum(sizes.frameBytes)
  }

  /** Small on a slow path, as writes are, and large on a fast one */
  setQuantum (quantumBytes: number): void {
    this.#quantumBytes = quantumBytes
    this.#burstBytes = Math.max(this.#sizes.frameBytes, quantumBytes)
    this.#maxOvertakenBytes = Math.max(MAX_OVERTAKEN_BYTES, MAX_OVERTAKEN_BURSTS * this.#burstBytes)
  }

  /** Its writer is to wait */
  isFull ({ sendQueue, creditBytes }: StreamState<Owner>): boolean {
    return sendQueue.byteLength >= this.#highWatermarkBytes(creditBytes) + Math.min(this.extraQueueBytes, creditBytes)
  }

  /** A writer that waits need not wait longer */
  mayGoOn ({ sendQueue, creditBytes }: StreamState<Owner>): boolean {
    return sendQueue.byteLength <= this.#highWatermarkBytes(creditBytes) * LOW_WATERMARK_PART + Math.min(this.extraQueueBytes, creditBytes)
  }

  #highWatermarkBytes (creditBytes: number): number {
    return this.allQueuedBytes < CROWDED_FROM_BYTES ? HIGH_WATERMARK_BYTES : Math.min(HIGH_WATERMARK_BYTES, CROWDED_WATERMARK_BYTES + Math.min(creditBytes, this.#quantumBytes))
  }

  /** The stream has queued so many bytes more. Hot: runs once per send. */
  onQueued (stream: StreamState<Owner>, addedBytes: number): void {
    this.allQueuedBytes += addedBytes

    if (stream.isInDataLane) {
      this.queuedBytes += addedBytes
    } else {
      this.enlist(stream)
    }
  }

  /** Puts the stream into its lane, if it has bytes to send, and credit for them */
  enlist (stream: StreamState<Owner>): void {
    if (!stream.isInDataLane && stream.canSendData) {
      const ring = this.#rings[stream.lane]
      this.hasUrgent ||= stream.lane === URGENT
      stream.isInDataLane = true
      ring.streamCount++
      // the stream still owes what it owed, less what each of the others has had meanwhile: else a writer that waits until nothing is queued would never pay
      stream.deficitBytes = Math.min(0, Math.floor(stream.deficitBytes + (ring.sentBytes - stream.leftAtBytes) / ring.streamCount))
      this.streamCount++
      this.queuedBytes += stream.sendQueue.byteLength
      // a stream that is alone counts as ahead if it has little: so do those with little that come next, in their order
      ring.insert(stream, ring.streamCount === 1 ? stream.sendQueue.byteLength <= this.#sizes.frameBytes : this.#mayGoAhead(ring, stream))
    }
  }

  /** With what it sends now it has sent less than a quantum in this round, so the others lose nothing. If many streams go ahead, half of the bytes still follow the round. */
  #mayGoAhead (ring: Ring, stream: StreamState<Owner>): boolean {
    const quantumBytes = Math.min(this.#sizes.frameBytes, this.#quantumBytes)
    const roundBytes = ring.streamCount * this.#quantumBytes
    const rounds = Math.floor((ring.sentBytes - stream.roundFromBytes) / roundBytes)

    if (rounds > 0) {
      stream.roundFromBytes = ring.sentBytes
      stream.roundBytes = Math.max(0, stream.roundBytes - rounds * quantumBytes)
    }

    return ring.aheadBytes < quantumBytes && stream.roundBytes + stream.sendQueue.byteLength <= quantumBytes
  }

  /** The stream sends no more for now */
  remove (stream: StreamState<Owner>): void {
    if (stream.isInDataLane) {
      const ring = this.#rings[stream.lane]
      stream.isInDataLane = false
      this.streamCount--
      this.queuedBytes -= stream.sendQueue.byteLength
      stream.leftAtBytes = ring.sentBytes
      ring.remove(stream)

      if (--ring.streamCount === 0) {
        ring.overtakenBytes = 0
        ring.aheadBytes = 0
        this.hasUrgent &&= stream.lane !== URGENT
      }
    }
  }

  /** The stream's bytes are discarded, and nothing of it stays behind */
  discard (stream: StreamState<Owner>): void {
    this.remove(stream)
    this.allQueuedBytes -= stream.sendQueue.byteLength
    stream.sendQueue.clear()
  }

  /** What is queued goes along, to the end of the other lane */
  move (stream: StreamState<Owner>, lane: number): void {
    this.remove(stream)
    stream.lane = lane
    stream.roundFromBytes = -Infinity
    stream.leftAtBytes = -Infinity
    this.enlist(stream)
  }

  /**
   * Fills the batch. Data that is not urgent leaves `reservedBytes` of it free. When it is held back, it sends a frame only if its lane was
   * passed for too long. Once urgent data has had what passes at once (`isUrgentSpent`), it takes turns with other data, frame by frame.
   * Returns how much of the batch is urgent data.
   */
  fill (batch: Batch, reservedBytes: number, nowMs: number, isHeld: boolean, isUrgentSpent: boolean): number {
    const maxOvertakenBytes = isUrgentSpent ? this.#burstBytes : this.#maxOvertakenBytes
    let hasRoomForOthers = true
    let urgentBytes = 0

    while (this.streamCount > 0 && batch.frameCount < batch.maxFrames) {
      hasRoomForOthers &&= batch.roomBytes > reservedBytes
      const lane = this.#next(hasRoomForOthers, isHeld, maxOvertakenBytes)

      if (lane === undefined) {
        break
      }

      const ring = this.#rings[lane]
      const stream = ring.next as StreamState<Owner>

      if (this.streamCount > 1 && !this.#grantQuantum(stream, ring)) {
        continue
      }

      const payloadBytes = this.#choosePayloadBytes(stream, batch, batch.roomBytes - HEADER_BYTES - (lane === URGENT ? 0 : reservedBytes))

      if (payloadBytes === 0) {
        if (lane === URGENT) {
          break
        }

        hasRoomForOthers = false
      } else if (this.#writeFrame(stream, ring, batch, payloadBytes, nowMs)) {
        if (ring.overtakenBytes > 0) {
          // by bytes, not by frames: small messages of a lane behind would pile up while megabytes pass
          ring.overtakenBytes = Math.max(0, ring.overtakenBytes - payloadBytes * maxOvertakenBytes / this.#burstBytes)
        }

        urgentBytes += lane === URGENT ? payloadBytes : 0
        this.#rotate(stream, ring, batch)

        if (ring.streamCount < this.streamCount) {
          this.#overtake(lane, payloadBytes)
        }
      }
    }

    return urgentBytes
  }

  /**
   * The frame of the only message that waits, `maxBytes` at most, if it may go in one piece and nothing is to be said of its stream behind
   * it. There must be no control frame, which might be a flag of this one. Most writes are that; without a batch a lone request runs an
   * eighth less code. One in the bulk lane takes the other way. Hot: runs once per such write.
   */
  takeLone (maxBytes: number, nowMs: number): Uint8Array | undefined {
    const ring = this.#rings[this.hasUrgent ? URGENT : NORMAL]
    const payloadBytes = this.queuedBytes

    if (this.streamCount !== 1 || ring.streamCount !== 1 || HEADER_BYTES + payloadBytes > maxBytes || payloadBytes > this.#sizes.frameBytes) {
      return undefined
    }

    const stream = ring.next as StreamState<Owner>
    const isFollowed = stream.life.writeStatus !== 'writable' || stream.awaitsDrain || stream.awaitsIdle
    const payload = isFollowed || stream.creditBytes < payloadBytes ? undefined : stream.sendQueue.takeFirst(payloadBytes)

    if (payload === undefined) {
      return undefined
    }

    const frame = allocUnsafe(HEADER_BYTES + payloadBytes)
    frame.set(payload, encodeHeader(frame, 0, TYPE_DATA, 0, stream.id, payloadBytes))
    this.queuedBytes = 0
    this.#account(stream, ring, payloadBytes, nowMs)
    stream.sendQueue.onEmpty()
    this.remove(stream)

    return frame
  }

  /** A lane that was passed for too long, else the first with data */
  #next (hasRoomForOthers: boolean, isHeld: boolean, maxOvertakenBytes: number): number | undefined {
    // the usual case: there is no other lane
    if (this.#rings[NORMAL].streamCount === this.streamCount && hasRoomForOthers && !isHeld) {
      return NORMAL
    }

    const last = hasRoomForOthers ? BULK : URGENT
    let first: number | undefined

    for (let lane = this.hasUrgent ? URGENT : NORMAL; lane <= last; lane++) {
      const ring = this.#rings[lane]

      if (ring.streamCount > 0) {
        if (ring.overtakenBytes >= maxOvertakenBytes) {
          return lane
        }

        if (lane === URGENT || !isHeld) {
          first ??= lane
        }
      }
    }

    return first
  }

  /** So much has gone ahead of the lanes behind */
  #overtake (lane: number, sentBytes: number): void {
    for (let behind = lane + 1; behind <= BULK; behind++) {
      if (this.#rings[behind].streamCount > 0) {
        this.#rings[behind].overtakenBytes += sentBytes
      }
    }
  }

  /** Returns false if bytes of the stream are gone: nothing is written, and the stream is given up */
  #writeFrame (stream: StreamState<Owner>, ring: Ring, batch: Batch, payloadBytes: number, nowMs: number): boolean {
    const { sendQueue } = stream
    const flags = stream.pending & (FLAG_SYN | FLAG_ACK)
    batch.header(TYPE_DATA, flags, stream.id, payloadBytes)

    try {
      sendQueue.moveTo(batch, payloadBytes)
    } catch (err: any) {
      batch.dropFrame()
      this.#host.fail(stream, err, nowMs)
      return false
    }

    this.queuedBytes -= payloadBytes
    stream.pending &= ~flags
    // who is alone takes from nobody
    stream.deficitBytes = ring.streamCount > 1 ? stream.deficitBytes - payloadBytes : 0
    this.#account(stream, ring, payloadBytes, nowMs)

    return true
  }

  /** A frame goes out, with so much of the stream */
  #account (stream: StreamState<Owner>, ring: Ring, payloadBytes: number, nowMs: number): void {
    this.allQueuedBytes -= payloadBytes
    ring.sentBytes += payloadBytes

    // who is alone goes ahead of nobody
    if (ring.streamCount > 1) {
      ring.aheadBytes = Math.max(0, ring.aheadBytes + (stream.isAhead ? payloadBytes : -payloadBytes))
    }

    stream.roundBytes += payloadBytes
    stream.creditBytes -= payloadBytes
    stream.lastActiveMs = nowMs
    stream.dataFramesSent++

    if (stream.waitsSinceMs !== undefined) {
      this.onWaited?.(stream.lane, nowMs - stream.waitsSinceMs)
      stream.waitsSinceMs = stream.sendQueue.byteLength > 0 ? nowMs : undefined
    }
  }

  /** What the stream's next frame holds; 0 if the batch has no room for it */
  #choosePayloadBytes (stream: StreamState<Owner>, batch: Batch, roomBytes: number): number {
    const wholeBytes = stream.sendQueue.wholeFrameBytes

    // the usual case: the quantum is enough for a message
    if (wholeBytes > 0 && wholeBytes <= roomBytes && wholeBytes <= stream.creditBytes) {
      return wholeBytes
    }

    if (wholeBytes > roomBytes && batch.dataFrameCount > 0) {
      return 0
    }

    // a batch without other data is as large as any, or small for a slow path: the message may exceed it
    if (wholeBytes > 0 && (stream.sendQueue.isNeverCut || this.#quantumBytes < wholeBytes + HEADER_BYTES)) {
      return Math.min(wholeBytes, stream.creditBytes)
    }

    const payloadBytes = this.#chooseCutBytes(stream, wholeBytes)

    if (payloadBytes <= roomBytes) {
      return payloadBytes
    }

    // an empty batch takes what it can: there will be no larger one
    return roomBytes < MIN_CUT_FRAME_BYTES && (batch.frameCount > 0 || roomBytes <= 0) ? 0 : roomBytes
  }

  /** The same for a message that need not stay whole, as far as credit and the quantum go */
  #chooseCutBytes ({ sendQueue, creditBytes, deficitBytes }: StreamState<Owner>, wholeBytes: number): number {
    const { loneFrameBytes } = this.#sizes
    const messageBytes = sendQueue.isMerging ? sendQueue.byteLength : wholeBytes || sendQueue.firstPieceBytes
    const quantumBytes = this.streamCount === 1 ? Math.max(loneFrameBytes, this.#quantumBytes) : Math.min(deficitBytes, this.#burstBytes)
    // a peer may give more credit only behind the frame, as this muxer does
    const usedCreditBytes = Math.max(Math.min(creditBytes, loneFrameBytes), Math.floor(creditBytes / 2))

    return Math.min(messageBytes, usedCreditBytes, quantumBytes)
  }

  /** With less left of its quantum a stream sends no frame: what is left is added to its next quantum */
  #leastBytes ({ sendQueue }: StreamState<Owner>): number {
    return Math.min(this.#quantumBytes, sendQueue.wholeFrameBytes || MIN_CUT_FRAME_BYTES)
  }

  /** Gives the first stream its quantum of a new round. Returns false if it is still in debt for a long message: then it goes to the back. */
  #grantQuantum (stream: StreamState<Owner>, ring: Ring): boolean {
    const leastBytes = this.#leastBytes(stream)
    stream.deficitBytes += stream.deficitBytes < leastBytes ? this.#quantumBytes : 0
    const mayGo = stream.deficitBytes >= leastBytes

    if (!mayGo) {
      ring.moveToBack(stream)
    }

    return mayGo
  }

  /** After a frame of the first stream: it goes on, goes to the back, or leaves */
  #rotate (stream: StreamState<Owner>, ring: Ring, batch: Batch): void {
    if (stream.sendQueue.byteLength === 0) {
      stream.sendQueue.onEmpty()
      this.remove(stream)

      if (stream.life.writeStatus === 'closing') {
        this.#finish(stream, batch)
      }
    } else if (!stream.canSendData) {
      this.remove(stream)

      if (stream.isStalled) {
        this.#host.emit(stream, EVENT_STALLED)
      }
    } else if (stream.deficitBytes < this.#leastBytes(stream)) {
      ring.moveToBack(stream)
    }

    if (stream.awaitsDrain ? this.mayGoOn(stream) : stream.awaitsIdle && stream.sendQueue.byteLength === 0) {
      this.#host.emit(stream, EVENT_DRAINED)
    }
  }

  /**
   * The FIN follows the last DATA frame as a frame of its own. It could ride on it, but @libp2p/yamux
   * takes the flags of a frame before its body, and a FIN before data makes it discard them.
   */
  #finish (stream: StreamState<Owner>, batch: Batch): void {
    if (batch.hasRoom) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_FIN, stream.id, 0)
      this.#host.onFinWritten(stream)
    } else {
      this.#host.schedule(stream, PENDING_FIN)
    }
  }
}
