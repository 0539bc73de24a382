/**
 * What was thrown, as an error and as text, and lines in libp2p's log. Applications throw and abort with anything: strings, nothing at
 * all, revoked proxies, errors whose properties throw. None of it may keep a stream or a connection from its end.
 */
import type { Logger } from '@libp2p/interface'

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

/** Without ever throwing, whatever the error and the log of its owner are. `message` says where the error goes: `%e`. */
export function logError (owner: { readonly log: Logger }, message: string, err: Error): void {
  try {
    owner.log.error(message, err)
  } catch (cause) {
    try {
      owner.log.error(message, new Error('An error that cannot be printed', { cause: print(cause) }))
    } catch {
      // a logger that fails is no reason to end anything
    }
  }
}

/** Without ever throwing. `describe` runs only if somebody reads it. */
export function logDebug (log: Logger, describe: () => string): void {
  try {
    if (log.enabled) {
      log('%s', describe())
    }
  } catch {
    // as above; so may an error that cannot be read
  }
}

/** As the end of a line; may throw */
export function reasonOf (err?: Error): string {
  return err === undefined ? '' : ` - ${err.message}`
}

function isError (thrown: unknown): thrown is Error {
  try {
    return thrown instanceof Error
  } catch {
    // a revoked proxy has no prototype to look at
    return false
  }
}

/** Whatever it is, without ever throwing */
export function print (thrown: unknown): string {
  try {
    return String(thrown)
  } catch {
    return `a value of type ${typeof thrown} that cannot be printed`
  }
}
