// What a message says: when it was published, by whom, and bytes that can be checked.
import { bytesAt, isAt } from '../verified/pattern.ts'

export interface Stamp {
  host: number
  /** By the monotonic clock that all processes share */
  publishedAtMs: number
}

const HEADER_BYTES = 10

function start ({ host, publishedAtMs }: Stamp): number {
  return host + Math.floor(publishedAtMs * 1000)
}

export function createMessage (stamp: Stamp, byteLength: number): Uint8Array {
  const message = new Uint8Array(byteLength)
  const view = new DataView(message.buffer)

  view.setFloat64(0, stamp.publishedAtMs)
  view.setUint16(8, stamp.host)
  message.set(bytesAt(start(stamp), byteLength - HEADER_BYTES), HEADER_BYTES)

  return message
}

/** Throws if it is not as it was made */
export function readMessage (message: Uint8Array): Stamp {
  const view = new DataView(message.buffer, message.byteOffset, message.byteLength)
  const stamp = { publishedAtMs: view.getFloat64(0), host: view.getUint16(8) }

  if (!isAt(start(stamp), message.subarray(HEADER_BYTES))) {
    throw new Error(`A message of ${message.byteLength} bytes differs from what host ${stamp.host} published`)
  }

  return stamp
}
