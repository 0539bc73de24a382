/**
 * The event of a message where events are JavaScript, as in Node: made without the constructor of `Event`. All kinds of events share that one,
 * and a program has more than the four that V8 keeps apart, so each of its ten fields is looked up: 460 ns for an event, not 90, and a
 * third of what a receiver of small messages did. Hot.
 */
import { StreamMessageEvent } from '@libp2p/interface'
import { targeted } from './emitter.ts'
import { attempt } from './values.ts'
import type { Uint8ArrayList } from 'uint8arraylist'

type Message = Uint8Array | Uint8ArrayList

/** What listeners ask for; all else is asked of an event that is made when somebody asks, so `timeStamp` is of then */
class LightMessageEvent {
  readonly data: Message
  #whole: Event | undefined

  constructor (data: Message) {
    this.data = data
  }

  get type (): string {
    return 'message'
  }

  /** Nobody can prevent what a message does */
  get defaultPrevented (): boolean {
    return false
  }

  static whole (evt: LightMessageEvent): Event {
    evt.#whole ??= new StreamMessageEvent(evt.data)

    return evt.#whole
  }
}

const OwnLightEvent = targeted(asEvent(LightMessageEvent))

/** A native dispatchEvent() takes only native events, and jsdom's only its own. A shim keeps what it knows in its events, not in the prototype. */
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
      ? { ...rest, value (this: LightMessageEvent, ...args: unknown[]) { return value.apply(Light.whole(this), args) } }
      : {
          configurable: true,
          get (this: LightMessageEvent) { return get.call(Light.whole(this)) },
          set: set && function (this: LightMessageEvent, to: unknown) { set.call(Light.whole(this), to) }
        })
  }

  Object.setPrototypeOf(prototype, StreamMessageEvent.prototype)
  Object.defineProperty(Light, 'name', { value: StreamMessageEvent.name })

  return Light as unknown as typeof StreamMessageEvent
}
