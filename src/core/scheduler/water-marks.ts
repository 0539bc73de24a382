/**
 * How much a stream may have queued when its writer is told to go on. While it fetches more, the path works on what is queued here: a kernel
 * that takes megabytes gave writers that time, and holds next to nothing where data waits above it.
 */

/** 'drain' comes at or below this, so that the writer is back before the queue is empty */
export const LOW_WATER_MARK_BYTES = 131_072
/** `send()` returns false at twice that, four Noise records: with 64 KiB a writer stops so often that the number of records doubles */
export const HIGH_PER_LOW = 2

/** What a disk or another peer takes for the next megabyte */
const AHEAD_MS = 250
/** All writers of a connection together: with the high marks as much as a kernel takes */
const MOST_BYTES = 2_097_152

/** The rate is 0 where nothing is held back */
export function chooseLowWaterMarkBytes (bytesPerMs: number, writers: number): number {
  return Math.max(LOW_WATER_MARK_BYTES, Math.floor(Math.min(MOST_BYTES, bytesPerMs * AHEAD_MS) / writers))
}
