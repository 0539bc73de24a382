/**
 * What applications and other packages hand in, and may be anything: bytes of any realm (iframe, vm, jsdom) or copy of a package; and
 * strings, revoked proxies, errors whose properties throw, or nothing at all, where an error belongs. None of it may keep a stream or a
 * connection from its end.
 */
import { AbortError } from '@libp2p/interface'
import { isUint8ArrayList } from 'uint8arraylist'
import { MAX_UINT32 } from '../core/wire/frame.ts'
import { InvalidBytesError } from '../api/errors.ts'

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

/** What `run`, which is somebody else's, returns; what `otherwise` makes of it, if it throws */
export function attempt<T, U> (run: () => T, otherwise: (thrown: unknown) => U): T | U {
  try {
    return run()
  } catch (thrown) {
    return otherwise(thrown)
  }
}

/**
 * Of any class: packages, other realms and programs have their own, which AbortSignal.any() refuses, and which may have no reason and no
 * throwIfAborted(). Undefined for what is no signal.
 */
export function toSignal (value?: AbortSignal): AbortSignal | undefined {
  return attempt(() => value?.aborted != null && value.addEventListener != null ? value : undefined, () => undefined)
}

/** Calls `listener` when the signal is aborted. Returns what ends that, and never throws. */
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

/** The error itself, or one that says `what` happened and has what was thrown as its cause */
export function toError (thrown: unknown, what: string): Error {
  return isError(thrown) ? thrown : new Error(`${what} ${print(thrown)}`, { cause: thrown })
}

/** What somebody's function has returned: if it is a promise of any kind and is rejected, `onRejected` hears of it */
export function watch (result: any, onRejected: (thrown: unknown) => void): void {
  if (typeof result?.then === 'function') {
    Promise.resolve(result).catch(onRejected)
  }
}

function isError (thrown: unknown): thrown is Error {
  // a revoked proxy has no prototype to look at
  return attempt(() => thrown instanceof Error, () => false)
}

/** Whatever it is, without ever throwing */
export function print (thrown: unknown): string {
  return attempt(() => String(thrown), () => `a value of type ${typeof thrown} that cannot be printed`)
}

/** What a reset because of `err` tells the peer; 0 is none */
export function errorCodeOf (err: Error & { errorCode?: unknown }): number {
  const code = attempt(() => err.errorCode, () => 0)

  return typeof code === 'number' && Number.isInteger(code) && code > 0 && code <= MAX_UINT32 ? code : 0
}
