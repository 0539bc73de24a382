/**
 * The 'message' event for runtimes whose events are JavaScript objects, as in Node. It is made without the constructor of `Event`. All event
 * classes share that constructor, and V8 optimises a field for four classes at most. Programs have more, which makes each event slow. Hot.
 */
import { StreamMessageEvent } from '@libp2p/interface'
import { targeted } from './emitter.ts'
import { attempt } from './values.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

type Message = Uint8Array | Uint8ArrayList

/** Has the properties that listeners read. A complete event is made when any other is read, which sets `timeStamp`. */
class LightMessageEvent {
  readonly data: Message
  #complete: Event | undefined

  constructor (data: Message) {
    this.data = data
  }

  get type (): string {
    return 'message'
  }

  /** A message has no default action */
  get defaultPrevented (): boolean {
    return false
  }

  static complete (evt: LightMessageEvent): Event {
    evt.#complete ??= new StreamMessageEvent(evt.data)

    return evt.#complete
  }
}

const OwnLightEvent = targeted(asEvent(LightMessageEvent))

/** A native dispatchEvent() accepts only native events, and jsdom's only its own. The events of a shim have own properties, not those of the prototype. */
const isLight = attempt(() => new OwnLightEvent(new Uint8Array()).timeStamp > 0 && new EventTarget().dispatchEvent(new OwnLightEvent(new Uint8Array())), () => false)

export const OwnMessageEvent = isLight ? OwnLightEvent : targeted(StreamMessageEvent)

function asEvent (Light: typeof LightMessageEvent): typeof StreamMessageEvent {
  const { prototype } = Light

  for (const key of Reflect.ownKeys(Event.prototype)) {
    const { get, set, value, ...rest } = Object.getOwnPropertyDescriptor(Event.prototype, key) as PropertyDescriptor

    if (Object.hasOwn(prototype, key) || (get === undefined && typeof value !== 'function')) {
      continue
    }

    Object.defineProperty(prototype, key, get === undefined
      ? { ...rest, value (this: LightMessageEvent, ...args: unknown[]) { return value.apply(Light.complete(this), args) } }
      : {
          configurable: true,
          get (this: LightMessageEvent) { return get.call(Light.complete(this)) },
          set: set && function (this: LightMessageEvent, to: unknown) { set.call(Light.complete(this), to) }
        })
  }

  Object.setPrototypeOf(prototype, StreamMessageEvent.prototype)
  Object.defineProperty(Light, 'name', { value: StreamMessageEvent.name })

  return Light as unknown as typeof StreamMessageEvent
}
