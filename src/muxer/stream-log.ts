/**
 * The loggers of streams. One of libp2p's is dear to make: in Node it asks the terminal for its colours, and 2 KB of it
 * wait for a full collection. libp2p wants four for a request on a new stream, which took 1.02 to 1.12 times as long. So
 * the streams of a connection share one for each scope, and each line begins with whose it is.
 */
import type { Logger } from '@libp2p/interface'

/** Whoever names scopes by what changes does not fill the memory */
const MAX_SHARED_SCOPES = 32

interface Write {
  (formatter: any, ...args: any[]): void
  /** libp2p's loggers have it for each of their three, its interface for one */
  readonly enabled?: boolean
}

/** Not a property of each logger: it may change as long as one lives, and V8 would keep a hidden class for each */
const withEnabled: object = Object.create(Function.prototype, {
  enabled: { get (this: { shared: Logger }) { return this.shared.enabled } }
})

export class StreamLog {
  readonly #shared: Logger
  readonly #scopes = new Map<string, StreamLog>()

  constructor (shared: Logger) {
    this.#shared = shared
  }

  /** A logger whose lines begin with `label` */
  of (label: string): Logger {
    const shared = this.#shared
    const log = Object.setPrototypeOf(labelled(shared, shared, label), withEnabled)

    return Object.assign(log, {
      shared,
      error: labelled(shared, shared.error, label),
      trace: labelled(shared, shared.trace, label),
      newScope: (name: string) => this.#scope(name).of(label)
    })
  }

  #scope (name: string): StreamLog {
    const known = this.#scopes.get(name)
    const scope = known ?? new StreamLog(this.#shared.newScope(name))

    if (known === undefined && this.#scopes.size < MAX_SHARED_SCOPES) {
      this.#scopes.set(name, scope)
    }

    return scope
  }
}

/** Hot: libp2p has ten lines for a request on a new stream */
function labelled (shared: Logger, write: Write, label: string): Write {
  return (formatter, ...args) => {
    if (write.enabled === false) {
      return
    }

    if (typeof formatter === 'string') {
      write.call(shared, `${label}: ${formatter}`, ...args)
    } else {
      write.call(shared, `${label}: %O`, formatter, ...args)
    }
  }
}
