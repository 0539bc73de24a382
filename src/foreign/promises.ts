/**
 * Promises that nobody may be waiting for, and waiting that an AbortSignal may end.
 */
import { abortReason, onAbort, throwIfAborted, toSignal } from './values.ts'

/** Whoever awaits it sees a rejection; when nobody does, it is no unhandled one, which would end the process */
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
 * A signal has one listener for all who wait by it: an EventTarget looks through its listeners for each one that comes, so
 * 20,000 streams that waited to be opened by one signal took 3 s. When nobody waits any more it has none: Node keeps the
 * signals of AbortSignal.timeout() that are listened to until their time has come.
 */
interface Waiting {
  aborts: Set<() => void>
  stopListening (): void
}

const waitingBy = new WeakMap<AbortSignal, Waiting>()

/** Settles as `promise` does, or is rejected with the signal's reason when that comes first. Without a signal it costs no microtask. */
export function abortable<T> (promise: Promise<T>, by?: AbortSignal): Promise<T> {
  const signal = toSignal(by)

  return signal == null ? promise : untilAborted(promise, signal)
}

async function untilAborted<T> (promise: Promise<T>, signal: AbortSignal): Promise<T> {
  // nobody may be left to hear of it
  handled(promise)
  throwIfAborted(signal)

  return new Promise((resolve, reject) => {
    const leave = join(signal, () => { reject(abortReason(signal)) })
    promise.then(resolve, reject)
    promise.then(leave, leave)
  })
}

/** Returns what ends the wait */
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

/** As AbortSignal.timeout() makes it, which React Native, for one, does not have */
export function abortedAfter (delayMs: number): AbortSignal {
  if (AbortSignal.timeout != null) {
    return AbortSignal.timeout(delayMs)
  }

  const controller = new AbortController()
  setTimeout(() => { controller.abort() }, delayMs)

  return controller.signal
}
