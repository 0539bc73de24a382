/**
 * Events whose listeners may fail. EventTarget makes what they throw an uncaught exception, which ends
 * the process for the sake of one stream (js-libp2p 3415 and 3512). Here it is the emitter's own affair.
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
  /** By somebody who was told of the same event before */
  isRemoved: boolean
  /** Ends listening to the signal */
  stopListening: (() => void) | undefined
}

/**
 * A listener that aborts another stream, whose listener aborts a third, and so on: a thousand of them fill the stack. Beyond so many
 * within each other events wait for a microtask.
 */
const MAX_DEPTH = 32

/** How many listeners of whatever emitters are running, each within the one before: it is one stack */
let depth = 0

/*
 * What an event knows while it is told. By symbols: a program that prints, clones or looks through an event sees what it sees of any other,
 * and not the stream that the event is of.
 */
const TARGET = Symbol('target')
const CURRENT_TARGET = Symbol('currentTarget')
const IS_STOPPED = Symbol('isStopped')

/** An event that is told whose it is. Any other has to be given properties for that, which takes ten times as long as to make one. */
interface TargetedEvent extends Event {
  [TARGET]: EventTarget | null
  [CURRENT_TARGET]: EventTarget | null
  [IS_STOPPED]: boolean
}

/** The same event, as one that is told. Not of a shim's class: if a program can set the target, the shim's constructor may do so too. */
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

    /** Null when all listeners have been told */
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
/** A runtime may have events, and no CustomEvent */
const OwnCustomEvent = targeted(globalThis.CustomEvent ?? class extends Event {
  readonly detail: unknown

  constructor (type: string, init?: CustomEventInit) {
    super(type, init)
    this.detail = init?.detail
  }
})

/** The same for an event that somebody else has made. Its properties stay writable, as shims of EventTarget set them, and one that is fixed stays as it is. */
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

/**
 * An EventTarget that calls its listeners itself. With Node's own dispatch a message of 100 B took a sixth longer to deliver, and a listener,
 * of which a new stream has ten, twice as long to add and to remove.
 */
export abstract class GuardedEmitter<Events extends Record<string, any>> extends EventTarget implements TypedEventTarget<Events> {
  /** A new list for each change: who is dispatching goes on with the old one */
  #registrations: readonly Registration[] = []
  /** Events that are told when the listeners that are running have come to their end */
  #putOff: Event[] = []

  /** A listener has thrown, or the promise that it returned was rejected */
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
    // before anything is registered, as it may throw. Not by listener: that may have been added anew since.
    registration.stopListening = signal && onAbort(signal, () => { this.#remove(registration) })
    this.#registrations = [...this.#registrations, registration]
    this.onListenerAdded(type)
  }

  /** For emitters that wait for one */
  onListenerAdded (_type: string): void {}

  override removeEventListener<K extends keyof Events>(type: K, listener?: EventHandler<Events[K]> | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void {
    const registration = this.#find(type, listener, (typeof options === 'boolean' ? options : options?.capture) ?? false)

    if (registration !== undefined) {
      this.#remove(registration)
    }
  }

  /** Makes no event when nobody listens: of the events at the end of a stream libp2p hears half */
  safeDispatchEvent<Detail>(type: keyof Events & string, detail?: CustomEventInit<Detail>): boolean {
    return this.listenerCount(type) === 0 || this.dispatchEvent(new OwnCustomEvent(type, detail))
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
      this.#dispatch(evt)
    } else if (this.#putOff.push(evt) === 1) {
      queueMicrotask(() => { this.#dispatchPutOff() })
    }

    return !evt.defaultPrevented
  }

  #dispatchPutOff (): void {
    try {
      // what listeners add meanwhile comes behind
      for (let i = 0; i < this.#putOff.length; i++) {
        this.#dispatch(this.#putOff[i])
      }
    } finally {
      this.#putOff = []
    }
  }

  /** Hot: runs once per event */
  #dispatch (evt: Event & Partial<TargetedEvent>): void {
    const { type } = evt
    const registrations = this.#registrations
    // and not dispatched again
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
    // a signal may ask for it once more
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
