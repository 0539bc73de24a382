/**
 * Events whose listeners may fail. EventTarget makes what they throw an uncaught exception, which ends
 * the process for the sake of one stream (js-libp2p 3415 and 3512). Here it is the emitter's own affair.
 */
import { StreamMessageEvent } from '@libp2p/interface'
import { toError, watch } from './thrown.ts'
import type { EventHandler, TypedEventTarget } from '@libp2p/interface'
import type { Uint8ArrayList } from 'uint8arraylist'

type Listener = EventHandler<Event>

interface Registration {
  type: string
  listener: Listener
  capture: boolean
  once: boolean
  /** By somebody who was told of the same event before */
  isRemoved: boolean
  signal: AbortSignal | undefined
  /** Listens to the signal */
  onAbort: (() => void) | undefined
}

/**
 * A listener that aborts another stream, whose listener aborts a third, and so on: a thousand of them fill the stack. Beyond so many
 * within each other events wait for a microtask.
 */
const MAX_DEPTH = 32

/** How many listeners of whatever emitters are running, each within the one before: it is one stack */
let depth = 0

/** A message that knows its stream by itself: to tell any other event its target costs more than to make this one. Hot. */
export class ReceivedMessageEvent extends StreamMessageEvent {
  isStopped = false
  readonly #target: EventTarget

  constructor (message: Uint8ArrayList, target: EventTarget) {
    super(message)
    this.#target = target
  }

  override get target (): EventTarget {
    return this.#target
  }

  override get currentTarget (): EventTarget {
    return this.#target
  }

  override stopImmediatePropagation (): void {
    this.isStopped = true
  }
}

/** To others this tells what EventTarget would */
function setTarget (evt: Event, target: EventTarget): void {
  const configurable = true

  Object.defineProperties(evt, {
    isStopped: { configurable, writable: true, value: false },
    target: { configurable, value: target },
    currentTarget: { configurable, value: target },
    stopImmediatePropagation: { configurable, value: () => { (evt as ReceivedMessageEvent).isStopped = true } }
  })
}

/**
 * An EventTarget that calls its listeners itself. With Node's own dispatch an event took half as long again, and a listener, of which a new
 * stream has ten, three times as long to add.
 */
export abstract class GuardedEmitter<Events extends Record<string, any>> extends EventTarget implements TypedEventTarget<Events> {
  /** A new list for each change: who is dispatching goes on with the old one */
  #registrations: readonly Registration[] = []
  /** Events that are told when the listeners that are running have come to their end */
  #putOff: Event[] = []

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
    const { capture = false, once = false, signal } = typeof options === 'object' ? options : { capture: options }

    if (listener == null || signal?.aborted === true || this.#find(type, listener, capture) !== undefined) {
      return
    }

    const onAbort = signal && (() => { this.removeEventListener(type, listener, capture) })
    this.#registrations = [...this.#registrations, { type, listener, capture, once, isRemoved: false, signal, onAbort }]
    signal?.addEventListener('abort', onAbort as () => void)
    this.onListenerAdded(type)
  }

  /** For emitters that wait for one */
  onListenerAdded (_type: string): void {}

  override removeEventListener<K extends keyof Events>(type: K, listener?: EventHandler<Events[K]> | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener | null, options?: boolean | EventListenerOptions): void {
    const registration = this.#find(type, listener, (typeof options === 'object' ? options.capture : options) ?? false)

    if (registration !== undefined) {
      this.#remove(registration)
    }
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
      this.#dispatch(evt)
    } else if (this.#putOff.push(evt) === 1) {
      queueMicrotask(() => { this.#dispatchPutOff() })
    }

    return !evt.defaultPrevented
  }

  #dispatchPutOff (): void {
    // what listeners add meanwhile comes behind
    for (let i = 0; i < this.#putOff.length; i++) {
      this.#dispatch(this.#putOff[i])
    }

    this.#putOff = []
  }

  /** Hot: runs once per event */
  #dispatch (evt: Event): void {
    const { type } = evt
    const registrations = this.#registrations

    if (!(evt instanceof ReceivedMessageEvent)) {
      setTarget(evt, this)
    }

    for (let i = 0; i < registrations.length && !(evt as ReceivedMessageEvent).isStopped; i++) {
      const registration = registrations[i]

      if (registration.type === type && !registration.isRemoved) {
        if (registration.once) {
          this.#remove(registration)
        }

        this.#call(registration.listener, evt)
      }
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
    const { signal, onAbort } = registration
    registration.isRemoved = true
    this.#registrations = this.#registrations.toSpliced(this.#registrations.indexOf(registration), 1)
    signal?.removeEventListener('abort', onAbort as () => void)
  }

  #report (err: unknown, evt: Event): void {
    this.onListenerError(toError(err, 'A listener threw'), evt)
  }
}
