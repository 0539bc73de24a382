// Waiting that a signal may end: by one listener for all who wait, and by none when nobody does.
import { describe, expect, test, vi } from 'vitest'
import { abortable } from '../../src/foreign/promises.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { NO_SIGNALS, SIGNAL_KINDS } from './fixtures/signals.ts'

forbidIncidents()

test('settles as the promise does, with a signal and without', async () => {
  const { signal } = new AbortController()

  for (const by of [undefined, signal]) {
    expect(await abortable(Promise.resolve(1), by)).toBe(1)
    await expect(abortable(Promise.reject(new Error('Failed')), by)).rejects.toThrow('Failed')
  }
})

test('is rejected with the reason of the signal, for each that waits', async () => {
  const controller = new AbortController()
  const waiting = [1, 2, 3].map(async () => abortable(new Promise(() => {}), controller.signal))
  controller.abort(new Error('Enough'))

  for (const wait of waiting) {
    await expect(wait).rejects.toThrow('Enough')
  }
})

test('does not wait by a signal that was aborted before, and nobody hears of what the promise does', async () => {
  await expect(abortable(Promise.reject(new Error('Failed')), AbortSignal.abort(new Error('Enough')))).rejects.toThrow('Enough')
})

describe.each(Object.entries(SIGNAL_KINDS))('a signal that is %s', (_, create) => {
  test('is listened to once, however many wait by it, and no more when nobody does', async () => {
    const { signal } = create()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = signal.removeEventListener === undefined ? undefined : vi.spyOn(signal, 'removeEventListener')

    for (let round = 1; round <= 3; round++) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const waiting = Array.from({ length: 100 }, async () => abortable(promise, signal))
      expect(added).toHaveBeenCalledTimes(round)
      removed !== undefined && expect(removed).toHaveBeenCalledTimes(round - 1)
      resolve()
      await Promise.all(waiting)
    }

    removed !== undefined && expect(removed.mock.calls.map(([type, listener]) => [type, listener])).toEqual(added.mock.calls.map(([type, listener]) => [type, listener]))
  })

  test('ends each wait, with an error where it has no reason', async () => {
    const { signal, abort } = create()
    const waiting = [1, 2, 3].map(async () => abortable(new Promise(() => {}), signal))
    abort()

    for (const wait of waiting) {
      await expect(wait).rejects.toMatchObject(signal.reason === undefined ? { name: 'AbortError' } : { message: signal.reason.message })
    }
  })

  test('ends nothing when nobody waits any more', async () => {
    const { signal, abort } = create()
    expect(await abortable(Promise.resolve(1), signal)).toBe(1)
    await nextTurn()
    abort()
  })
})

test('a signal that fails when it is listened to leaves nothing behind: the next wait fails too', async () => {
  const signal = NO_SIGNALS['an object that does not listen'] as AbortSignal

  for (let i = 0; i < 2; i++) {
    await expect(abortable(new Promise(() => {}), signal)).rejects.toThrow('The signal fails')
  }
})

test('what is no signal is not waited for', async () => {
  const { 'an object that does not listen': _, ...others } = NO_SIGNALS

  for (const value of Object.values(others)) {
    expect(await abortable(Promise.resolve(1), value as AbortSignal)).toBe(1)
  }
})
