// Who listens to a stream or a muxer, how listeners are counted and removed, and what happens when they fail.
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { GuardedEmitter } from '../../src/foreign/emitter.ts'
import { quietMicrotasks } from '../../testing/protocol/raw-peer.ts'
import { SIGNAL_KINDS } from '../muxer/fixtures/signals.ts'

interface News {
  news: Event
  other: Event
}

class Emitter extends GuardedEmitter<News> {
  readonly failures: Array<[err: Error, type: string]> = []

  onListenerError (err: Error, { type }: Event): void {
    this.failures.push([err, type])
  }
}

let emitter: Emitter
let heard: string[]

beforeEach(() => {
  emitter = new Emitter()
  heard = []
})

function hear (name: string): () => void {
  return () => { heard.push(name) }
}

function announce (): string[] {
  heard = []
  emitter.safeDispatchEvent('news')

  return heard
}

describe('listeners', () => {
  test('hear what they listen to, functions and objects alike, in the order they came', () => {
    emitter.addEventListener('news', hear('a function'))
    emitter.addEventListener('news', { handleEvent: hear('an object') })
    emitter.addEventListener('other', hear('something else'))

    expect(announce()).toEqual(['a function', 'an object'])
  })

  test('are called with the event, objects as their own and functions as the emitter\'s, as with any EventTarget', () => {
    const seen: unknown[] = []
    const object = { handleEvent (evt: Event) { seen.push(this, evt.type) } }
    emitter.addEventListener('news', object)
    emitter.addEventListener('news', function (this: unknown) { seen.push(this) } as () => void)
    announce()

    expect(seen).toEqual([object, 'news', emitter])
  })

  test('find in the event whose it is, in one made by anybody', () => {
    const seen: unknown[] = []
    const made = new Event('news')
    emitter.addEventListener('news', ({ target, srcElement, currentTarget }) => { seen.push(target, srcElement, currentTarget) })
    emitter.dispatchEvent(made)
    emitter.safeDispatchEvent('news')

    expect(seen).toEqual([emitter, emitter, emitter, emitter, emitter, emitter])
    expect([made.target, made.currentTarget]).toEqual([emitter, null])
  })

  test('may keep an event from those behind them, as often as it is dispatched', () => {
    const made = new Event('news')
    emitter.addEventListener('news', hear('the first'))
    emitter.addEventListener('news', evt => {
      if (heard.length < 2) {
        evt.stopImmediatePropagation()
      }
    })
    emitter.addEventListener('news', hear('the last'))

    emitter.dispatchEvent(made)
    expect(heard).toEqual(['the first'])
    emitter.dispatchEvent(made)
    expect(heard).toEqual(['the first', 'the first', 'the last'])
  })

  test('that prevent the default are seen by who dispatches', () => {
    emitter.addEventListener('news', evt => { evt.preventDefault() })

    expect(emitter.dispatchEvent(new Event('news', { cancelable: true }))).toBe(false)
    expect(emitter.dispatchEvent(new Event('news'))).toBe(true)
  })

  test('that another removes or adds while the event is told are left out', () => {
    const removed = hear('removed')
    emitter.addEventListener('news', () => {
      emitter.removeEventListener('news', removed)
      emitter.addEventListener('news', hear('added'))
    }, { once: true })
    emitter.addEventListener('news', removed)
    emitter.addEventListener('news', hear('the last'))

    expect(announce()).toEqual(['the last'])
    expect(announce()).toEqual(['the last', 'added'])
  })

  test('within each other beyond 32 are told later, in the order of the events', async () => {
    const deepest: number[] = []
    let depth = 0
    let next = 0
    emitter.addEventListener('news', () => {
      const number = next++
      deepest.push(++depth)

      if (number < 100) {
        emitter.safeDispatchEvent('news')
        emitter.safeDispatchEvent('other')
      }

      depth--
    })
    emitter.addEventListener('other', hear(''))
    announce()
    expect(next).toBe(32)

    await quietMicrotasks()
    expect(Math.max(...deepest)).toBe(32)
    expect([next, heard.length]).toEqual([101, 100])
  })

  test('that are not there cost no event', () => {
    const dispatchEvent = vi.spyOn(emitter, 'dispatchEvent')
    emitter.addEventListener('other', hear('other'))

    expect(emitter.safeDispatchEvent('news')).toBe(true)
    expect(dispatchEvent).not.toHaveBeenCalled()
    expect(emitter.safeDispatchEvent('other')).toBe(true)
    expect(dispatchEvent).toHaveBeenCalledOnce()
  })

  test('are counted by type', () => {
    expect(emitter.listenerCount('news')).toBe(0)

    emitter.addEventListener('news', hear('one'))
    emitter.addEventListener('news', hear('two'))
    emitter.addEventListener('other', hear('three'))
    expect(emitter.listenerCount('news')).toBe(2)
    expect(emitter.listenerCount('other')).toBe(1)
    expect(emitter.listenerCount('nothing')).toBe(0)
  })

  test('that are added again are not called twice, unless they capture', () => {
    const listener = hear('it')
    emitter.addEventListener('news', listener)
    emitter.addEventListener('news', listener, { once: true })
    emitter.addEventListener('news', listener, false)
    expect(announce()).toEqual(['it'])

    emitter.addEventListener('news', listener, true)
    emitter.addEventListener('news', listener, { capture: true })
    expect(announce()).toEqual(['it', 'it'])
    expect(emitter.listenerCount('news')).toBe(2)
  })

  test('that are removed are not called, others with the same function are', () => {
    const listener = hear('it')
    emitter.addEventListener('news', listener)
    emitter.addEventListener('news', listener, { capture: true })
    emitter.addEventListener('other', listener)
    emitter.removeEventListener('news', listener, true)
    expect(announce()).toEqual(['it'])

    emitter.removeEventListener('news', listener)
    expect(announce()).toEqual([])
    expect(emitter.listenerCount('news')).toBe(0)
    expect(emitter.listenerCount('other')).toBe(1)
  })

  test('that nobody added can be removed', () => {
    emitter.addEventListener('news', hear('it'))
    emitter.removeEventListener('news', hear('another'))
    emitter.removeEventListener('other', null)

    expect(announce()).toEqual(['it'])
  })

  test('that are nothing are not added', () => {
    emitter.addEventListener('news', null)

    expect(emitter.listenerCount('news')).toBe(0)
  })

  test('are added and removed with options that are null, as with any EventTarget', () => {
    const listen = (): void => {}
    emitter.addEventListener('news', listen, null as any)
    expect(emitter.listenerCount('news')).toBe(1)
    emitter.removeEventListener('news', listen, null as any)

    expect(emitter.listenerCount('news')).toBe(0)
  })

  test('that are to be called once are, and not counted behind it, also when they dispatch the event again', () => {
    emitter.addEventListener('news', () => {
      heard.push(`with ${emitter.listenerCount('news')} left`)
      emitter.safeDispatchEvent('news')
    }, { once: true })

    expect(announce()).toEqual(['with 0 left'])
    expect(announce()).toEqual([])
  })

  test.each(Object.entries(SIGNAL_KINDS))('go with their signal: %s', (_, create) => {
    const { signal, abort } = create()
    emitter.addEventListener('news', hear('it'), { signal })
    expect(announce()).toEqual(['it'])

    abort()
    expect(announce()).toEqual([])
    expect(emitter.listenerCount('news')).toBe(0)

    emitter.addEventListener('news', hear('late'), { signal })
    expect(emitter.listenerCount('news')).toBe(0)
  })

  test.each(Object.entries(SIGNAL_KINDS))('that are removed leave nothing with their signal, %s: added again, they stay when it aborts', (_, create) => {
    const { signal, abort } = create()
    const listener = hear('it')
    emitter.addEventListener('news', hear('another'))
    emitter.addEventListener('news', listener, { signal })
    emitter.removeEventListener('news', listener)
    emitter.addEventListener('news', listener)
    abort()

    expect(announce()).toEqual(['another', 'it'])
  })

  test('that fail are told to the emitter, and the next are called', async () => {
    const [thrown, rejected] = [new Error('thrown'), new Error('rejected')]
    emitter.addEventListener('news', () => { throw thrown })
    emitter.addEventListener('news', async () => { throw rejected })
    emitter.addEventListener('news', () => { JSON.parse('{') })
    emitter.addEventListener('news', hear('the last'))

    expect(announce()).toEqual(['the last'])
    await quietMicrotasks()
    expect(emitter.failures).toEqual([[thrown, 'news'], [expect.any(SyntaxError), 'news'], [rejected, 'news']])
  })
})
