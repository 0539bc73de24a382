// How long a parent waits for the child processes of a benchmark.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { performance } from 'node:perf_hooks'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { createCommands, startChild } from '../../testing/programs/child.ts'
import { showLife, SIGN_OF_LIFE } from '../../testing/programs/parent.ts'
import type { ChildCommands } from './fixtures/child-process.ts'

const MINUTE_MS = 60_000

describe('a parent', () => {
  beforeEach(() => { vi.useFakeTimers() })
  afterEach(() => { vi.useRealTimers() })

  /** Of a child that never answers; `hear` is what its parent receives */
  function unanswered (): { outcome: Promise<unknown>, hear(message: unknown): void } {
    let hear = (_: unknown): void => {}
    const { commands } = createCommands<ChildCommands>('receiver', { post () {}, on (listener) { hear = listener } })

    return { outcome: commands.exit(0).catch((err: Error) => err.message), hear: message => { hear(message) } }
  }

  test('waits for as long as its child shows life', async () => {
    const { outcome, hear } = unanswered()
    const settled = vi.fn()
    outcome.finally(settled)

    for (let minute = 0; minute < 10; minute++) {
      await vi.advanceTimersByTimeAsync(MINUTE_MS - 1)
      hear(SIGN_OF_LIFE)
    }

    expect(settled).not.toHaveBeenCalled()
  })

  test('says which child has done nothing for a minute, in which step, and what to do', async () => {
    const { outcome } = unanswered()
    await vi.advanceTimersByTimeAsync(MINUTE_MS)

    expect(await outcome).toBe('The receiver has done nothing for 60 seconds in "exit". Close other programs and run it again. If that does not help, report it as a bug.')
  })
})

describe('a child', () => {
  /** How many signs it shows while its event loop works for such a part of each second */
  async function signsAt (utilization: number): Promise<number> {
    vi.useFakeTimers()
    vi.spyOn(performance, 'eventLoopUtilization').mockReturnValue({ idle: 0, active: 0, utilization })
    onTestFinished(() => { vi.useRealTimers().restoreAllMocks() })
    const post = vi.fn()
    showLife(post)
    await vi.advanceTimersByTimeAsync(10_000)

    return post.mock.calls.length
  }

  test('shows life while it works, on a machine that leaves it little', async () => {
    expect(await signsAt(0.01)).toBe(10)
  })

  test('shows none while it waits', async () => {
    expect(await signsAt(0.001)).toBe(0)
  })
})

describe('a child process', () => {
  test('shows life before it has loaded', async () => {
    const child = fork(new URL('../../testing/programs/entry.ts', import.meta.url), [new URL('fixtures/loading.ts', import.meta.url).href], { execArgv: [] })
    onTestFinished(() => { child.kill() })

    expect(await once(child, 'message')).toContain(SIGN_OF_LIFE)
  })

  test('is reported when it exits in a step, and in steps that come later', async () => {
    const { commands } = startChild<ChildCommands>(new URL('fixtures/child-process.ts', import.meta.url), 'sender')

    await expect(commands.exit(3)).rejects.toThrow('The sender has exited with code 3')
    await expect(commands.exit(3)).rejects.toThrow('The sender has exited with code 3')
  })
})
