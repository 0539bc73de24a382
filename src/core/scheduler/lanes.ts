/**
 * Chooses the stream that sends next. Hot.
 *
 * Lanes: urgent before normal before bulk, and none starves. Within a lane, deficit round robin (DRR): in each round every stream may send
 * one quantum. If the end of a batch cuts a frame, its rest is first in the next batch. So all streams with data send equally many bytes, for
 * messages of any size. Each waits for at most one quantum of every other stream (Shreedhar and Varghese, "Efficient Fair Queuing").
 *
 * A stream that has sent little in a round goes ahead of it, as new flows do in FQ-CoDel (RFC 8290, 4.2). So a small message waits for one
 * write, and not for the megabytes of all bulk streams.
 *
 * Example: two files and a chat in one lane, with a quantum of 16 KiB. Each file sends a frame of 16 KiB in a round (`quantum`). If the end of
 * a batch cuts a frame to 10 KiB, 6 KiB are left for the next batch (`deficit`). The chat has sent only 300 bytes in this round (`round`), so
 * its next message goes before both files (`ahead`). From a lane before theirs it always does. The bytes that go before the files are counted
 * (`overtaken`): after 128 KiB one file sends a frame.
 *
 * Invariant: queuedBytes and streamCount are the sums over the streams in the lanes, allQueuedBytes over all streams.
 */
