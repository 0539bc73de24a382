/**
 * How much a stream sends in its turn, and how much one write holds: what the path carries in a millisecond. So nobody waits longer for a
 * turn than a millisecond for each other stream, and on a fast path what is done once a frame or once a write is not done 15 times as often.
 * Hot: runs once per write.
 */

/** 16 KiB take as long at 131 Mbit/s */
const SHARE_MS = 1

export interface ShareSizes {
  /** A stream's share where the path is slow or not known yet */
  readonly frameBytes: number
  /** The largest payload of any frame */
  readonly maxFrameBytes: number
  /** The largest write */
  readonly maxWriteBytes: number
}

/** The rate is 0 until it was measured */
export function chooseShareBytes ({ frameBytes, maxFrameBytes }: ShareSizes, bytesPerMs: number): number {
  return Math.max(frameBytes, Math.min(maxFrameBytes, Math.floor(bytesPerMs * SHARE_MS)))
}

/** Whole records, so that none is sealed half full */
export function chooseWriteBytes ({ maxWriteBytes }: ShareSizes, recordBytes: number, bytesPerMs: number): number {
  const records = Math.floor(Math.min(maxWriteBytes, bytesPerMs * SHARE_MS) / recordBytes)

  return Math.max(1, records) * recordBytes
}
