/**
 * Writes frame headers into a buffer at an offset. Hot: runs once per frame sent.
 */
import { HEADER_BYTES, PROTOCOL_VERSION } from './frame.ts'

/** Writes a header at `offset` and returns the offset behind it */
export function encodeHeader (target: Uint8Array, offset: number, type: number, flags: number, streamId: number, length: number): number {
  target[offset] = PROTOCOL_VERSION
  target[offset + 1] = type
  target[offset + 2] = flags >>> 8
  target[offset + 3] = flags
  target[offset + 4] = streamId >>> 24
  target[offset + 5] = streamId >>> 16
  target[offset + 6] = streamId >>> 8
  target[offset + 7] = streamId
  target[offset + 8] = length >>> 24
  target[offset + 9] = length >>> 16
  target[offset + 10] = length >>> 8
  target[offset + 11] = length

  return offset + HEADER_BYTES
}
