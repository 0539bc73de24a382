/**
 * The full control of bytes in flight, with positions that move as a session moves them: the test writes, and marks.
 */
import { Positions } from '../../src/core/positions.ts'
import { HEADER_BYTES } from '../../src/core/wire/frame.ts'
import { BytesInFlight } from '../../src/path/bytes-in-flight.ts'
import { NodePaths } from '../../src/path/node-paths.ts'
import type { PathControl, PathInit } from '../../src/core/path-control.ts'

export const RECORD_BYTES = 65_519
const FRAME_BYTES = 16_384

/** Writes are one record at most */
export function pathInit (maxQueueDelayMs: number, recordBytes = RECORD_BYTES, nowMs = () => 0): PathInit {
  return { maxQueueDelayMs, maxPeerQueueDelayMs: Infinity, recordBytes, maxWriteBytes: recordBytes, frameBytes: FRAME_BYTES, maxFrameBytes: FRAME_BYTES, nowMs }
}

/** Tells of a write. Returns whether a mark should follow. */
export function tellWritten (control: PathControl, positions: Positions, byteLength: number, nowMs: number, isAppLimited: boolean, urgentBytes = 0, hasData = true): boolean {
  positions.writtenBytes += byteLength

  return control.onWritten(byteLength, urgentBytes, hasData, isAppLimited, nowMs)
}

/** Returns the value of the mark that was written, if one was */
export function writeMark (control: PathControl, positions: Positions, nowMs: number): number | undefined {
  const value = control.mark(nowMs)

  if (value !== undefined) {
    positions.markedBytes = positions.writtenBytes
    positions.writtenBytes += HEADER_BYTES
  }

  return value
}

export class DrivenPath extends BytesInFlight {
  readonly positions: Positions

  constructor (maxQueueDelayMs: number, recordBytes = RECORD_BYTES, nodePaths = new NodePaths()) {
    const positions = new Positions()
    super(pathInit(maxQueueDelayMs, recordBytes), positions, nodePaths)
    this.positions = positions
  }

  get writtenBytes (): number {
    return this.positions.writtenBytes
  }

  write (byteLength: number, nowMs: number, isAppLimited: boolean, urgentBytes?: number, hasData?: boolean): boolean {
    return tellWritten(this, this.positions, byteLength, nowMs, isAppLimited, urgentBytes, hasData)
  }

  writeMark (nowMs: number): number {
    return writeMark(this, this.positions, nowMs) as number
  }
}
