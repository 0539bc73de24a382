// What a lone request costs on an otherwise idle connection, for each strategy: no strategy may make it wait.
import { parseOptions, plainContestants } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { startPair } from './pair/pair.ts'
import { toMetrics } from './report/metrics.ts'
import { findRow, idleRows, rows } from './rows.ts'
import type { Sample } from './harness/samples.ts'
import type { Metrics } from './report/metrics.ts'

const AT_LEAST_MS = 1500
/** Of requests without pauses, of each kind: 200 a second compile little code, and it is not a node's first minute that is asked for */
const WARM_UP_MS = 3000
const warmUpRows = ['requests-1', 'requests'].map(id => findRow(id, rows))

const columns = [
  figure('p50\nms', 'p50Ms'),
  figure('p99\nms', 'p99Ms'),
  times('p50', 'p50Ms', 'ours-off', 'off'),
  times('p50', 'p50Ms', 'stock')
]

const legend = [
  'Time from opening the stream of a 100-byte request, or from sending it where the stream is open already, to its',
  'whole reply. Nothing else is in flight: each request waits for the reply to the one before and 5 ms more. Both',
  'processes are kept awake. Two processes per muxer, TCP on the loopback interface, Noise; everything that arrives is verified.',
  '× off and × stock compare p50 within each round: median (lowest–highest), above 1 is slower'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds } } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,ours-delay,ours-adaptive,ours-off,stock',
    counts: { rounds: 5 }
  })
  const contestants = muxers.map(contestant => ({ ...contestant, pair: startPair(contestant) }))
  const samples: Array<Sample<keyof Metrics>> = []

  stopAtEnd(contestants.map(({ pair }) => pair))
  await Promise.all(contestants.map(async ({ pair }) => pair.ready))

  for (const row of warmUpRows) {
    for (const { pair } of contestants) {
      console.info(`Warm up, ${row.label}, ${pair.muxer}`)
      await pair.measure(row, WARM_UP_MS)
    }
  }

  for (const row of idleRows) {
    samples.push(...await runRounds({
      row,
      contestants,
      rounds,
      measure: async ({ pair }) => toMetrics(row, await pair.measure(row, AT_LEAST_MS)),
      describe: ({ p50Ms }) => `p50 ${format(p50Ms)} ms`
    }))
  }

  await report({ tables: [renderSamples(samples, idleRows, muxers, columns)], extent: `${rounds} rounds`, legend, json, measured: { samples } })
})
