/**
 * The loggers of streams. The streams of a connection share one for each scope, and each line begins with the stream. A logger of
 * libp2p's is dear to make: in Node it asks the terminal for its colours, and leaves 2 KB to a full collection. With four for each
 * request on a new stream, as libp2p asks for, those took 1.02 to 1.12 times as long.
 */
import type { Logger } from '@libp2p/interface'

/** Of a connection: names of scopes that change all the time do not fill the memory */
const MAX_SHARED_SCOPES = 32

interface Write {
  (formatter: any, ...args: any[]): void
  /** libp2p's loggers have it for each of their three, its interface for one */
  enabled?: boolean
}

/** Not properties of each logger: `enabled` may change as long as one lives, and V8 would keep a hidden class for each */
const withEnabled: object = Object.create(Function.prototype, {
  enabled: {
    get (this: { shared: Write }) { return this.shared.enabled },
    set (this: { shared: Write }, isEnabled: boolean) { this.shared.enabled = isEnabled }
  }
})

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
    const { shared } = this

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

  return Object.assign(Object.setPrototypeOf(write, withEnabled), { shared })
}
