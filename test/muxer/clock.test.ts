// The clock of all connections while an application installs fake timers, moves them and removes them.
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'

afterEach(() => { vi.useRealTimers() })

// first, as the process is youngest then
test('fake timers make a stream idle for as long as they advance, in a process of any age', async () => {
  systemClock.nowMs()
  vi.useFakeTimers()
  const { muxer } = createRawPeer({ clock: systemClock, streamOptions: { inactivityTimeout: 5000 } })
  const stream = await muxer.createStream()

  await vi.advanceTimersByTimeAsync(4999)
  await nextTurn()
  expect(stream.status).toBe('open')

  // checks are an eighth of the timeout apart
  await vi.advanceTimersByTimeAsync(626)
  await nextTurn()
  expect(stream.status).toBe('aborted')
})

test('time goes on from where it was when its source goes back, at the speed of the source', () => {
  const beganMs = systemClock.nowMs()
  const now = vi.spyOn(performance, 'now').mockReturnValue(1000)
  systemClock.nowMs()
  const tookMs = [1000.5, 0, 0, 20, 5, 5.25, 4000].map(ms => {
    now.mockReturnValue(ms)

    return systemClock.nowMs()
  })

  expect(tookMs[0]).toBeCloseTo(beganMs + 0.5, 6)
  expect(tookMs.map(ms => Number((ms - tookMs[0]).toFixed(6)))).toEqual([0, 0, 0, 20, 20, 20.25, 4015])
  now.mockRestore()
})

test.each([1, 500, 5000, 1e9])('fake timers that advance by %i ms advance it by as much, and their end does not move it', byMs => {
  const beforeMs = systemClock.nowMs()
  vi.useFakeTimers()
  const beganMs = systemClock.nowMs()
  vi.advanceTimersByTime(byMs)
  const endedMs = systemClock.nowMs()
  vi.useRealTimers()

  expect(beganMs).toBe(beforeMs)
  expect(endedMs - beganMs).toBeCloseTo(byMs, 3)
  expect(systemClock.nowMs()).toBe(endedMs)
})

test('rounding does not set it back where its source changes', () => {
  const timesMs = Array.from({ length: 200 }, (_, i) => {
    performance.now = () => 1000 * 1.1 ** i

    return systemClock.nowMs()
  })

  Reflect.deleteProperty(performance, 'now')
  expect(timesMs).toEqual(new Array(200).fill(timesMs[0]))
})
