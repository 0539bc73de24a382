/**
 * What the next write holds: one small message if that is all there is, else a mark that is owed, control frames, data, and a mark behind it;
 * how large the write is, and each stream's share of it. Which frame comes first is in scheduler/. Hot: runs once per write.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { MIN_WRITE_BYTES } from './path/path-estimate.ts'
import { Batch } from './scheduler/batch.ts'
import { chooseExtraQueueBytes } from './scheduler/lanes.ts'
import { FLAG_SYN, HEADER_BYTES, SESSION_ID, TYPE_PING } from './wire/frame.ts'
import type { PathEstimate } from './path/path-estimate.ts'
import type { Session, SessionInit } from './session.ts'

/*
 * A stream's share of a round, and a write, are what the path carries in a time. So nobody waits longer for a turn than a millisecond for
 * each other stream, and on a fast path what is done once a frame or once a write is not done 15 times as often.
 */

/** 16 KiB take as long at 131 Mbit/s */
const SHARE_MS = 1
/**
 * Nobody waits behind a stream that is alone, and who comes meanwhile waits so long at most. A header cuts a record in two: two messages
 * of a WebSocket, and in a page Noise copies the record once more. With 4 ms six of ten records of a file to a page had one, now two.
 */
const LONE_SHARE_MS = 16
/** Of what may be under way: a write that does not fit into it any more goes beyond it */
const LONE_SHARE_PART = 1 / 2

/** `carriedBytes` is what the path carries while a stream has its turn: 0 until its rate was measured */
export function chooseShareBytes ({ frameBytes, maxFrameBytes }: Pick<SessionInit, 'frameBytes' | 'maxFrameBytes'>, carriedBytes: number): number {
  return Math.max(frameBytes, Math.min(maxFrameBytes, Math.floor(carriedBytes)))
}

/** Whole records, and no more than there is data for: what would fill another only in part can wait for more */
export function chooseWriteBytes ({ maxWriteBytes }: Pick<SessionInit, 'maxWriteBytes'>, recordBytes: number, queuedBytes: number, carriedBytes: number): number {
  const records = Math.floor(Math.min(maxWriteBytes, queuedBytes, carriedBytes) / recordBytes)

  return Math.max(1, records) * recordBytes
}

/** A write that takes along what would be left behind it may be so many times as long */
const REST_GAIN = 1.5

/**
 * On a slow path. A little that is left behind the last write that may go would wait for a pong by itself, as the end of an answer of 64 KiB:
 * it goes along if no more is under way then than a whole write may make it. Where a far path begins writes are short, so that the mark behind the
 * first is among what TCP sends at once.
 */
export function chooseSlowWriteBytes ({ bound, farStartBytes }: Pick<PathEstimate, 'bound' | 'farStartBytes'>, recordBytes: number, queuedBytes: number, underWayBytes: number): number {
  const { bytes, writeBytes } = bound
  const longestBytes = Math.min(recordBytes, Math.floor(REST_GAIN * writeBytes))
  // with a mark behind it
  const allBytes = queuedBytes + 2 * HEADER_BYTES

  if (farStartBytes > 0 && underWayBytes < writeBytes && allBytes > writeBytes) {
    return farStartBytes
  }

  return allBytes <= longestBytes && underWayBytes + allBytes <= bytes + writeBytes / 2 ? longestBytes : writeBytes
}

export class Sender<Owner> {
  readonly #sizes: SessionInit
  readonly #session: Session<Owner>
  /** No other session's: bytes of one connection must not reach another's peer, whatever goes wrong in between */
  readonly #batch = new Batch()

  constructor (init: SessionInit, session: Session<Owner>) {
    this.#sizes = init
    this.#session = session
  }

  /** See Session.pull */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { underWay, lanes, control } = this.#session
    // only a batch can leave free what is reserved
    const isQuiet = reservedBytes === 0 && !control.hasOutput && underWay.isQuietFor(HEADER_BYTES + lanes.queuedBytes)
    const frame = isQuiet ? lanes.takeLone(Math.min(maxBytes, MIN_WRITE_BYTES), nowMs) : undefined

    if (frame === undefined) {
      return this.#pullBatch(maxBytes, maxFrames, nowMs, reservedBytes)
    }

