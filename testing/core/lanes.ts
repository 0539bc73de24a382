/**
 * Streams, lanes and batches as the scheduler's tests need them.
 */
import { NO_PEER_CONTROL } from '../../src/core/peer-control.ts'
import { Credit } from '../../src/core/window/credit.ts'
import { RoundTrip } from '../../src/core/window/round-trip.ts'
import { Batch } from '../../src/core/scheduler/batch.ts'
import { ControlLane } from '../../src/core/scheduler/control.ts'
import { DataLanes } from '../../src/core/scheduler/lanes.ts'
import { StreamState } from '../../src/core/stream-state.ts'
import { parseFrames, pattern } from '../protocol/frames.ts'
import { createBudget } from './budgets.ts'
import type { ControlHost } from '../../src/core/scheduler/control.ts'
import type { LanesHost } from '../../src/core/scheduler/lanes.ts'
import type { CreditHost } from '../../src/core/window/credit.ts'
import type { SessionInit } from '../../src/core/session-init.ts'
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
  const stream = new StreamState(id, true, {
    initialWindowBytes: init.windowBytes ?? WINDOW_BYTES,
    maxWindowBytes: 16_777_216,
    mergeFromBytes: init.maxWholeBytes === undefined ? 0 : init.mergeFromBytes ?? Infinity,
    frameBytes: init.maxWholeBytes ?? 0
  }, 0)
  stream.pending = init.pending ?? 0

  for (const size of init.queued ?? []) {
    stream.sendQueue.push(pattern(size, id))
  }

  return stream
}

/** What lanes tell their session */
interface Told {
  emit (stream: StreamState, event: number): void
  onFinBatched (stream: StreamState): void
  /** The batch had no room for the FIN */
  onFinDue (stream: StreamState): void
  onResetWritten (stream: StreamState): void
  onPingWritten (nowMs: number): void
}

type LanesInit = Partial<Pick<SessionInit, 'frameBytes' | 'loneFrameBytes'> & Told>

type LanesSession = LanesHost<unknown> & ControlHost<unknown> & CreditHost<unknown>

/** All of a session that lanes know. No window grows, as nobody has measured how far the peer is, and no update waits for a long frame. */
function sessionOf ({ emit = () => {}, onFinBatched = () => {}, onFinDue = () => {}, onResetWritten = () => {}, onPingWritten = () => {} }: LanesInit): LanesSession {
  const host = {
    receivedMs: 0,
    isGoingAway: false,
    remoteGoAwayCode: undefined,
    roundTrip: new RoundTrip(),
    streams: { freeSlot: onResetWritten, budget: createBudget(0), values: () => [] },
    path: { peer: NO_PEER_CONTROL, isHeld: false },
    emit,
    schedule: onFinDue,
    onPingWritten,
    onFinBatched,
    ping: () => {},
    failStream: (_: unknown, err: Error) => { throw err },
    receiver: { delaysUpdate: () => false }
  }

  return { ...host, credit: new Credit(host) }
}

/** In tests that do not care all streams are in one */
export function createDataLanes (init: LanesInit = {}): DataLanes<unknown> {
  return new DataLanes({ frameBytes: FRAME_BYTES, loneFrameBytes: FRAME_BYTES, ...init }, sessionOf(init))
}

export function createControlLane (init: LanesInit = {}): ControlLane<unknown> {
  return new ControlLane(sessionOf(init))
}

export interface Scheduler {
  control: ControlLane<unknown>
  data: DataLanes<unknown>
  fill (batch: Batch, reservedBytes: number, nowMs: number): void
}

/** Both, filled as a session does */
export function createScheduler (init: LanesInit = {}): Scheduler {
  const control = createControlLane(init)
  const data = createDataLanes(init)

  return {
    control,
    data,
    fill: (batch, reservedBytes, nowMs) => {
      control.fill(batch, nowMs)
      data.fill(batch, reservedBytes, nowMs, false, false)
    }
  }
}

/** Runs one batch and parses what was written, headers and payload */
export function fillBatch (fill: (batch: Batch) => void, maxBytes = 65_519, maxFrames = Infinity): Frame[] {
  const batch = new Batch()
  batch.begin(maxBytes, maxFrames)
  fill(batch)

  return parseFrames(batch.finish().subarray())
}

/** A batch in short: who was sent how much */
export function shares (frames: Frame[]): Array<[id: number, bytes: number]> {
  return frames.map(({ id, length }) => [id, length])
}
