/**
 * The frames that one end of a link was handed, as their headers tell: those in flight, and those of the last writes. Runs once
 * for each frame of either muxer.
 */
import { Decoder } from '../../src/core/wire/decoder.ts'
import { HEADER_BYTES, TYPE_DATA } from '../../src/core/wire/frame.ts'
import type { Cells, Totals, Writes } from '../report.ts'
import type { OneWay } from './one-way.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

const FIRST_CAPACITY = 65_536
const MAX_CELLS = 1500
const KEPT_WRITES = 24
/** Of one write, for the page: who wants to see more needs a larger screen */
const MAX_FRAMES_OF_WRITE = 600

interface Write {
  firstFrame: number
  endFrame: number
}

export class FrameLog {
  readonly totals: Totals = { writes: 0, frames: 0, bytes: 0 }
  readonly #urgentId: number
  readonly #decoder = new Decoder({
    onHeader: (type, _flags, streamId, length) => {
      const isData = type === TYPE_DATA && length > 0
      this.#push(isData ? streamId : 0, HEADER_BYTES + (isData ? length : 0))

      return false
    },
    onBody () {},
    onBodyEnd () {}
  })

  /** Rings: frame n is at n modulo their length. A frame's end is counted from the first byte of all. */
  #streamIds = new Uint32Array(FIRST_CAPACITY)
  #ends = new Float64Array(FIRST_CAPACITY)
  #endOfLast = 0
  /** The first that has not arrived, as far as it is known */
  #firstInFlight = 0
  #writes: Write[] = []

  constructor (urgentId: number) {
    this.#urgentId = urgentId
  }

  onWrite (bytes: Uint8Array | Uint8ArrayList): void {
    const firstFrame = this.totals.frames
    this.totals.writes++
    this.totals.bytes += bytes.byteLength

    for (const part of bytes instanceof Uint8Array ? [bytes] : bytes) {
      this.#decoder.push(part)
    }

    this.#writes.push({ firstFrame, endFrame: this.totals.frames })

    if (this.#writes.length === 2 * KEPT_WRITES) {
      this.#writes.splice(0, KEPT_WRITES)
    }
  }

  /** What the other end has read may be forgotten */
  onRead (readBytes: number): void {
    while (this.#firstInFlight < this.totals.frames && this.#ends[this.#at(this.#firstInFlight)] <= readBytes) {
      this.#firstInFlight++
    }
  }

  lastWrites (): Writes {
    const writes = this.#writes.slice(-KEPT_WRITES).map(({ firstFrame, endFrame }) => ({ firstFrame, endFrame: Math.min(endFrame, firstFrame + MAX_FRAMES_OF_WRITE) }))
    const frames = writes.flatMap(({ firstFrame, endFrame }) => Array.from({ length: endFrame - firstFrame }, (_, i) => firstFrame + i))

    return {
      frameCounts: Uint32Array.from(writes, ({ firstFrame, endFrame }) => endFrame - firstFrame),
      frameBytes: Uint32Array.from(frames, frame => this.#bytesOf(frame)),
      streamIds: Uint32Array.from(frames, frame => this.#streamIds[this.#at(frame)])
    }
  }

  /** Neighbours share a cell until it has a fair part of all bytes; what is urgent has one of its own */
  cells (way: OneWay, nowMs: number, readBytesPerMs: number): Cells {
    const cellBytes = (this.#endOfLast - way.readBytes) / MAX_CELLS
    const starts: number[] = []
    const ends: number[] = []
    const streamIds: number[] = []

    for (let frame = this.#firstInFlight; frame < this.totals.frames; frame++) {
      const streamId = this.#streamIds[this.#at(frame)]
      const last = ends.length - 1
      const isShared = last >= 0 && streamId !== this.#urgentId && streamIds[last] !== this.#urgentId && ends[last] - starts[last] < cellBytes

      if (isShared) {
        ends[last] = this.#ends[this.#at(frame)]
        streamIds[last] ||= streamId
      } else {
        starts.push(ends[last] ?? way.readBytes)
        ends.push(this.#ends[this.#at(frame)])
        streamIds.push(streamId)
      }
    }

    return {
      fromMs: way.arrivalsMs(Float64Array.from(starts), nowMs, readBytesPerMs),
      toMs: way.arrivalsMs(Float64Array.from(ends), nowMs, readBytesPerMs),
      streamIds: Uint32Array.from(streamIds)
    }
  }

  #push (streamId: number, byteLength: number): void {
    if (this.totals.frames - this.#firstInFlight === this.#ends.length) {
      this.#grow()
    }

    const at = this.#at(this.totals.frames++)
    this.#endOfLast += byteLength
    this.#streamIds[at] = streamId
    this.#ends[at] = this.#endOfLast
  }

  #grow (): void {
    const capacity = this.#ends.length
    const streamIds = new Uint32Array(2 * capacity)
    const ends = new Float64Array(2 * capacity)

    for (let frame = this.#firstInFlight; frame < this.totals.frames; frame++) {
      streamIds[frame % ends.length] = this.#streamIds[frame % capacity]
      ends[frame % ends.length] = this.#ends[frame % capacity]
    }

    this.#streamIds = streamIds
    this.#ends = ends
  }

  #at (frame: number): number {
    return frame % this.#ends.length
  }

  #bytesOf (frame: number): number {
    return this.#ends[this.#at(frame)] - (frame === 0 ? 0 : this.#ends[this.#at(frame - 1)])
  }
}
