/**
 * What the next write holds: one small message if that is all there is, else a mark that is owed, control frames, data, and a mark behind it;
 * how large the write is, and each stream's share of it. Which frame comes first is in scheduler/. Hot: runs once per write.
 */
import { Uint8ArrayList } from 'uint8arraylist'
import { MIN_WRITE_BYTES } from './path-control.ts'
import { Batch } from './scheduler/batch.ts'
import { FLAG_SYN, HEADER_BYTES, SESSION_ID, TYPE_PING } from './wire/frame.ts'
import type { PathControl } from './path-control.ts'
import type { Positions } from './positions.ts'
import type { ControlLane } from './scheduler/control.ts'
import type { DataLanes } from './scheduler/lanes.ts'
import type { RoundTrip } from './window/round-trip.ts'

export interface SenderHost<Owner> {
  readonly positions: Positions
  readonly path: PathControl
  readonly control: ControlLane<Owner>
  readonly lanes: DataLanes<Owner>
  readonly streams: { readonly urgentCount: number }
  readonly roundTrip: RoundTrip
  ping (): void
}

export class Sender<Owner> {
  framesWritten = 0
  readonly #host: SenderHost<Owner>
  /** No other session's: bytes of one connection must not reach another's peer, whatever goes wrong in between */
  readonly #batch = new Batch()

  constructor (host: SenderHost<Owner>) {
    this.#host = host
  }

  /** See Session.pull */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { path, lanes, control, positions } = this.#host
    // only a batch can leave free what is reserved
    const isQuiet = reservedBytes === 0 && !control.hasOutput && path.isQuietFor(HEADER_BYTES + lanes.queuedBytes)
    const frame = isQuiet ? lanes.takeLone(Math.min(maxBytes, MIN_WRITE_BYTES), nowMs) : undefined

    if (frame === undefined) {
      return this.#pullBatch(maxBytes, maxFrames, nowMs, reservedBytes)
    }

    positions.writtenBytes += frame.byteLength
    positions.dataEndBytes = positions.writtenBytes
    path.onWritten(frame.byteLength, nowMs, true, 0, true)
    this.framesWritten++

    return Uint8ArrayList.fromUint8Arrays([frame], frame.byteLength)
  }

  /** All that is due, in order */
  #pullBatch (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { path, lanes, streams, control, positions } = this.#host
    const batch = this.#batch
    // what fits into the smallest write is shared by nobody
    const writeBytes = lanes.queuedBytes > MIN_WRITE_BYTES ? this.#planWrite(maxBytes) : Math.min(maxBytes, path.bound.writeBytes)
    batch.begin(writeBytes, maxFrames)

    if (path.isMarkOwed) {
      this.#writeMark(nowMs)
    }

    const freeBytes = batch.roomBytes
    control.fill(batch, nowMs)
    const reservedForUrgentBytes = streams.urgentCount > 0 ? Math.floor(reservedBytes * Math.min(1, writeBytes / maxBytes)) : 0
    const reservedForMarkBytes = positions.writtenBytes + writeBytes >= path.leavesRoomFromBytes ? HEADER_BYTES : 0
    const { isHeld, isUrgentSpent } = path
    let urgentDataBytes = 0

    // urgent data may take the room of the mark, which then goes with the next write
    if (!isHeld || !isUrgentSpent) {
      urgentDataBytes = lanes.fill(batch, Math.max(reservedForUrgentBytes, reservedForMarkBytes), nowMs, isHeld, isUrgentSpent)
    }

    if (batch.frameCount === 0) {
      return undefined
    }

    const writtenBytes = freeBytes - batch.roomBytes
    const hasData = batch.dataFrameCount > 0
    positions.writtenBytes += writtenBytes

    if (hasData) {
      positions.dataEndBytes = positions.writtenBytes
    }

    if (path.onWritten(writtenBytes, nowMs, lanes.streamCount === 0, urgentDataBytes, hasData)) {
      this.#followWithMark(Math.max(0, maxBytes - writeBytes), nowMs)
    }

    this.framesWritten += batch.frameCount

    return batch.finish()
  }

  /** Returns what the next write may hold, and sets what each stream may send of it and what writers may queue */
  #planWrite (recordBytes: number): number {
    const { path, lanes, streams } = this.#host
    const { writeBytes, quantumBytes, extraQueueBytes } = path.planWrite(recordBytes, lanes.queuedBytes, lanes.streamCount, streams.urgentCount > 0)
    lanes.extraQueueBytes = extraQueueBytes
    lanes.setQuantum(quantumBytes)

    return writeBytes
  }

  /** Returns false if an ordinary ping is due instead */
  #writeMark (nowMs: number): boolean {
    const { path, positions } = this.#host
    const value = path.mark(nowMs)

    if (value !== undefined) {
      this.#batch.header(TYPE_PING, FLAG_SYN, SESSION_ID, value)
      positions.markedBytes = positions.writtenBytes
      positions.writtenBytes += HEADER_BYTES
    }

    return value !== undefined
  }

  /**
   * Behind the data, or in front of the next write if there is no room. There are `spareBytes` more when the write is small for a slow
   * path.
   */
  #followWithMark (spareBytes: number, nowMs: number): void {
    const batch = this.#batch
    const { path, roundTrip } = this.#host
    const hasRoom = batch.frameCount < batch.maxFrames && batch.roomBytes + spareBytes >= HEADER_BYTES
    const isMarked = hasRoom ? this.#writeMark(nowMs) : path.oweMark()

    if (!isMarked && roundTrip.isStale(nowMs)) {
      this.#host.ping()
    }
  }
}
