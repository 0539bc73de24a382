/**
 * Watermarks: the queued bytes at which a writer must wait, or may go on. Queued data keeps the path busy while the writer fetches more:
 * the kernel's buffer is nearly empty while data is held above it.
 */

/** `send()` returns false from here on. Four Noise records: with one, writers stop often, and records are short. */
export const HIGH_WATERMARK_BYTES = 262_144
/** The part of it at which 'drain' is emitted, before the queue is empty */
export const LOW_WATERMARK_PART = 1 / 2

/** With this much queued in all streams, each may queue less: a thousand writers without credit would queue 256 MB */
export const CROWDED_FROM_BYTES = 4_194_304
/** The high watermark then, in addition to a quantum for which there is credit */
export const CROWDED_WATERMARK_BYTES = 65_536

/** The high watermark of a stream with so much credit, while all streams have queued `allQueuedBytes`. Hot: runs once per send. */
export function highWatermarkBytes (allQueuedBytes: number, creditBytes: number, quantumBytes: number): number {
  return allQueuedBytes < CROWDED_FROM_BYTES ? HIGH_WATERMARK_BYTES : Math.min(HIGH_WATERMARK_BYTES, CROWDED_WATERMARK_BYTES + Math.min(creditBytes, quantumBytes))
}
