// Waiting that a signal may end: by one listener for all who wait, and by none when nobody does.
import { expect, test, vi } from 'vitest'
import { abortable } from '../../src/promises.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'

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

test('listens once to a signal, however many wait by it, and no more when nobody does', async () => {
  const { signal } = new AbortController()
  const added = vi.spyOn(signal, 'addEventListener')
  const removed = vi.spyOn(signal, 'removeEventListener')

  for (let round = 1; round <= 3; round++) {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = Array.from({ length: 100 }, async () => abortable(promise, signal))
    expect([added.mock.calls.length, removed.mock.calls.length]).toEqual([round, round - 1])
    resolve()
    await Promise.all(waiting)
    expect(removed.mock.calls.length).toBe(round)
  }

  expect(removed.mock.calls.map(([type, listener]) => [type, listener])).toEqual(added.mock.calls.map(([type, listener]) => [type, listener]))
})
