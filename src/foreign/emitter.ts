/**
 * Events whose listeners may fail. EventTarget turns an exception of a listener into an uncaught one, which ends the process because of one
 * stream (js-libp2p 3415 and 3512). Here the emitter handles it. Hot.
 */
import { StreamAbortEvent, StreamCloseEvent, StreamResetEvent } from '@libp2p/interface'
import { attempt, onAbort, toError, toSignal, watch } from './values.ts'
import type { EventHandler, TypedEventTarget } from '@libp2p/interface'

type Listener = EventHandler<Event>

interface Registration {
  type: string
  listener: Listener
  capture: boolean
  once: boolean
  /** A listener may have been removed by another one while an event is dispatched */
  isRemoved: boolean
  /** Ends listening to the signal */
  stopListening: (() => void) | undefined
}

/**
 * A listener may abort another stream, whose listener aborts a third, and so on: a thousand of them fill the stack. Beyond this depth events
 * wait for a microtask.
 */
const MAX_DEPTH = 32

/** How many listeners run within each other. One count for all emitters, as they share a stack. */
let depth = 0

/*
 * The state of an event while it is dispatched. Symbols, so that an application which prints, clones or iterates over an event sees the same
 * as of any other event, and not the stream.
 */
const TARGET = Symbol('target')
const CURRENT_TARGET = Symbol('currentTarget')
const IS_STOPPED = Symbol('isStopped')

/** An event with fields for its target. Any other event needs new properties for that, which is slow. */
interface TargetedEvent extends Event {
  [TARGET]: EventTarget | null
  [CURRENT_TARGET]: EventTarget | null
  [IS_STOPPED]: boolean
}

/** Derives a TargetedEvent from an event class. Not from a shim's class, whose target can be set: its constructor may set it as well. */
export function targeted<Base extends new (...args: any[]) => Event> (Base: Base): Base {
  return attempt(() => {
    (new Base('') as { target: unknown }).target = null

    return Base
  }, () => class extends Base {
    static override readonly name = Base.name;
    [TARGET]: EventTarget | null = null;
    [CURRENT_TARGET]: EventTarget | null = null;
    [IS_STOPPED] = false

    override get target (): EventTarget | null {
      return this[TARGET]
    }

    override get srcElement (): EventTarget | null {
      return this[TARGET]
    }

    /** Null after the dispatch */
    override get currentTarget (): EventTarget | null {
      return this[CURRENT_TARGET]
    }

    override stopImmediatePropagation (): void {
      this[IS_STOPPED] = true
    }
  })
}

export const OwnCloseEvent = targeted(StreamCloseEvent)
export const OwnAbortEvent = targeted(StreamAbortEvent)
export const OwnResetEvent = targeted(StreamResetEvent)
/** A runtime may have Event without CustomEvent */
const OwnCustomEvent = targeted(globalThis.CustomEvent ?? class extends Event {
  readonly detail: unknown

  constructor (type: string, init?: CustomEventInit) {
    super(type, init)
    this.detail = init?.detail
  }
})

/** Sets the target of an event of other code. Properties stay writable, as shims of EventTarget set them. A read-only property stays as it is. */
function setTarget (evt: Partial<TargetedEvent>, target: EventTarget, currentTarget: EventTarget | null): void {
  const properties: Record<PropertyKey, unknown> = {
    target,
    srcElement: target,
    currentTarget,
    stopImmediatePropagation: () => { evt[IS_STOPPED] = true },
    [IS_STOPPED]: false
  }

  for (const key of Reflect.ownKeys(properties)) {
    Reflect.defineProperty(evt, key, { writable: true, value: properties[key] })
  }
}

/** An EventTarget that calls its listeners itself */
export abstract class GuardedEmitter<Events extends Record<string, any>> extends EventTarget implements TypedEventTarget<Events> {
  /** A new array for each change, so that a running dispatch goes on with the old one */
  #registrations: readonly Registration[] = []
  /** Events that wait for a microtask, as too many listeners are running */
  #delayed: Event[] = []

