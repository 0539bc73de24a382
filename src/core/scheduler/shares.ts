/**
 * How much a stream sends in its turn, and how much one write holds: what the path carries in a millisecond. So nobody waits longer for a
 * turn than a millisecond for each other stream, and on a fast path what is done once a frame or once a write is not done 15 times as often.
 * Hot: runs once per write.
 */

/** 16 KiB take as long at 131 Mbit/s */
export const SHARE_MS = 1
/**
 * Nobody waits behind a stream that is alone, and who comes meanwhile waits a few milliseconds. Each header is a socket write of its own: a file
 * to a page took 1.14 of stock's time with one millisecond, 1.04 with four.
 */
export const LONE_SHARE_MS = 4

export interface ShareSizes {
  /** A stream's share where the path is slow or not known yet */
  readonly frameBytes: number
  /** The largest payload of any frame */
  readonly maxFrameBytes: number
  /** The largest write */
  readonly maxWriteBytes: number
}

/** The rate is 0 until it was measured */
export function chooseShareBytes ({ frameBytes, maxFrameBytes }: ShareSizes, bytesPerMs: number, shareMs = SHARE_MS): number {
  return Math.max(frameBytes, Math.min(maxFrameBytes, Math.floor(bytesPerMs * shareMs)))
}

/** Whole records, and no more than there is data for: what would fill another only in part can wait for more */
export function chooseWriteBytes ({ maxWriteBytes }: ShareSizes, recordBytes: number, queuedBytes: number, bytesPerMs: number, shareMs = SHARE_MS): number {
  const records = Math.floor(Math.min(maxWriteBytes, queuedBytes, bytesPerMs * shareMs) / recordBytes)

  return Math.max(1, records) * recordBytes
}
