/**
 * Whose lane it is: urgent before normal before bulk, and none waits for ever. Hot.
 */
import { DataLane, NO_ROOM } from './data-lane.ts'
import { BULK, LANES, NORMAL, URGENT } from './lane.ts'
import type { WriteBatch } from '../flush/write-batch.ts'
import type { StreamState } from '../stream-state.ts'
import type { DataLaneInit } from './data-lane.ts'

/**
 * What the lanes in front may send while a lane waits; then it sends a frame. Eight turns of a stream: a
 * lane that is always passed keeps a ninth of the connection, and 1 Mbit/s still lets bulk move every second.
 */
export const MAX_PASSED_BYTES = 131_072

export class DataLanes<Owner> {
  readonly #lanes: Array<DataLane<Owner>>
  /** What was sent in front of each lane since it began to wait */
  readonly #passedBytes = LANES.map(() => 0)
  /** One object for all frames */
  readonly #limits = { maxFrames: 0, reservedBytes: 0, isAlone: false, nowMs: 0 }

  constructor (init: DataLaneInit<Owner>) {
    this.#lanes = LANES.map(() => new DataLane(init))
  }

  /** The bytes of all streams in the lanes */
  get queuedBytes (): number {
    const lanes = this.#lanes

    return lanes[URGENT].queuedBytes + lanes[NORMAL].queuedBytes + lanes[BULK].queuedBytes
  }

  /** Streams with data to send and credit for it */
  get streamCount (): number {
    const lanes = this.#lanes

    return lanes[URGENT].streamCount + lanes[NORMAL].streamCount + lanes[BULK].streamCount
  }

  get hasUrgent (): boolean {
    return this.#lanes[URGENT].streamCount > 0
  }

  /** The stream has (more) bytes: call after each push, with the count */
  enlist (stream: StreamState<Owner>, addedBytes: number): void {
    this.#lanes[stream.lane].enlist(stream, addedBytes)
  }

  /** The stream's bytes are discarded, and nothing of it stays behind */
  discard (stream: StreamState<Owner>): void {
    this.#lanes[stream.lane].discard(stream)
  }

  /** What is queued goes along, behind what waits in the other lane */
  move (stream: StreamState<Owner>, lane: number): void {
    this.#lanes[stream.lane].remove(stream)
    stream.lane = lane
    this.#lanes[lane].enlist(stream, 0)
  }

  /**
   * Fills the batch; stops at its end, or after `maxFrames`. Data that is not urgent leaves
   * `reservedBytes` of it free.
   */
  fill (batch: WriteBatch, maxFrames: number, reservedBytes: number, nowMs: number): void {
    const limits = this.#limits
    limits.maxFrames = maxFrames
    limits.nowMs = nowMs

    const lane = this.#soleLane()

    if (lane === undefined) {
      this.#fillByTurns(batch, reservedBytes)
    } else {
      this.#fillFrom(lane, batch, reservedBytes)
    }
  }

  /** The usual case, without a choice for each frame */
  #fillFrom (lane: number, batch: WriteBatch, reservedBytes: number): void {
    const source = this.#lanes[lane]
    const limits = this.#limits
    limits.reservedBytes = lane === URGENT ? 0 : reservedBytes
    this.#passedBytes.fill(0)

    while (source.streamCount > 0 && batch.frameCount < limits.maxFrames) {
      limits.isAlone = source.streamCount === 1

      if (source.fillFrame(batch, limits) === NO_ROOM) {
        return
      }
    }
  }

  #fillByTurns (batch: WriteBatch, reservedBytes: number): void {
    const limits = this.#limits
    let hasRoomForAll = true

    while (batch.frameCount < limits.maxFrames) {
      hasRoomForAll &&= batch.roomBytes > reservedBytes
      const lane = this.#next(hasRoomForAll)

      if (lane === undefined) {
        return
      }

      limits.isAlone = this.streamCount === 1
      limits.reservedBytes = lane === URGENT ? 0 : reservedBytes
      const sentBytes = this.#lanes[lane].fillFrame(batch, limits)

      if (sentBytes !== NO_ROOM) {
        this.#count(lane, sentBytes)
      } else if (lane === URGENT) {
        return
      } else {
        hasRoomForAll = false
      }
    }
  }

  /** The lane that has all the streams; undefined when there are several, or none at all */
  #soleLane (): number | undefined {
    const { streamCount } = this
    const lane = this.#lanes.findIndex(lane => lane.streamCount === streamCount)

    return streamCount === 0 || lane === -1 ? undefined : lane
  }

  /** A lane that was passed for too long, else the first with data */
  #next (hasRoomForAll: boolean): number | undefined {
    const lanes = this.#lanes
    const last = hasRoomForAll ? LANES.length - 1 : URGENT
    let first: number | undefined

    for (let lane = URGENT; lane <= last; lane++) {
      if (lanes[lane].streamCount > 0) {
        if (this.#passedBytes[lane] >= MAX_PASSED_BYTES) {
          return lane
        }

        first ??= lane
      }
    }

    return first
  }

  #count (lane: number, sentBytes: number): void {
    const passedBytes = this.#passedBytes
    passedBytes[lane] = 0

    for (let behind = lane + 1; behind < LANES.length; behind++) {
      passedBytes[behind] = this.#lanes[behind].streamCount > 0 ? passedBytes[behind] + sentBytes : 0
    }
  }
}
