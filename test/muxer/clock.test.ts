// The clock of all connections, when what it reads goes back, as under an application's fake timers.
import { expect, test } from 'vitest'
import { continuous } from '../../src/host/clock.ts'

test('time goes on from where it was each time that its source goes back, and follows the source again once that is later', () => {
  let readMs = 0
  const nowMs = continuous(() => readMs)

  const timesMs = [1000, 1000.5, 0, 0, 20, 5, 5.25, 4000].map(ms => {
    readMs = ms

    return nowMs()
  })

  expect(timesMs).toEqual([1000, 1000.5, 1000.5, 1000.5, 1020.5, 1020.5, 1020.75, 4000])
})
