/**
 * Promises that nobody may be waiting for.
 */

/** Whoever awaits it sees a rejection; when nobody does, it is no unhandled one, which would end the process */
export function handled <T> (promise: Promise<T>): Promise<T> {
  promise.catch(() => {})

  return promise
}

export function withHandledRejection <T = void> (): PromiseWithResolvers<T> {
  const deferred = Promise.withResolvers<T>()
  handled(deferred.promise)

  return deferred
}
