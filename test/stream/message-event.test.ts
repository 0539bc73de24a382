// That the event of a message is to programs what libp2p's own is, however it was made.
import { StreamMessageEvent } from '@libp2p/interface'
import { describe, expect, it } from 'vitest'
import { OwnMessageEvent } from '../../src/foreign/message-event.ts'

const data = Uint8Array.of(1, 2, 3)

/** All that a program can ask of it, but for when it was made, the obsolete initEvent(), and what the emitter itself answers */
const members = Reflect.ownKeys(Event.prototype).filter(key => !['constructor', 'timeStamp', 'initEvent', 'stopImmediatePropagation'].includes(String(key)) && !String(key).includes('inspect'))

function ask (evt: Event, key: PropertyKey): unknown {
  const value = (evt as any)[key]

  return typeof value === 'function' ? [value.call(evt), evt.defaultPrevented, evt.cancelBubble, evt.returnValue] : value
}

describe('The event of a message', () => {
  it('is an event of its kind', () => {
    const evt = new OwnMessageEvent(data)

    expect(evt).toBeInstanceOf(Event)
    expect(evt).toBeInstanceOf(StreamMessageEvent)
    expect(evt.constructor.name).toBe('StreamMessageEvent')
    expect(evt.data).toBe(data)
  })

  it.each(members.map(key => [String(key), key]))('answers %s as libp2p\'s does', (_, key) => {
    expect(ask(new OwnMessageEvent(data), key)).toEqual(ask(new StreamMessageEvent(data), key))
  })

  it('keeps what a program sets', () => {
    const [ours, theirs] = [new OwnMessageEvent(data), new StreamMessageEvent(data)]

    for (const evt of [ours, theirs]) {
      evt.cancelBubble = true
      evt.returnValue = false
    }

    expect([ours.cancelBubble, ours.returnValue]).toEqual([theirs.cancelBubble, theirs.returnValue])
  })

  it('has one time, which has come', () => {
    const evt = new OwnMessageEvent(data)
    const { timeStamp } = evt

    expect(timeStamp).toBeGreaterThan(0)
    expect(timeStamp).toBeLessThanOrEqual(performance.now())
    expect(evt.timeStamp).toBe(timeStamp)
  })

  it.skipIf(typeof document === 'object')('is made without the constructor of Event in Node, where that is slow: it has no time until it is asked for one', () => {
    const evt = new OwnMessageEvent(data)
    const madeMs = performance.now()

    while (performance.now() === madeMs) {
      // as time goes on
    }

    expect(evt.timeStamp).toBeGreaterThan(madeMs)
  })

  it('can be told again by another target', () => {
    const evt = new OwnMessageEvent(data)
    const target = new EventTarget()
    const told: Event[] = []
    target.addEventListener('message', again => { told.push(again) })

    expect(target.dispatchEvent(evt)).toBe(true)
    expect(told).toEqual([evt])
    expect(told[0]).toBe(evt)
  })
})
