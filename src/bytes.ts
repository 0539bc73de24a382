/**
 * What counts as bytes: Uint8Arrays and lists of them, whatever realm (iframe, vm, jsdom) or copy of a package they are from.
 */
import { isUint8ArrayList } from 'uint8arraylist'
import { InvalidBytesError } from './errors.ts'

/** Tells a typed array's kind in any realm, and cannot be told lies */
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get

/** The parts, as views of this realm. Throws an InvalidBytesError; `taker` is what they were handed to. */
export function partsOf (data: unknown, taker: string): Uint8Array[] {
  const parts: Uint8Array[] = []

  // of any copy of the package
  for (const part of isUint8ArrayList(data) ? data as Iterable<unknown> : [data]) {
    parts.push(part instanceof Uint8Array ? part : toView(part, taker))
  }

  return parts
}

/** In one piece, in memory of its own. Throws an InvalidBytesError. */
export function copyOf (data: unknown, taker: string): Uint8Array {
  const parts = partsOf(data, taker)
  const copy = new Uint8Array(parts.reduce((sum, part) => sum + part.byteLength, 0))
  let offset = 0

  for (const part of parts) {
    copy.set(part, offset)
    offset += part.byteLength
  }

  return copy
}

function toView (value: unknown, taker: string): Uint8Array {
  if (ArrayBuffer.isView(value) && tagOf?.call(value) === 'Uint8Array') {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  }

  throw new InvalidBytesError(taker, value)
}
