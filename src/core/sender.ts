/**
 * Builds the next write: a lone small message, or a batch with a mark that is due, control frames, data and a mark behind them, in this order.
 * Also sets the size of the write and each stream's quantum; scheduler/ orders the frames. Hot: runs once per write.
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
  /** One for each session: even after an error, bytes of one connection must not reach the peer of another */
  readonly #batch = new Batch()

  constructor (host: SenderHost<Owner>) {
    this.#host = host
  }

  /**
   * Returns the next write, or undefined if there is none. It has at most `maxFrames` frames, and at most `maxBytes`, which is one
   * record, unless the path is fast or a message must not be cut. While there are urgent streams, other data
   * leaves `reservedBytes` free. If this throws, or the transport does not take the write, the session cannot be used any more.
   */
  pull (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { path, lanes, control, positions } = this.#host
    // only a batch can leave the reserved bytes free
    const isQuiet = reservedBytes === 0 && !control.hasOutput && !path.isMarkDue && !path.isHeld && path.needsNoMark(HEADER_BYTES + lanes.queuedBytes)
    const { hasUrgent } = lanes
    const frame = isQuiet ? lanes.takeLone(Math.min(maxBytes, MIN_WRITE_BYTES), nowMs) : undefined

    if (frame === undefined) {
      return this.#pullBatch(maxBytes, maxFrames, nowMs, reservedBytes)
    }

    positions.writtenBytes += frame.byteLength
    positions.dataEndBytes = positions.writtenBytes
    path.onWritten(frame.byteLength, hasUrgent ? frame.byteLength - HEADER_BYTES : 0, true, true, nowMs)
    this.framesWritten++

    return Uint8ArrayList.fromUint8Arrays([frame], frame.byteLength)
  }

  /** Everything that may be written now, in order */
  #pullBatch (maxBytes: number, maxFrames: number, nowMs: number, reservedBytes: number): Uint8ArrayList | undefined {
    const { path, lanes, streams, control, positions } = this.#host
    const batch = this.#batch
    // what fits into the smallest write needs no plan
    const writeBytes = lanes.queuedBytes > MIN_WRITE_BYTES ? this.#planWrite(maxBytes) : Math.min(maxBytes, path.fullWriteBytes)
    batch.begin(writeBytes, maxFrames)

    if (path.isMarkDue && !this.#writeMark(nowMs)) {
      this.#pingInstead(nowMs)
    }

    const freeBytes = batch.roomBytes
    control.fill(batch, nowMs)
    const reservedForUrgentBytes = streams.urgentCount > 0 ? Math.floor(reservedBytes * Math.min(1, writeBytes / maxBytes)) : 0
    const reservedForMarkBytes = positions.writtenBytes + writeBytes >= path.leavesRoomFromBytes ? HEADER_BYTES : 0
    const { isHeld, isUrgentSpent } = path
    let urgentDataBytes = 0

    // urgent data may take the room of the mark, which then leads the next write
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

    if (path.onWritten(writtenBytes, urgentDataBytes, hasData, lanes.streamCount === 0, nowMs)) {
      this.#followWithMark(Math.max(0, maxBytes - writeBytes), nowMs)
    }

    this.framesWritten += batch.frameCount

    return batch.finish()
  }

  /** Returns the size of the next write, and sets the quantum of each stream and how much writers may queue */
  #planWrite (recordBytes: number): number {
    const { path, lanes, streams } = this.#host
    const { writeBytes, quantumBytes, extraQueueBytes } = path.planWrite(recordBytes, lanes.queuedBytes, lanes.streamCount, streams.urgentCount > 0)
    lanes.extraQueueBytes = extraQueueBytes
    lanes.setQuantum(quantumBytes)

    return writeBytes
  }

  /** Returns false if an ordinary ping must be written instead */
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
   * Writes a mark behind the data, or requests it for the next write if there is no room. A write that is small because the path is slow has
   * `spareBytes` of room beyond its size.
   */
  #followWithMark (spareBytes: number, nowMs: number): void {
    const batch = this.#batch
    const { path } = this.#host
    const hasRoom = batch.frameCount < batch.maxFrames && batch.roomBytes + spareBytes >= HEADER_BYTES
    const isMarked = hasRoom ? this.#writeMark(nowMs) : path.requestMark()

    if (!isMarked) {
      this.#pingInstead(nowMs)
    }
  }

  #pingInstead (nowMs: number): void {
    if (this.#host.roundTrip.isStale(nowMs)) {
      this.#host.ping()
    }
  }
}
