/**
 * Promises settled from outside that nobody may be waiting for.
 */

/** Whoever awaits it sees a rejection; when nobody does, it is no unhandled one */
export function withHandledRejection <T = void> (): PromiseWithResolvers<T> {
  const deferred = Promise.withResolvers<T>()
  deferred.promise.catch(() => {})

  return deferred
}