    underWay.handDown(frame.byteLength, nowMs, true)
    this.#session.dataEndBytes = underWay.handedDownBytes
    this.#session.framesWritten++

    return Uint8ArrayList.fromUint8Arrays([frame], frame.byteLength)
  }

  /** All that is due, in order */
  #pullBatch (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { underWay, lanes, streams, control } = this.#session
    const batch = this.#batch
    const { bound } = underWay.estimate
    // what fits into the smallest write is shared by nobody
    const writeBytes = lanes.queuedBytes > MIN_WRITE_BYTES ? this.#shareOut(maxBytes) : Math.min(maxBytes, bound.writeBytes)
    batch.begin(writeBytes, maxFrames)

    if (underWay.isMarkOwed) {
      this.#writeMark(nowMs)
    }

    const freeBytes = batch.roomBytes
    control.fill(batch, nowMs)
    const reservedForUrgentBytes = streams.urgentCount > 0 ? Math.floor(reservedBytes * Math.min(1, writeBytes / maxBytes)) : 0
    const reservedForMarkBytes = underWay.handedDownBytes + writeBytes >= underWay.leavesRoomFromBytes ? HEADER_BYTES : 0
    const { isSpent } = underWay.urgent
    let urgentDataBytes = 0

    // urgent data may take the room of the mark, which then goes with the next write
    if (!underWay.isHeld || !isSpent) {
      urgentDataBytes = lanes.fill(batch, Math.max(reservedForUrgentBytes, reservedForMarkBytes), nowMs, underWay.isHeld, isSpent)
    }

    if (batch.frameCount === 0) {
      return undefined
    }

    const isMarkDue = underWay.handDown(freeBytes - batch.roomBytes, nowMs, lanes.streamCount === 0, urgentDataBytes, batch.dataFrameCount > 0)

    if (batch.dataFrameCount > 0) {
      this.#session.dataEndBytes = underWay.handedDownBytes
    }

    if (isMarkDue) {
      this.#followWithMark(Math.max(0, maxBytes - writeBytes), nowMs)
    }

    this.#session.framesWritten += batch.frameCount

    return batch.finish()
  }

  /**
   * Returns what the next write may hold, and sets what each stream may send of it and what writers may queue. Where something urgent may come a
   * write is one record at most: the urgent waits for it.
   */
  #shareOut (recordBytes: number): number {
    const { underWay, lanes, streams } = this.#session
    const { bytesPerMs, bound } = underWay.estimate
    const { writeBytes } = bound
    lanes.extraQueueBytes = chooseExtraQueueBytes(bound.bytes === Infinity ? 0 : bytesPerMs, lanes.streamCount)

    if (writeBytes < recordBytes) {
      lanes.setShare(writeBytes)

      return chooseSlowWriteBytes(underWay.estimate, recordBytes, lanes.queuedBytes, underWay.byteLength)
    }

    const hasUrgent = streams.urgentCount > 0
    const isLone = lanes.streamCount === 1 && !hasUrgent
    const carriedBytes = isLone ? Math.min(LONE_SHARE_MS * bytesPerMs, LONE_SHARE_PART * bound.bytes) : SHARE_MS * bytesPerMs
    lanes.setShare(chooseShareBytes(this.#sizes, carriedBytes))

    return hasUrgent ? recordBytes : chooseWriteBytes(this.#sizes, recordBytes, lanes.queuedBytes, carriedBytes)
  }

  #writeMark (nowMs: number): void {
    this.#batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#session.underWay.mark(nowMs))
  }

  /**
   * Behind the data, or in front of the next write if there is no room. There are `spareBytes` more when the write is small for a slow
   * path. While no ping was answered it is an ordinary ping.
   */
  #followWithMark (spareBytes: number, nowMs: number): void {
    const batch = this.#batch
    const { underWay, roundTrip } = this.#session

    if (!underWay.canMark) {
      if (roundTrip.isStale(nowMs)) {
        this.#session.ping()
      }
    } else if (batch.frameCount < batch.maxFrames && batch.roomBytes + spareBytes >= HEADER_BYTES) {
      this.#writeMark(nowMs)
    } else {
      underWay.oweMark()
    }
  }
}
