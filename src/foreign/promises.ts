/**
 * Marks rejections as handled, and ends waits by an AbortSignal.
 */
import { abortReason, onAbort, throwIfAborted, toSignal } from './values.ts'

/** Marks a rejection as handled, since an unhandled one would end the process. A caller that awaits the promise still sees it. */
export function handled<T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}

export function withHandledRejection (): PromiseWithResolvers<void> {
  const deferred = Promise.withResolvers<void>()
  handled(deferred.promise)

  return deferred
}

/**
 * All waits on a signal share one listener: an EventTarget searches its listeners for each new one, which takes quadratic time. The listener is
 * removed with the last wait: Node keeps signals of AbortSignal.timeout() that have listeners until they expire.
 */
interface Waiting {
  aborts: Set<() => void>
  stopListening (): void
}

const waitingBy = new WeakMap<AbortSignal, Waiting>()

/** Settles as `promise` does, or rejects with the signal's reason if the abort comes first. Costs no microtask without a signal. */
export function abortable<T> (promise: Promise<T>, by?: AbortSignal): Promise<T> {
  const signal = toSignal(by)

  return signal == null ? promise : untilAborted(promise, signal)
}

async function untilAborted<T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // it may be rejected after the abort
  handled(promise)
  throwIfAborted(signal)

  return new Promise((resolve, reject) => {
    const leave = join(signal, () => { reject(abortReason(signal)) })
    promise.then(resolve, reject)
    promise.then(leave, leave)
  })
}

/** Returns a function that ends the wait */
function join (signal: AbortSignal, abort: () => void): () => void {
  const { aborts, stopListening } = waitingBy.get(signal) ?? listenTo(signal)
  aborts.add(abort)

  return () => {
    aborts.delete(abort)

    if (aborts.size === 0) {
      waitingBy.delete(signal)
      stopListening()
    }
  }
}

function listenTo (signal: AbortSignal): Waiting {
  const aborts = new Set<() => void>()
  const waiting = { aborts, stopListening: onAbort(signal, () => { aborts.forEach(abort => { abort() }) }) }
  waitingBy.set(signal, waiting)

  return waiting
}
