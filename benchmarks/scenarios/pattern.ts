// The bytes that messages carry, and the check of every byte that arrives.
import { createHash } from 'node:crypto'

// a prime, so that no two messages of a stream look alike and no shift by a
// message or frame length goes unseen
const PERIOD_BYTES = 65_537
const LONGEST_MESSAGE_BYTES = 1024 * 1024

const period = createHash('shake256', { outputLength: PERIOD_BYTES }).update('benchmark').digest()
const repeated = Buffer.alloc(PERIOD_BYTES + LONGEST_MESSAGE_BYTES, period)
const repeatedBytes = new Uint8Array(repeated.buffer, repeated.byteOffset, repeated.byteLength)

/** Streams begin at different places so that mixed up streams are noticed */
export function startOfStream (index: number): number {
  return index * 7919
}

/** A view of the bytes that belong at a position, nothing is copied */
export function bytesAt (position: number, byteLength: number): Uint8Array {
  const start = position % PERIOD_BYTES
  // of a Uint8Array: a Buffer's own subarray showed in the sender's profile
  return repeatedBytes.subarray(start, start + byteLength)
}

/** Whether these are the bytes that belong at the position, at the speed of memcmp */
export function isAt (position: number, bytes: Uint8Array): boolean {
  let checked = 0

  while (checked < bytes.byteLength) {
    const start = (position + checked) % PERIOD_BYTES
    const byteLength = Math.min(bytes.byteLength - checked, repeated.byteLength - start)

    if (repeated.compare(bytes, checked, checked + byteLength, start, start + byteLength) !== 0) {
      return false
    }

    checked += byteLength
  }

  return true
}
