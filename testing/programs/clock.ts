// One clock for all processes of a machine, and what is due or waited for by a clock.

/** Milliseconds of the system's monotonic clock, which has the same zero everywhere, unlike performance.timeOrigin */
export function nowMs (): number {
  return Number(process.hrtime.bigint()) / 1e6
}

const POLL_MS = 50

/** Waits until the count is reached, and no longer than `stallMs` while it stands still. Returns what it has come to */
export async function untilCounted (count: () => number | Promise<number>, expected: number, stallMs: number): Promise<number> {
  let counted = await count()
  let changedMs = nowMs()

  while (counted < expected && nowMs() - changedMs < stallMs) {
    await sleep(POLL_MS)
    const before = counted
    counted = await count()

    if (counted !== before) {
      changedMs = nowMs()
    }
  }

  return counted
}

/** Unlike that of node:timers/promises it is virtual in a simulation */
async function sleep (forMs: number): Promise<void> {
  return new Promise(resolve => { setTimeout(resolve, forMs) })
}

/** Calls `onDue` with the number of each message and when it was due, if possible then */
export async function eachInterval (count: number, intervalMs: number, nowMs: () => number, onDue: (message: number, dueMs: number) => void): Promise<void> {
  const startMs = nowMs()

  for (let message = 0; message < count; message++) {
    const dueMs = startMs + message * intervalMs
    const missingMs = Math.ceil(dueMs - nowMs())

    if (missingMs > 0) {
      await sleep(missingMs)
    }

    onDue(message, dueMs)
  }
}
