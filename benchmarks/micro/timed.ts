// How long runs take, each of the same number of operations: the median of tinybench, after a third of the time as warm-up.
import { Bench } from 'tinybench'

export interface Run {
  run: () => void | Promise<void>
  /** Throws unless the last run did all of its work */
  check: () => void
}

/** Nanoseconds of one operation, by the name of the run */
export async function nsPerOperation (runs: Record<string, Run>, operationsPerRun: number, timeMs: number): Promise<Record<string, number>> {
  const bench = new Bench({ time: timeMs, warmupTime: timeMs / 3, throws: true })

  for (const [name, { run, check }] of Object.entries(runs)) {
    // outside of what is timed: once after the warm-up, once at the end
    bench.add(name, run, { afterAll: check })
  }

  await bench.run()

  return Object.fromEntries(bench.tasks.map(({ name, result }) => {
    if (!('latency' in result)) {
      throw new Error(`${name} was not timed: ${result.state}`)
    }

    return [name, result.latency.p50 * 1e6 / operationsPerRun]
  }))
}