import { allocUnsafe } from 'uint8arrays/alloc'
import { EVENT_DRAINED, EVENT_STALLED, PENDING_FIN } from '../stream-state.ts'
import { encodeHeader, FLAG_ACK, FLAG_FIN, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../wire/frame.ts'
import { choosePayloadBytes, leastPayloadBytes } from './frame-length.ts'
import { BULK, LANES, NORMAL, Ring, URGENT } from './lane.ts'
import { highWatermarkBytes, LOW_WATERMARK_PART } from './watermarks.ts'
import type { SessionInit } from '../session-init.ts'
import type { StreamState } from '../stream-state.ts'
import type { Batch } from './batch.ts'
import type { FrameSizes } from './frame-length.ts'

/**
 * How much the lanes before a waiting lane may send; then the waiting lane sends up to a quantum. With eight quanta, a lane that is always
 * overtaken keeps a ninth of the connection, and bulk moves every second at 1 Mbit/s.
 */
export const MAX_OVERTAKEN_BYTES = 131_072
const MAX_OVERTAKEN_BURSTS = 8

export interface LanesHost<Owner> {
  emit (stream: StreamState<Owner>, event: number): void
  schedule (stream: StreamState<Owner>, pending: number): void
  failStream (stream: StreamState<Owner>, err: Error, nowMs: number): void
  onFinBatched (stream: StreamState<Owner>): void
}

export class DataLanes<Owner> {
  /** Queued in streams that are in the lanes */
  queuedBytes = 0
  /** Queued in all streams, with credit or without */
  allQueuedBytes = 0
  /** Streams in the lanes: those with data and credit for it */
  streamCount = 0
  /** A stream is in the urgent lane */
  hasUrgent = false
  /** How much each writer may queue above the watermarks, as far as it has credit; set by the path control */
  extraQueueBytes = 0
  /** For metrics: a frame was written of a stream with `waitsSinceMs` */
  onWaited: ((lane: number, waitedMs: number) => void) | undefined
  readonly #rings = LANES.map(() => new Ring())
  readonly #sizes: FrameSizes
  readonly #host: LanesHost<Owner>
  /** How much may overtake a waiting lane */
  #maxOvertakenBytes = 0

  constructor ({ frameBytes, loneFrameBytes }: Pick<SessionInit, 'frameBytes' | 'loneFrameBytes'>, host: LanesHost<Owner>) {
    this.#sizes = { frameBytes, loneFrameBytes, quantumBytes: 0, burstBytes: 0 }
    this.#host = host
    this.setQuantum(frameBytes)
  }

  /** Small on a slow path, as writes are, and large on a fast one */
  setQuantum (quantumBytes: number): void {
    const burstBytes = Math.max(this.#sizes.frameBytes, quantumBytes)
    this.#sizes.quantumBytes = quantumBytes
    this.#sizes.burstBytes = burstBytes
    this.#maxOvertakenBytes = Math.max(MAX_OVERTAKEN_BYTES, MAX_OVERTAKEN_BURSTS * burstBytes)
  }

  /** The writer must wait */
  isFull ({ sendQueue, creditBytes }: StreamState<Owner>): boolean {
    return sendQueue.byteLength >= highWatermarkBytes(this.allQueuedBytes, creditBytes, this.#sizes.quantumBytes) + Math.min(this.extraQueueBytes, creditBytes)
  }

  /** A waiting writer may go on */
  mayResume ({ sendQueue, creditBytes }: StreamState<Owner>): boolean {
    return sendQueue.byteLength <= highWatermarkBytes(this.allQueuedBytes, creditBytes, this.#sizes.quantumBytes) * LOW_WATERMARK_PART + Math.min(this.extraQueueBytes, creditBytes)
  }

  /** The stream has queued more bytes. Hot: runs once per send. */
  onQueued (stream: StreamState<Owner>, addedBytes: number): void {
    this.allQueuedBytes += addedBytes

    if (stream.isInDataLane) {
      this.queuedBytes += addedBytes
    } else {
      this.enlist(stream)
    }
  }

  /** Puts the stream into its lane if it has data, and credit for it */
  enlist (stream: StreamState<Owner>): void {
    if (!stream.isInDataLane && stream.canSendData) {
      const ring = this.#rings[stream.lane]
      this.hasUrgent ||= stream.lane === URGENT
      stream.isInDataLane = true
      ring.streamCount++
      // it keeps its debt, minus what each other stream has sent meanwhile; otherwise a stream with a short queue would never repay it
      stream.deficitBytes = Math.min(0, Math.floor(stream.deficitBytes + (ring.sentBytes - stream.leftAtBytes) / ring.streamCount))
      this.streamCount++
      this.queuedBytes += stream.sendQueue.byteLength
      // a lone stream with little data goes ahead, so that small ones arriving later queue up behind it
      ring.insert(stream, ring.streamCount === 1 ? stream.sendQueue.byteLength <= this.#sizes.frameBytes : this.#mayGoAhead(ring, stream))
    }
  }

  /**
   * With its queued data the stream will have sent at most a quantum in this round, so the others lose nothing. If many streams go ahead, half
   * of the bytes still follow the round.
   */
  #mayGoAhead (ring: Ring, stream: StreamState<Owner>): boolean {
    const quantumBytes = Math.min(this.#sizes.frameBytes, this.#sizes.quantumBytes)
    const roundBytes = ring.streamCount * this.#sizes.quantumBytes
    const rounds = Math.floor((ring.sentBytes - stream.roundFromBytes) / roundBytes)

    if (rounds > 0) {
      stream.roundFromBytes = ring.sentBytes
      stream.roundBytes = Math.max(0, stream.roundBytes - rounds * quantumBytes)
    }

    return ring.aheadBytes < quantumBytes && stream.roundBytes + stream.sendQueue.byteLength <= quantumBytes
  }

  /** Takes the stream out of its lane */
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

  /** Takes the stream out of its lane, and discards its queue */
  discard (stream: StreamState<Owner>): void {
    this.remove(stream)
    this.allQueuedBytes -= stream.sendQueue.byteLength
    stream.sendQueue.clear()
  }

  /** Moves the stream with its queue to another lane */
  move (stream: StreamState<Owner>, lane: number): void {
    this.remove(stream)
    stream.lane = lane
    stream.roundFromBytes = -Infinity
    stream.leftAtBytes = -Infinity
    this.enlist(stream)
  }

  /**
   * Fills the batch, and returns how much of that is urgent data. Other data leaves `reservedBytes` free. While data
   * `isHeld`, a lane sends a frame only when too much has overtaken it. If `isUrgentSpent`, a burst is too much, so urgent and other data take turns.
   * Not called while both are true: then no data is sent.
   */
  fill (batch: Batch, reservedBytes: number, nowMs: number, isHeld: boolean, isUrgentSpent: boolean): number {
    const maxOvertakenBytes = isUrgentSpent ? this.#sizes.burstBytes : this.#maxOvertakenBytes
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

      const payloadBytes = choosePayloadBytes(stream, this.streamCount === 1, this.#sizes, batch, batch.roomBytes - HEADER_BYTES - (lane === URGENT ? 0 : reservedBytes))

      if (payloadBytes === 0) {
        if (lane === URGENT) {
          break
        }

        hasRoomForOthers = false
      } else if (this.#writeFrame(stream, ring, batch, payloadBytes, nowMs)) {
        if (ring.overtakenBytes > 0) {
          // a whole burst sets it to 0, and a smaller frame takes off its part. Otherwise small messages would pile up behind megabytes
          ring.overtakenBytes = Math.max(0, ring.overtakenBytes - payloadBytes * maxOvertakenBytes / this.#sizes.burstBytes)
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
   * Returns a lone message as a frame of at most `maxBytes`. The message is all that is queued, it may be one frame, and nothing has to follow
   * it on its stream. No control frame may be queued, as its flags might belong on this frame. Most writes are such a frame, and need less
   * code without a batch. Not for the bulk lane. Hot: runs once per such write.
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

  /** The first lane that was overtaken by too much, otherwise the first with data */
  #next (hasRoomForOthers: boolean, isHeld: boolean, maxOvertakenBytes: number): number | undefined {
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

  /** Counts bytes of a lane as overtaking the lanes behind it */
  #overtake (lane: number, sentBytes: number): void {
    for (let behind = lane + 1; behind <= BULK; behind++) {
      if (this.#rings[behind].streamCount > 0) {
        this.#rings[behind].overtakenBytes += sentBytes
      }
    }
  }

  /** Returns false if the program took bytes of the stream away: no frame is written, and the stream fails */
  #writeFrame (stream: StreamState<Owner>, ring: Ring, batch: Batch, payloadBytes: number, nowMs: number): boolean {
    const { sendQueue } = stream
    const flags = stream.pending & (FLAG_SYN | FLAG_ACK)
    batch.header(TYPE_DATA, flags, stream.id, payloadBytes)

    try {
      sendQueue.moveTo(batch, payloadBytes)
    } catch (err: any) {
      batch.dropFrame()
      this.#host.failStream(stream, err, nowMs)
      return false
    }

    this.queuedBytes -= payloadBytes
    stream.pending &= ~flags
    // a lone stream takes nothing from others
    stream.deficitBytes = ring.streamCount > 1 ? stream.deficitBytes - payloadBytes : 0
    this.#account(stream, ring, payloadBytes, nowMs)

    return true
  }

  /** Accounts for a frame of the stream */
  #account (stream: StreamState<Owner>, ring: Ring, payloadBytes: number, nowMs: number): void {
    this.allQueuedBytes -= payloadBytes
    ring.sentBytes += payloadBytes

    // a lone stream is ahead of no other
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

  /**
   * Gives the first stream the quantum of a new round if it has used up the last. Returns false if a long message has left it in debt: it goes
   * to the back.
   */
  #grantQuantum (stream: StreamState<Owner>, ring: Ring): boolean {
    const leastBytes = leastPayloadBytes(stream, this.#sizes)
    stream.deficitBytes += stream.deficitBytes < leastBytes ? this.#sizes.quantumBytes : 0
    const mayGo = stream.deficitBytes >= leastBytes

    if (!mayGo) {
      ring.moveToBack(stream)
    }

    return mayGo
  }

  /** After a frame of the first stream: it stays, goes to the back, or leaves the lane */
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
    } else if (stream.deficitBytes < leastPayloadBytes(stream, this.#sizes)) {
      ring.moveToBack(stream)
    }

    if (stream.awaitsDrain ? this.mayResume(stream) : stream.awaitsIdle && stream.sendQueue.byteLength === 0) {
      this.#host.emit(stream, EVENT_DRAINED)
    }
  }

  /**
   * Writes the FIN behind the last DATA frame, in a frame of its own. @libp2p/yamux handles flags before the body, and discards data after
   * a FIN.
   */
  #finish (stream: StreamState<Owner>, batch: Batch): void {
    if (batch.hasRoom) {
      batch.header(TYPE_WINDOW_UPDATE, FLAG_FIN, stream.id, 0)
      this.#host.onFinBatched(stream)
    } else {
      this.#host.schedule(stream, PENDING_FIN)
    }
  }
}
