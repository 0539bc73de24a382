/**
 * What goes into libp2p's log: errors, lines for whoever debugs, and the loggers of streams.
 */
import { attempt, print } from '../foreign/values.ts'
import type { Logger } from '@libp2p/interface'

/** Logs an error, and never throws, whatever the error and the log of its owner are. `message` says where the error goes: `%e`. */
export function logError (owner: { readonly log: Logger }, message: string, err: Error): void {
  attempt(() => { owner.log.error(message, err) }, cause => {
    // a logger that fails is no reason to end anything
    attempt(() => { owner.log.error(message, new Error('An error that cannot be printed', { cause: print(cause) })) }, () => {})
  })
}

/** Logs a line, and never throws. `describe` runs only if somebody reads the log. */
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

/** Of a connection: names of scopes that change all the time do not fill the memory */
const MAX_SHARED_SCOPES = 32

interface Write {
  (formatter: any, ...args: any[]): void
  /** libp2p's loggers have it for each of their three, its interface for one */
  enabled?: boolean
}

/** `enabled` may change as long as a logger lives. One accessor for all: with one of its own each has a hidden class, and takes three times the memory. */
const ENABLED: PropertyDescriptor & ThisType<{ shared: Write }> = {
  get () { return this.shared.enabled },
  set (isEnabled: boolean) { this.shared.enabled = isEnabled }
}

/**
 * The loggers of streams. The streams of a connection share one for each scope, and each line begins with the stream. A logger of
 * libp2p's is dear to make: in Node it asks the terminal for its colours, and leaves 2 KB to a full collection. With four for each
 * request on a new stream, as libp2p asks for, those took 1.02 to 1.12 times as long.
 */
export class StreamLog {
  readonly #create: () => Logger
  readonly #path: string
  readonly #known: Map<string, StreamLog>
  #shared: Logger | undefined

  /** `create` makes the shared logger, when it is wanted */
  constructor (create: () => Logger, path = '', known = new Map<string, StreamLog>()) {
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
    // as the getter does, without a call for each of the four loggers of a request
    const shared = this.#shared ??= this.#create()

    return Object.assign(labelled(shared, shared, label), {
      error: labelled(shared.error, shared, label),
      trace: labelled(shared.trace, shared, label),
      newScope: (name: string) => this.#scope(name, shared).of(label)
    })
  }

  #scope (name: string, shared: Logger): StreamLog {
    const path = `${this.#path}:${name}`
    const known = this.#known.get(path)
    const scope = known ?? new StreamLog(() => shared.newScope(name), path, this.#known)

    if (known === undefined && this.#known.size < MAX_SHARED_SCOPES) {
      this.#known.set(path, scope)
    }

    return scope
  }
}

/** Hot: libp2p has ten lines for a request on a new stream */
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
