// How long runs take, each of the same number of operations: their median, behind a third of the time that does not count.
import { median } from 'simple-statistics'

/** Nanoseconds of one operation, by the name of the run */
export async function nsPerOperation (runs: Record<string, () => void | Promise<void>>, operationsPerRun: number, timeMs: number): Promise<Record<string, number>> {
  const figures: Record<string, number> = {}

  for (const [name, run] of Object.entries(runs)) {
    await repeat(run, timeMs / 3)
    figures[name] = median(await repeat(run, timeMs)) * 1e6 / operationsPerRun
  }

  return figures
}

/** What each run took, in milliseconds */
async function repeat (run: () => void | Promise<void>, timeMs: number): Promise<number[]> {
  const tookMs: number[] = []
  const beginMs = performance.now()

  for (let startMs = beginMs; startMs < beginMs + timeMs; startMs = performance.now()) {
    const running = run()

    if (running != null) {
      await running
    }

    tookMs.push(performance.now() - startMs)
  }

  return tookMs
}
