// How long runs take, each of the same number of operations: the median of tinybench.
import { Bench } from 'tinybench'

/** Nanoseconds of one operation, by the name of the run */
export async function nsPerOperation (runs: Record<string, () => void | Promise<void>>, operationsPerRun: number, timeMs: number): Promise<Record<string, number>> {
  const bench = new Bench({ time: timeMs, warmupTime: timeMs / 3, throws: true })

  for (const [name, run] of Object.entries(runs)) {
    bench.add(name, run)
  }

  await bench.run()

  return Object.fromEntries(bench.tasks.map(({ name, result }) => {
    if (!('latency' in result)) {
      throw new Error(`There is no result for ${name}: ${JSON.stringify(result)}`)
    }

    return [name, result.latency.p50 * 1e6 / operationsPerRun]
  }))
}
