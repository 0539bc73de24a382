/** How long a write is, and each stream's share of it, by what the path carries */
import { HEADER_BYTES } from '../core/wire/frame.ts'
import type { PathInit } from '../core/path-control.ts'
import type { PathEstimate } from './path-estimate.ts'

/*
 * A stream's share of a round, and a write, are what the path carries in a time. So nobody waits longer for a turn than a millisecond for
 * each other stream, and on a fast path what is done once a frame or once a write is not done 15 times as often.
 */

/** 16 KiB take as long at 131 Mbit/s */
export const QUANTUM_MS = 1
/**
 * Nobody waits behind a stream that is alone, and who comes meanwhile waits so long at most. A header cuts a record in two: two messages
 * of a WebSocket, and in a page Noise copies the record once more. With 4 ms six of ten records of a file to a page had one, now two.
 */
export const LONE_QUANTUM_MS = 16
/** Of what may be in flight: a write that does not fit into it any more goes beyond it */
export const LONE_QUANTUM_PART = 1 / 2

/** `carriedBytes` is what the path carries while a stream has its turn: 0 until its rate was measured */
export function chooseQuantumBytes ({ frameBytes, maxFrameBytes }: Pick<PathInit, 'frameBytes' | 'maxFrameBytes'>, carriedBytes: number): number {
  return Math.max(frameBytes, Math.min(maxFrameBytes, Math.floor(carriedBytes)))
}

/** Whole records, and no more than there is data for: what would fill another only in part can wait for more */
export function chooseWriteBytes ({ maxWriteBytes }: Pick<PathInit, 'maxWriteBytes'>, recordBytes: number, queuedBytes: number, carriedBytes: number): number {
  const records = Math.floor(Math.min(maxWriteBytes, queuedBytes, carriedBytes) / recordBytes)

  return Math.max(1, records) * recordBytes
}

/** A write that takes along what would be left behind it may be so many times as long */
const REST_GAIN = 1.5

/**
 * On a slow path. A little that is left behind the last write that may go would wait for a pong by itself, as the end of an answer of 64 KiB:
 * it goes along if no more is in flight then than a whole write may make it. Where a far path begins writes are short, so that the mark behind the
 * first is among what TCP sends at once.
 */
export function chooseSlowWriteBytes ({ bound, farStartBytes }: Pick<PathEstimate, 'bound' | 'farStartBytes'>, recordBytes: number, queuedBytes: number, inFlightBytes: number): number {
  const { bytes, writeBytes } = bound
  const longestBytes = Math.min(recordBytes, Math.floor(REST_GAIN * writeBytes))
  // with a mark behind it
  const allBytes = queuedBytes + 2 * HEADER_BYTES

  if (farStartBytes > 0 && inFlightBytes < writeBytes && allBytes > writeBytes) {
    return farStartBytes
  }

  return allBytes <= longestBytes && inFlightBytes + allBytes <= bytes + writeBytes / 2 ? longestBytes : writeBytes
}

/** What a disk or another peer takes for the next megabyte */
const EXTRA_QUEUE_MS = 250
/** For all writers of a connection together. Behind a slow reader whose window has grown, so much more stays queued. */
const MAX_EXTRA_QUEUE_BYTES = 524_288

/** So much comes on top of both marks, as far as the peer gives credit for it. The rate is 0 where nothing is held back. */
export function chooseExtraQueueBytes (bytesPerMs: number, writers: number): number {
  return Math.floor(Math.min(MAX_EXTRA_QUEUE_BYTES, bytesPerMs * EXTRA_QUEUE_MS) / writers)
}
