/**
 * How much a stream may have queued when its writer is told to wait, and to go on. While the writer fetches more, the path works on what is
 * queued here: a kernel that takes megabytes gave writers that time, and holds next to nothing where data waits above it.
 */

/** 'drain' comes at or below this, so that the writer is back before the queue is empty */
export const LOW_WATER_MARK_BYTES = 131_072
/** `send()` returns false from here on, four Noise records: with 64 KiB a writer stops so often that the number of records doubles */
export const HIGH_WATER_MARK_BYTES = 262_144

/** What a disk or another peer takes for the next megabyte */
const AHEAD_MS = 250
/** All writers of a connection together. A reader that is slow, and whose window has grown, makes them wait with so much more. */
const MOST_AHEAD_BYTES = 524_288

/** So much comes on top of both marks, as far as the peer gives credit for it. The rate is 0 where nothing is held back. */
export function chooseBeyondMarksBytes (bytesPerMs: number, writers: number): number {
  return Math.floor(Math.min(MOST_AHEAD_BYTES, bytesPerMs * AHEAD_MS) / writers)
}
