/**
 * Streams, lanes and batches as the scheduler's tests need them.
 */
import { ReadBuffer } from '../../src/core/buffers/read-buffer.ts'
import { SendQueue } from '../../src/core/buffers/send-queue.ts'
import { ConnectionBudget, ReceiveWindow } from '../../src/core/window/receive-window.ts'
import { Batch } from '../../src/core/scheduler/batch.ts'
import { ControlLane } from '../../src/core/scheduler/control.ts'
import { DataLanes } from '../../src/core/scheduler/lanes.ts'
import { StreamState } from '../../src/core/stream-state.ts'
import { parseFrames, pattern } from '../protocol/frames.ts'
import type { WindowTuning } from '../../src/core/window/receive-window.ts'
import type { ControlHandler } from '../../src/core/scheduler/control.ts'
import type { DataHandler, FrameSizes } from '../../src/core/scheduler/lanes.ts'
import type { Frame } from '../protocol/frames.ts'

export const WINDOW_BYTES = 262_144
export const FRAME_BYTES = 16_384

export interface StreamInit {
  /** What its receive window begins with, once the peer was told */
  windowBytes?: number
  pending?: number
  /** One queued message of each size */
  queued?: number[]
  /** Messages of at most so much are kept whole; otherwise they are merged */
  maxWholeBytes?: number
  /** From when so much waits they share frames all the same; without this never, and they are never cut either */
  mergeFromBytes?: number
}

export function createStream (id: number, init: StreamInit = {}): StreamState {
  const window = new ReceiveWindow(init.windowBytes ?? WINDOW_BYTES, 16_777_216)
  const boundaries = { mergeFromBytes: init.maxWholeBytes === undefined ? 0 : init.mergeFromBytes ?? Infinity, maxWholeBytes: init.maxWholeBytes ?? 0 }
  const stream = new StreamState(id, true, window, new ReadBuffer(0), new SendQueue(boundaries), 0)
  stream.pending = init.pending ?? 0

  for (const size of init.queued ?? []) {
    stream.sendQueue.push(pattern(size, id))
  }

  return stream
}

/** With it no window grows: nobody has measured how far the peer is */
export const noTuning: WindowTuning = { roundTrip: { smoothedMs: undefined }, budget: new ConnectionBudget(0) }

type LanesInit = FrameSizes & ControlHandler<unknown> & DataHandler<unknown>

const LANES_INIT: LanesInit = {
  frameBytes: FRAME_BYTES,
  loneFrameBytes: FRAME_BYTES,
  windowTuning: noTuning,
  emit: () => {},
  onFinWritten: () => {},
  onFinDue: () => {},
  onBytesLost: () => {},
  onResetWritten: () => {},
  onPingWritten: () => {}
}

/** In tests that do not care all streams are in one */
export function createDataLanes (init: Partial<LanesInit> = {}): DataLanes<unknown> {
  const all = { ...LANES_INIT, ...init }

  return new DataLanes(all, all)
}

export function createControlLane (init: Partial<LanesInit> = {}): ControlLane<unknown> {
  return new ControlLane({ ...LANES_INIT, ...init })
}

export interface Scheduler {
  control: ControlLane<unknown>
  data: DataLanes<unknown>
  fill (batch: Batch, maxFrames: number, reservedBytes: number, nowMs: number): void
}

/** Both, filled as a session does */
export function createScheduler (init: Partial<LanesInit> = {}): Scheduler {
  const control = createControlLane(init)
  const data = createDataLanes(init)

  return {
    control,
    data,
    fill: (batch, maxFrames, reservedBytes, nowMs) => {
      control.fill(batch, maxFrames, nowMs)
      data.fill(batch, maxFrames, reservedBytes, nowMs)
    }
  }
}

/** Runs one batch and parses what was written, headers and payload */
export function fillBatch (fill: (batch: Batch) => void, maxBytes = 65_519): Frame[] {
  const batch = new Batch()
  batch.begin(maxBytes)
  fill(batch)

  return parseFrames(batch.finish().subarray())
}

/** A batch in short: who was sent how much */
export function shares (frames: Frame[]): Array<[id: number, bytes: number]> {
  return frames.map(({ id, length }) => [id, length])
}
