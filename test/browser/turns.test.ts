// Turns of a page's event loop: browsers clamp nested timers to 4 ms, so none may be involved.
import { afterEach, expect, test, vi } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { ACK, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'

const TURNS = 100

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
})

test('`turn` sets none, in however many turns it writes', async () => {
  const { muxer, deliver, takeWrites } = createRawPeer()
  const stream = await muxer.createStream()
  deliver(windowUpdate(1, 1_000_000, ACK))
  const setTimer = vi.spyOn(globalThis, 'setTimeout')
  const setRepeated = vi.spyOn(globalThis, 'setInterval')

  for (let i = 0; i < TURNS; i++) {
    // each of them in a microtask of its own: more than are written at once, the rest is for the next turn
    for (let j = 0; j < 100; j++) {
      stream.send(pattern(100))
      await null
      await null
    }

    await nextTurn()
  }

  const writes = takeWrites()
  expect(writes.reduce((sum, { byteLength }) => sum + byteLength, 0)).toBeGreaterThan(TURNS * 100 * 100)
  expect(writes.length).toBeGreaterThan(TURNS)
  expect(setTimer).not.toHaveBeenCalled()
  expect(setRepeated).not.toHaveBeenCalled()
})

test('the next turn is not left to a setImmediate that a bundler has brought: it is a timer', async () => {
  const polyfill = vi.fn((task: () => void) => setTimeout(task, 0))
  vi.stubGlobal('setImmediate', polyfill)

  await new Promise<void>(resolve => { systemClock.nextTurn(resolve) })
  expect(polyfill).not.toHaveBeenCalled()
})

test('a turn waits for no clamped timer: far fewer of them than turns pass meanwhile', async () => {
  let timers = 0
  const onTimer = (): void => {
    timers++
    setTimeout(onTimer, 0)
  }
  onTimer()
  await vi.waitUntil(() => timers > 5)
  timers = 0

  for (let i = 0; i < TURNS; i++) {
    await new Promise<void>(resolve => { systemClock.nextTurn(resolve) })
  }

  // ten on an idle machine would be many, and as many as turns if each of them waited for one
  expect(timers).toBeLessThan(TURNS / 2)
})
