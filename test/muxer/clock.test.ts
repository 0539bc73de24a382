// The clock of all connections, when what it reads goes back, as under an application's fake timers.
import { expect, test, vi } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'

const LATER_MS = 1e9

test('time goes on from where it was each time that its source goes back, and follows the source again once that is later', () => {
  const now = vi.spyOn(performance, 'now')
  const timesMs = [1000, 1000.5, 0, 0, 20, 5, 5.25, 4000].map(ms => {
    now.mockReturnValue(LATER_MS + ms)

    return systemClock.nowMs() - LATER_MS
  })

  now.mockRestore()
  expect(timesMs).toEqual([1000, 1000.5, 1000.5, 1000.5, 1020.5, 1020.5, 1020.75, 4000])
})
