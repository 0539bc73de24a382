/**
 * Checks values of applications and other packages. Bytes may be of any realm (iframe, vm, jsdom) and of any copy of a package. Errors may be
 * strings, revoked proxies, undefined, or have properties that throw. None of these may keep a stream or a connection from ending.
 */
import { AbortError } from '@libp2p/interface'
import { isUint8ArrayList } from 'uint8arraylist'
import { MAX_UINT32 } from '../core/wire/frame.ts'
import { InvalidBytesError } from '../api/errors.ts'

/** Returns the kind of a typed array of any realm, and cannot be spoofed */
const tagOf = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag)?.get

/** The parts, as views of this realm. Throws an InvalidBytesError that names `taker`, the function that was given the data. */
export function partsOf (data: unknown, taker: string): Uint8Array[] {
  const parts: Uint8Array[] = []

  // a list may be of any copy of the package
  for (const part of isUint8ArrayList(data) ? data as Iterable<unknown> : [data]) {
    parts.push(part instanceof Uint8Array ? part : toView(part, taker))
  }

  return parts
}

/** Copies into one new array. Throws an InvalidBytesError. */
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

/** Returns the result of foreign code, or that of `otherwise` if it throws */
export function attempt<T, U> (run: () => T, otherwise: (thrown: unknown) => U): T | U {
  try {
    return run()
  } catch (thrown) {
    return otherwise(thrown)
  }
}

/**
 * Accepts signals of any class: other packages and realms have their own. AbortSignal.any() refuses these, and they may lack `reason` and
 * throwIfAborted(). Returns undefined if the value is not a signal.
 */
export function toSignal (value?: AbortSignal): AbortSignal | undefined {
  return attempt(() => value?.aborted != null && value.addEventListener != null ? value : undefined, () => undefined)
}

/** Calls `listener` when the signal is aborted. Returns a function that removes it, and never throws. */
export function onAbort (signal: AbortSignal, listener: () => void): () => void {
  signal.addEventListener('abort', listener)

  return () => { attempt(() => { signal.removeEventListener('abort', listener) }, () => {}) }
}

export function abortReason (signal: AbortSignal): unknown {
  return signal.reason ?? new AbortError()
}

export function throwIfAborted (signal?: AbortSignal): void {
  if (signal?.aborted === true) {
    throw abortReason(signal)
  }
}

/** Returns the error itself, or wraps another value: `what` begins the message, the value ends it and is the cause */
export function toError (thrown: unknown, what: string): Error {
  // instanceof throws for a revoked proxy
  const isError = attempt(() => thrown instanceof Error, () => false)

  return isError ? thrown as Error : new Error(`${what} ${print(thrown)}`, { cause: thrown })
}

/** Calls `onRejected` if the result of foreign code is a promise, of any class, and is rejected */
export function watch (result: any, onRejected: (thrown: unknown) => void): void {
  if (typeof result?.then === 'function') {
    Promise.resolve(result).catch(onRejected)
  }
}

/** Converts any value to a string, and never throws */
export function print (thrown: unknown): string {
  return attempt(() => String(thrown), () => `a value of type ${typeof thrown} that cannot be printed`)
}

/** The error code that a reset because of `err` carries; 0 if none */
export function errorCodeOf (err: Error & { errorCode?: unknown }): number {
  const code = attempt(() => err.errorCode, () => 0)

  return typeof code === 'number' && Number.isInteger(code) && code > 0 && code <= MAX_UINT32 ? code : 0
}
