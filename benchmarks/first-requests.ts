// What the first lone requests of new processes take: V8 compiles meanwhile, on cores that both ends keep busy.
import { parseOptions, plainContestants } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { endAfter, runBenchmark } from '../testing/programs/run.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { startPair } from './pair/pair.ts'
import { FIRST_REQUESTS_PER_UNIT, firstRequestsRows } from './rows.ts'
import type { Sample } from './harness/samples.ts'

const REQUESTS = 4000
/** How many requests a figure is of, from the second on. The first one has a figure of its own. */
const COUNTS = [250, 500, 1000, 2000, REQUESTS]

type FirstMetric = `ms${number}`

function upTo (count: number): FirstMetric {
  return `ms${count}`
}

const columns = [
  figure(`${REQUESTS.toLocaleString('en')}\nms`, upTo(REQUESTS)),
  ...[1, ...COUNTS].map(count => times(count.toLocaleString('en'), upTo(count), 'stock'))
]

const legend = [
  'Time of the first request of a new process, and of the next 250, 500 and so on: 100 bytes or 200 kB each way, one after the other, on one',
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
        const [firstMs] = await pair.measureFirst({ ...row, unitBytesPerStream: row.messageBytes }, 1)
        const tookMs = await pair.measureFirst(row, REQUESTS / FIRST_REQUESTS_PER_UNIT)
        const metrics: Record<FirstMetric, number> = { ms1: firstMs }

        for (const count of COUNTS) {
          metrics[upTo(count)] = tookMs.slice(0, count / FIRST_REQUESTS_PER_UNIT).reduce((sum, ms) => sum + ms, 0)
        }

        return metrics
      }),
      describe: metrics => `${format(metrics[upTo(REQUESTS)])} ms`
    }))
  }

  await report({ tables: [renderSamples(samples, firstRequestsRows, muxers, columns)], extent: `${rounds} rounds`, legend, json, measured: { samples } })
})
