/**
 * Events whose listeners may fail. EventTarget makes what they throw an uncaught exception, which ends
 * the process for the sake of one stream (js-libp2p 3415 and 3512). Here it is the emitter's own affair.
 */
import { setMaxListeners } from '@libp2p/interface'
import { toError, watch } from './thrown.ts'
import type { EventHandler, TypedEventTarget } from '@libp2p/interface'

type Listener = EventHandler<Event>

interface Registration {
  type: string
  listener: Listener
  capture: boolean
  signal: AbortSignal | undefined
  /** What EventTarget knows: calls the listener */
  guard (evt: Event): void
  /** Listens to the signal */
  remove (): void
}

/**
 * A listener that aborts another stream, whose listener aborts a third, and so on: a thousand of them fill the stack. Beyond so many
 * within each other events wait for a microtask.
 */
const MAX_DEPTH = 32

/** How many listeners of whatever emitters are running, each within the one before: it is one stack */
let depth = 0

/**
 * TypedEventEmitter with guards. On top of it, a WeakMap from listeners to their guards, which hold them, would keep all that
 * a listener holds through every young collection: those took 1.3 times as long with requests on new streams, full ones 3 times.
 */
export abstract class GuardedEmitter<Events extends Record<string, any>> extends EventTarget implements TypedEventTarget<Events> {
  readonly #registrations: Registration[] = []
  /** Events that are told when the listeners that are running have come to their end */
  #putOff: Event[] = []

  constructor () {
    super()
    // Node warns of more than ten for one type
    setMaxListeners(Infinity, this)
  }

  /** A listener has thrown, or the promise that it returned was rejected */
  abstract onListenerError (err: Error, evt: Event): void

  listenerCount (type: string): number {
    let count = 0

    for (const registration of this.#registrations) {
      count += registration.type === type ? 1 : 0
    }

    return count
  }

  override addEventListener<K extends keyof Events>(type: K, listener: EventHandler<Events[K]> | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions): void {
    const { capture = false, once = false, passive, signal } = typeof options === 'boolean' ? { capture: options } : options ?? {}

    if (listener == null || signal?.aborted === true || this.#find(type, listener, capture) !== -1) {
      return
    }

    const remove = (): void => { this.removeEventListener(type, listener, capture) }
    const guard = (evt: Event): void => {
      if (once) {
        remove()
      }

      this.#call(listener, evt)
    }

    this.#registrations.push({ type, listener, capture, signal, guard, remove })
    super.addEventListener(type, guard, { capture, passive })
    signal?.addEventListener('abort', remove)
    this.onListenerAdded(type)
  }

  /** For emitters that wait for one */
  onListenerAdded (_type: string): void {}

  override removeEventListener<K extends keyof Events>(type: K, listener?: EventHandler<Events[K]> | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void {
    const capture = (typeof options === 'boolean' ? options : options?.capture) ?? false
    const index = this.#find(type, listener, capture)

    if (index === -1) {
      return
    }

    const [{ guard, remove, signal }] = this.#registrations.splice(index, 1)
    // Node does not know the boolean here
    super.removeEventListener(type, guard, { capture })
    signal?.removeEventListener('abort', remove)
  }

  /** Makes no event when nobody listens: of the events at the end of a stream libp2p hears half */
  safeDispatchEvent<Detail>(type: keyof Events & string, detail?: CustomEventInit<Detail>): boolean {
    return this.listenerCount(type) === 0 || this.dispatchEvent(new CustomEvent(type, detail))
  }

  /** libp2p's metrics put a function of their own in the place of dispatchEvent(), to see what passes there */
  get isObserved (): boolean {
    return Object.hasOwn(this, 'dispatchEvent')
  }

  /** An event that is dispatched now is told later */
  get isDispatchingTooDeep (): boolean {
    return depth >= MAX_DEPTH || this.#putOff.length > 0
  }

  override dispatchEvent (evt: Event): boolean {
    if (depth < MAX_DEPTH && this.#putOff.length === 0) {
      return super.dispatchEvent(evt)
    }

    if (this.#putOff.push(evt) === 1) {
      queueMicrotask(() => { this.#dispatchPutOff() })
    }

    return true
  }

  #dispatchPutOff (): void {
    // what listeners add meanwhile comes behind
    for (let i = 0; i < this.#putOff.length; i++) {
      super.dispatchEvent(this.#putOff[i])
    }

    this.#putOff = []
  }

  #find (type: string, listener: Listener | null | undefined, capture: boolean): number {
    const registrations = this.#registrations

    for (let i = 0; i < registrations.length; i++) {
      const known = registrations[i]

      if (known.type === type && known.listener === listener && known.capture === capture) {
        return i
      }
    }

    return -1
  }

  /** Hot: runs once per event and listener */
  #call (listener: Listener, evt: Event): void {
    depth++

    try {
      const result: unknown = typeof listener === 'function' ? listener.call(this, evt) : listener.handleEvent(evt)

      if (result !== undefined) {
        watch(result, err => { this.#report(err, evt) })
      }
    } catch (err) {
      this.#report(err, evt)
    } finally {
      depth--
    }
  }

  #report (err: unknown, evt: Event): void {
    this.onListenerError(toError(err, 'A listener threw'), evt)
  }
}
