/**
 * What the next write holds: a mark that is owed, control frames, data, and a mark behind it. What of them comes first is in scheduler/.
 * Hot: runs once per write.
 */
import { MIN_WRITE_BYTES } from './path/bound.ts'
import { Batch } from './scheduler/batch.ts'
import { ControlLane } from './scheduler/control.ts'
import { DataLanes } from './scheduler/lanes.ts'
import { chooseShareBytes, chooseWriteBytes, LONE_SHARE_MS, SHARE_MS } from './scheduler/shares.ts'
import { chooseAheadBytes } from './scheduler/water-marks.ts'
import { EVENT_FAILED, PENDING_FIN } from './stream-state.ts'
import { FLAG_SYN, HEADER_BYTES, SESSION_ID, TYPE_PING } from './wire/frame.ts'
import type { Session, SessionInit } from './session.ts'
import type { ControlHandler } from './scheduler/control.ts'
import type { DataHandler } from './scheduler/lanes.ts'
import type { StreamState } from './stream-state.ts'
import type { WindowTuning } from './window/receive-window.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

export class Sender<Owner> implements DataHandler<Owner>, ControlHandler<Owner> {
  readonly control: ControlLane<Owner>
  readonly lanes: DataLanes<Owner>
  readonly windowTuning: WindowTuning
  framesWritten = 0
  /** How much had been handed down when the last data was in it */
  dataEndBytes = 0
  /** And in front of the last ping that is no mark */
  pingedBytes = 0
  readonly #sizes: SessionInit
  readonly #session: Session<Owner>
  /** No other session's: bytes of one connection must not reach another's peer, whatever goes wrong in between */
  readonly #batch = new Batch()

  constructor (init: SessionInit, session: Session<Owner>) {
    this.#sizes = init
    this.#session = session
    this.windowTuning = session.windowTuning
    this.control = new ControlLane(this)
    this.lanes = new DataLanes(init, this)
  }

  /** See Session.pull */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const batch = this.#batch
    const { underWay, streams } = this.#session
    // what fits into the smallest write is shared by nobody
    const writeBytes = this.lanes.queuedBytes > MIN_WRITE_BYTES ? this.#shareOut(maxBytes) : Math.min(maxBytes, underWay.estimate.writeBytes)
    batch.begin(writeBytes)

    if (underWay.isMarkOwed) {
      this.#writeMark(nowMs)
    }

    const freeBytes = batch.roomBytes
    this.control.fill(batch, maxFrames, nowMs)
    const urgentBytes = streams.urgentCount > 0 ? Math.floor(reservedBytes * Math.min(1, writeBytes / maxBytes)) : 0
    const markBytes = underWay.handedDownBytes + writeBytes >= underWay.leavesRoomFromBytes ? HEADER_BYTES : 0
    let urgentDataBytes = 0

    if (!underWay.isHeld || underWay.letsUrgentPass) {
      this.lanes.isUrgentSpent = !underWay.letsUrgentPass
      urgentDataBytes = this.lanes.fill(batch, maxFrames, Math.max(urgentBytes, markBytes), nowMs, underWay.isHeld)
    }

    if (batch.frameCount === 0) {
      return undefined
    }

    const isMarkDue = underWay.handDown(freeBytes - batch.roomBytes, nowMs, this.lanes.streamCount === 0, urgentDataBytes, batch.dataFrameCount > 0)

    if (batch.dataFrameCount > 0) {
      this.dataEndBytes = underWay.handedDownBytes
    }

    if (isMarkDue) {
      this.#followWithMark(maxBytes - writeBytes, maxFrames, nowMs)
    }

    this.framesWritten += batch.frameCount

    return batch.finish()
  }

  // What the lanes say

  emit (stream: StreamState<Owner>, event: number): void {
    this.#session.emit(stream, event)
  }

  onFinWritten (stream: StreamState<Owner>): void {
    this.#session.finsInBatch.push(stream)
  }

  onFinDue (stream: StreamState<Owner>): void {
    this.#session.schedule(stream, PENDING_FIN)
  }

  /** The stream cannot go on, and nothing else is wrong */
  onBytesLost (stream: StreamState<Owner>, err: Error, nowMs: number): void {
    this.#session.reset(stream, 0, nowMs)
    stream.failure = err
    this.#session.emit(stream, EVENT_FAILED)
  }

  onResetWritten (stream: StreamState<Owner>): void {
    this.#session.streams.release(stream)
  }

  onPingWritten (nowMs: number): void {
    this.#session.roundTrip.sent(nowMs)
    this.pingedBytes = this.#session.underWay.handedDownBytes
  }

  /** Returns what the next write may hold. Where something urgent may come that is one record at most: it waits for the write. */
  #shareOut (recordBytes: number): number {
    const { lanes } = this
    const { underWay, streams } = this.#session
    const { bytesPerMs, writeBytes, boundBytes } = underWay.estimate
    lanes.aheadBytes = chooseAheadBytes(boundBytes === Infinity ? 0 : bytesPerMs, lanes.streamCount)

    if (writeBytes < recordBytes) {
      lanes.shareBytes = writeBytes

      return writeBytes
    }

    const hasUrgent = streams.urgentCount > 0
    const shareMs = lanes.streamCount > 1 || hasUrgent ? SHARE_MS : LONE_SHARE_MS
    lanes.shareBytes = chooseShareBytes(this.#sizes, bytesPerMs, shareMs)

    return hasUrgent ? recordBytes : chooseWriteBytes(this.#sizes, recordBytes, lanes.queuedBytes, bytesPerMs, shareMs)
  }

  #writeMark (nowMs: number): void {
    this.#batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, this.#session.underWay.mark(nowMs))
  }

  /**
   * Behind the data, or in front of the next write if there is no room. There are `spareBytes` more when the write is small for a slow
   * path. While no ping was answered it is an ordinary ping.
   */
  #followWithMark (spareBytes: number, maxFrames: number, nowMs: number): void {
    const { underWay, roundTrip } = this.#session

    if (!underWay.canMark) {
      if (roundTrip.isStale(nowMs)) {
        this.#session.ping()
      }
    } else if (this.#batch.frameCount < maxFrames && this.#batch.roomBytes + spareBytes >= HEADER_BYTES) {
      this.#writeMark(nowMs)
    } else {
      underWay.isMarkOwed = true
    }
  }
}
