/**
 * Writes to libp2p's log: errors, debug lines, and the loggers of streams.
 */
import { attempt, print } from '../foreign/values.ts'
import type { Logger } from '@libp2p/interface'

/** Logs an error, and never throws, even if the error or the logger does. `message` has `%e` in the place of the error. */
export function logError (owner: { readonly log: Logger }, message: string, err: Error): void {
  attempt(() => { owner.log.error(message, err) }, cause => {
    // a logger that fails must not end a stream or a connection
    attempt(() => { owner.log.error(message, new Error('An error that cannot be printed', { cause: print(cause) })) }, () => {})
  })
}

/** Logs a line, and never throws. `describe` runs only if the log is enabled. */
export function logDebug (log: Logger, describe: () => string): void {
  try {
    if (log.enabled) {
      log('%s', describe())
    }
  } catch {
    // the logger has failed, or an error could not be printed
  }
}

/** The end of a line, with the message of the error; may throw */
export function reasonOf (err?: Error): string {
  return err === undefined ? '' : ` - ${err.message}`
}

/** For each connection, so that an application that uses ever new names of scopes does not fill the memory */
const MAX_SHARED_SCOPES = 32

interface Write {
  (formatter: any, ...args: any[]): void
  /** libp2p's loggers have it for `error` and `trace`, too; its interface does not */
  enabled?: boolean
}

/** `enabled` may change at any time. The accessor is shared: with its own each logger would have a hidden class, and take three times the memory. */
const ENABLED: PropertyDescriptor & ThisType<{ shared: Write }> = {
  get () { return this.shared.enabled },
  set (isEnabled: boolean) { this.shared.enabled = isEnabled }
}

/**
 * The loggers of streams. The streams of a connection share one logger for each scope, and each line begins with the stream. libp2p's loggers
 * are expensive to create: in Node each checks the terminal for colours. libp2p requests four for each new stream.
 */
export class StreamLog {
  readonly #create: () => Logger
  readonly #path: string
  #known: Map<string, StreamLog> | undefined
  #shared: Logger | undefined

  /** `create` makes the shared logger on first use */
  constructor (create: () => Logger, path = '', known?: Map<string, StreamLog>) {
    this.#create = create
    this.#path = path
    this.#known = known
  }

  get shared (): Logger {
    this.#shared ??= this.#create()

    return this.#shared
  }

  /** A logger whose lines begin with `label` */
  of (label: string): Logger {
    // the getter, inlined: a call for each of the four loggers of a request
    const shared = this.#shared ??= this.#create()

    return Object.assign(labelled(shared, shared, label), {
      error: labelled(shared.error, shared, label),
      trace: labelled(shared.trace, shared, label),
      newScope: (name: string) => this.#scope(name, shared).of(label)
    })
  }

  #scope (name: string, shared: Logger): StreamLog {
    const path = `${this.#path}:${name}`
    const known = this.#known ??= new Map()
    const scope = known.get(path) ?? new StreamLog(() => shared.newScope(name), path, known)

    if (known.size < MAX_SHARED_SCOPES) {
      known.set(path, scope)
    }

    return scope
  }
}

/** Hot: libp2p logs ten lines for a request on a new stream */
function labelled (shared: Write, logger: Logger, label: string): Write & { enabled: boolean } {
  const write: Write = (formatter, ...args) => {
    if (shared.enabled === false) {
      return
    }

    if (typeof formatter === 'string') {
      shared.call(logger, `${label}: ${formatter}`, ...args)
    } else {
      shared.call(logger, `${label}: %O`, formatter, ...args)
    }
  }

  return Object.defineProperty(Object.assign(write, { shared }), 'enabled', ENABLED) as Write & { enabled: boolean }
}
