// Views of the bytes that messages carry, by their place on a stream, and the check of every byte that arrives.
import { pattern } from '../pattern.ts'

// 1,009 messages of 100 bytes, a prime: no shift by a message or frame length goes unseen
const PERIOD_BYTES = 100_900
const LONGEST_MESSAGE_BYTES = 1024 * 1024

const repeated = Buffer.alloc(PERIOD_BYTES + LONGEST_MESSAGE_BYTES, pattern(PERIOD_BYTES))
const repeatedBytes = new Uint8Array(repeated.buffer, repeated.byteOffset, repeated.byteLength)

/** Streams begin at different places so that mixed up streams are noticed, and with a message so that they share prepared ones */
export function startOfStream (index: number): number {
  return index * 7900
}

/** A view of the bytes that belong at a position, nothing is copied */
export function bytesAt (position: number, byteLength: number): Uint8Array {
  const start = position % PERIOD_BYTES
  // of a Uint8Array: a Buffer's own subarray showed in the sender's profile
  return repeatedBytes.subarray(start, start + byteLength)
}

/**
 * The same views, made once: to make one for each message of 100 bytes, and to collect it again, was a quarter of what
 * the sender spent with our muxer, and none of it the muxer's.
 */
export function preparedMessages (byteLength: number): (position: number) => Uint8Array {
  const views = new Array<Uint8Array | undefined>(PERIOD_BYTES)

  return position => {
    const start = position % PERIOD_BYTES
    views[start] ??= bytesAt(start, byteLength)

    return views[start]
  }
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