  /** A listener has thrown, or its promise was rejected */
  abstract onListenerError (err: Error, evt: Event): void

  listenerCount (type: string): number {
    const registrations = this.#registrations
    let count = 0

    for (let i = 0; i < registrations.length; i++) {
      count += registrations[i].type === type ? 1 : 0
    }

    return count
  }

  override addEventListener<K extends keyof Events>(type: K, listener: EventHandler<Events[K]> | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: Listener | null, options?: boolean | AddEventListenerOptions): void {
    const { capture = false, once = false, signal: by } = typeof options === 'boolean' ? { capture: options } : options ?? {}
    const signal = toSignal(by)

    if (listener == null || signal?.aborted === true || this.#find(type, listener, capture) !== undefined) {
      return
    }

    const registration: Registration = { type, listener, capture, once, isRemoved: false, stopListening: undefined }
    // first, as it may throw. Removes the registration and not the listener, which may have been added again since.
    registration.stopListening = signal && onAbort(signal, () => { this.#remove(registration) })
    this.#registrations = [...this.#registrations, registration]
    this.onListenerAdded(type)
  }

  /** For emitters that wait for a listener */
  onListenerAdded (_type: string): void {}

  override removeEventListener<K extends keyof Events>(type: K, listener?: EventHandler<Events[K]> | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void {
    const registration = this.#find(type, listener, (typeof options === 'boolean' ? options : options?.capture) ?? false)

    if (registration !== undefined) {
      this.#remove(registration)
    }
  }

  /** Makes no event without a listener: libp2p listens for only half of the events at the end of a stream */
  safeDispatchEvent<Detail>(type: keyof Events & string, detail?: CustomEventInit<Detail>): boolean {
    return this.listenerCount(type) === 0 || this.dispatchEvent(new OwnCustomEvent(type, detail))
  }

  /** dispatchEvent() would delay an event now */
  get isDispatchingTooDeep (): boolean {
    return depth >= MAX_DEPTH || this.#delayed.length > 0
  }

  override dispatchEvent (evt: Event): boolean {
    if (depth < MAX_DEPTH && this.#delayed.length === 0) {
      this.#dispatch(evt)
    } else if (this.#delayed.push(evt) === 1) {
      queueMicrotask(() => { this.#dispatchDelayed() })
    }

    return !evt.defaultPrevented
  }

  #dispatchDelayed (): void {
    try {
      // listeners may add more
      for (let i = 0; i < this.#delayed.length; i++) {
        this.#dispatch(this.#delayed[i])
      }
    } finally {
      this.#delayed = []
    }
  }

  /** Hot: runs once per event */
  #dispatch (evt: Event & Partial<TargetedEvent>): void {
    const { type } = evt
    const registrations = this.#registrations
    // not null if the event was dispatched before
    const isOwn = evt[TARGET] === null

    if (isOwn) {
      evt[TARGET] = this
      evt[CURRENT_TARGET] = this
    } else {
      setTarget(evt, this, this)
    }

    for (let i = 0; i < registrations.length && evt[IS_STOPPED] !== true; i++) {
      const registration = registrations[i]

      if (registration.type === type && !registration.isRemoved) {
        if (registration.once) {
          this.#remove(registration)
        }

        this.#call(registration.listener, evt)
      }
    }

    if (isOwn) {
      evt[CURRENT_TARGET] = null
    } else {
      setTarget(evt, this, null)
    }
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

  #find (type: string, listener: Listener | null | undefined, capture: boolean): Registration | undefined {
    for (const known of this.#registrations) {
      if (known.type === type && known.listener === listener && known.capture === capture) {
        return known
      }
    }

    return undefined
  }

  #remove (registration: Registration): void {
    // may run twice if there is a signal
    if (!registration.isRemoved) {
      registration.isRemoved = true
      this.#registrations = this.#registrations.toSpliced(this.#registrations.indexOf(registration), 1)
      registration.stopListening?.()
    }
  }

  #report (err: unknown, evt: Event): void {
    this.onListenerError(toError(err, 'A listener threw'), evt)
  }
}
