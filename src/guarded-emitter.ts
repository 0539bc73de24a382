/**
 * Events whose listeners may fail. EventTarget makes what they throw an uncaught exception, which ends
 * the process for the sake of one stream (js-libp2p 3415 and 3512). Here it is the emitter's own affair.
 */
import { TypedEventEmitter } from '@libp2p/interface'
import type { EventHandler } from '@libp2p/interface'

type Listener = EventHandler<Event>

/** Each listener's guard, the same wherever it listens, so that it can be removed again */
const guards = new WeakMap<object, (evt: Event) => void>()

export abstract class GuardedEmitter<Events extends Record<string, any>> extends TypedEventEmitter<Events> {
  /** A listener has thrown, or the promise that it returned was rejected */
  abstract onListenerError (err: Error, evt: Event): void

  override addEventListener<K extends keyof Events>(type: K, listener: EventHandler<Events[K]> | null, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: string, listener: Listener, options?: boolean | AddEventListenerOptions): void
  override addEventListener (type: any, listener: any, options?: boolean | AddEventListenerOptions): void {
    if (listener != null) {
      super.addEventListener(type, guardOf(listener), options)
    }
  }

  override removeEventListener<K extends keyof Events>(type: K, listener?: EventHandler<Events[K]> | null, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: string, listener?: Listener, options?: boolean | EventListenerOptions): void
  override removeEventListener (type: any, listener?: any, options?: boolean | EventListenerOptions): void {
    // the base class removes guards itself, of listeners that are called once or until a signal is aborted
    super.removeEventListener(type, guards.get(listener) ?? listener, options)
  }
}

function guardOf (listener: Listener): (evt: Event) => void {
  let guard = guards.get(listener)

  if (guard === undefined) {
    guard = evt => { call(listener, evt) }
    guards.set(listener, guard)
  }

  return guard
}

/** Hot: runs once per event and listener */
function call (listener: Listener, evt: Event): void {
  try {
    const result: unknown = typeof listener === 'function' ? listener(evt) : listener.handleEvent(evt)

    if (result instanceof Promise) {
      result.catch((err: unknown) => { report(err, evt) })
    }
  } catch (err) {
    report(err, evt)
  }
}

function report (err: unknown, evt: Event): void {
  // not the current target, which Node forgets behind the first listener
  const emitter = evt.target as GuardedEmitter<any>

  emitter.onListenerError(err instanceof Error ? err : new Error(`A listener threw ${String(err)}`, { cause: err }), evt)
}
