/** The length of a write, and the quantum of a stream, by the rate of the path */
import { HEADER_BYTES } from '../core/wire/frame.ts'
import type { PathInit } from '../core/path-control.ts'
import type { PathEstimate } from './path-estimate.ts'

/*
 * A quantum and a write are what the path carries in a fixed time. So a stream waits at most a millisecond for each other stream, and a fast
 * path does not pay for 15 times as many frames and writes.
 */

/** As long as a frame of 16 KiB takes at 131 Mbit/s */
export const QUANTUM_MS = 1
/**
 * A lone stream delays no other, and a new one waits at most this long. A long quantum has few headers, and each header costs a record split
 * (docs/notebook/bulk.md#files-and-blocks-in-applications).
 */
export const LONE_QUANTUM_MS = 16
/** It is at most this part of the bound, as a long write would exceed the bound by nearly its whole length */
export const LONE_QUANTUM_PART = 1 / 2

/** `carriedBytes`: what the path carries in the time of a quantum; 0 until its rate was measured */
export function chooseQuantumBytes ({ frameBytes, maxFrameBytes }: Pick<PathInit, 'frameBytes' | 'maxFrameBytes'>, carriedBytes: number): number {
  return Math.max(frameBytes, Math.min(maxFrameBytes, Math.floor(carriedBytes)))
}

/** Whole records, and none that the queued data fills only in part: that part can wait for more data */
export function chooseWriteBytes ({ maxWriteBytes }: Pick<PathInit, 'maxWriteBytes'>, recordBytes: number, queuedBytes: number, carriedBytes: number): number {
  const records = Math.floor(Math.min(maxWriteBytes, queuedBytes, carriedBytes) / recordBytes)

  return Math.max(1, records) * recordBytes
}

/** A write may be this many times as long if nothing is then left behind it */
const REST_GAIN = 1.5

/**
 * On a slow path. The rest behind the last write that may go, such as the end of an answer of 64 KiB, would have to wait for a pong. It joins
 * that write if no more is then in flight than a whole write may cause. At the start of a far path writes are short, so that the first mark
 * is in TCP's first flight.
 */
export function chooseSlowWriteBytes ({ bound, farStartBytes }: Pick<PathEstimate, 'bound' | 'farStartBytes'>, recordBytes: number, queuedBytes: number, inFlightBytes: number): number {
  const { bytes, writeBytes } = bound
  const longestBytes = Math.min(recordBytes, Math.floor(REST_GAIN * writeBytes))
  // with its header and a mark
  const allBytes = queuedBytes + 2 * HEADER_BYTES

  if (farStartBytes > 0 && inFlightBytes < writeBytes && allBytes > writeBytes) {
    return farStartBytes
  }

  return allBytes <= longestBytes && inFlightBytes + allBytes <= bytes + writeBytes / 2 ? longestBytes : writeBytes
}

/** A disk or another peer takes about as long to supply the next megabyte */
const EXTRA_QUEUE_MS = 250
/** For all writers of a connection together: for a slow reader with a large window, this much more stays queued */
const MAX_EXTRA_QUEUE_BYTES = 524_288

/** What each writer may queue above both watermarks, as far as it has credit. The rate is 0 if nothing is held. */
export function chooseExtraQueueBytes (bytesPerMs: number, writers: number): number {
  return Math.floor(Math.min(MAX_EXTRA_QUEUE_BYTES, bytesPerMs * EXTRA_QUEUE_MS) / writers)
}
