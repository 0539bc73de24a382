// How long benchmarks wait until something has happened so many times.
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { untilCounted } from '../../testing/programs/clock.ts'

beforeEach(() => { vi.useFakeTimers() })
afterEach(() => { vi.useRealTimers() })

test('a count that grows is waited for, however slowly it does', async () => {
  let count = 0
  setInterval(() => { count++ }, 9000)
  const counted = untilCounted(() => count, 20, 10_000)
  await vi.advanceTimersByTimeAsync(20 * 9000 + 1000)

  expect(await counted).toBe(20)
})

test('a count that stands still for too long is returned as it is', async () => {
  const counted = untilCounted(() => 3, 20, 10_000)
  await vi.advanceTimersByTimeAsync(11_000)

  expect(await counted).toBe(3)
})
