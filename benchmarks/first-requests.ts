// What the first lone requests of new processes take: V8 compiles meanwhile, on cores that both ends keep busy.
import { parseOptions, plainContestants } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { endAfter, runBenchmark } from '../testing/programs/run.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { startPair } from './pair/pair.ts'
import { firstRequestsRows } from './rows.ts'
import type { Sample } from './harness/samples.ts'

/** Units of 250 requests, all of them counted from the first request on */
const AFTER_UNITS = [1, 2, 4, 8, 16]
const UNITS = AFTER_UNITS[AFTER_UNITS.length - 1]
/** The same in requests */
const metrics = ['ms250', 'ms500', 'ms1000', 'ms2000', 'ms4000'] as const

type FirstMetric = typeof metrics[number]

const columns = [
  figure<FirstMetric>('4,000\nms', 'ms4000'),
  times<FirstMetric>('250', 'ms250', 'stock'),
  times<FirstMetric>('500', 'ms500', 'stock'),
  times<FirstMetric>('1,000', 'ms1000', 'stock'),
  times<FirstMetric>('2,000', 'ms2000', 'stock'),
  times<FirstMetric>('4,000', 'ms4000', 'stock')
]

const legend = [
  'Time from the first request of a new process to the reply to its 250th, 500th and so on: 100 bytes each way, one after the other, on one',
  'stream or on one each, opened, negotiated and closed. Two new processes for each measurement, both kept awake, TCP on the loopback interface, Noise; all is verified.',
  '× stock compares within each round: median (lowest–highest), above 1 is slower'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds } } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,stock,mplex',
    counts: { rounds: 15 }
  })
  const samples: Array<Sample<FirstMetric>> = []

  for (const row of firstRequestsRows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      measure: async ({ muxer }) => endAfter(startPair({ muxer }), stopAtEnd, async pair => {
        await pair.ready
        const tookMs = await pair.measureFirst(row, UNITS)
        const upToMs = AFTER_UNITS.map(units => tookMs.slice(0, units).reduce((sum, ms) => sum + ms, 0))

        return Object.fromEntries(metrics.map((metric, i) => [metric, upToMs[i]])) as Record<FirstMetric, number>
      }),
      describe: ({ ms4000 }) => `${format(ms4000)} ms`
    }))
  }

  await report({ tables: [renderSamples(samples, firstRequestsRows, muxers, columns)], extent: `${rounds} rounds`, legend, json, measured: { samples } })
})
