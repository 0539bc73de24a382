// Bulk in processes that are new: when V8 collects garbage is decided by what a process has done before, and most programs are young.
import { transportNames, transports } from './contestants.ts'
import { byId, oneOf } from '../testing/programs/names.ts'
import { parseOptions, plainContestants } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { endAfter, runBenchmark } from '../testing/programs/run.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { startPair } from './pair/pair.ts'
import { toMetrics } from './report/metrics.ts'
import { bulkRows } from './rows.ts'
import type { Sample } from './harness/samples.ts'
import type { Metrics } from './report/metrics.ts'

/** Three or four units of 48 MiB, behind one that does not count */
const AT_LEAST_MS = 600

const columns = [
  figure('MB/s', 'megabytesPerS'),
  times('rate', 'megabytesPerS', 'stock'),
  times('rate', 'megabytesPerS', 'mplex'),
  figure('sender\nCPU s\nper GB', 'senderCpuSPerGigabyte'),
  figure('receiver\nCPU s\nper GB', 'receiverCpuSPerGigabyte'),
  figure('both', 'bothCpuSPerGigabyte'),
  times('CPU', 'bothCpuSPerGigabyte', 'stock'),
  figure('GC %\nsender', 'senderGcPercent'),
  figure('GC %\nreceiver', 'receiverGcPercent'),
  figure('writes\nper MB', 'socketWritesPerMegabyte')
]

const legend = [
  'Payload that arrives in a second, and the user and system time of both processes. Two new processes for each measurement, the loopback',
  'interface; 48 MiB go before what is measured, which is the same and 0.6 s or more. Everything that arrives is verified.',
  'GC        part of the time in which the main thread stood still for a collection',
  '×         within each round: median (lowest–highest)'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds }, own } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,ours-unbounded,stock,mplex',
    counts: { rounds: 8 },
    own: {
      only: { takes: 'rows', isList: true, about: 'some of the work', default: bulkRows.map(({ id }) => id).join() },
      transport: { takes: 'name', about: `one of ${transportNames.join(', ')}`, default: 'tcp-noise', isVariant: true },
      node: { takes: 'options', about: 'of Node, for all processes, with blanks between them', default: '', isVariant: true }
    }
  })
  const transport = oneOf('transport', own.transport, transportNames)
  const nodeOptions = own.node.split(' ').filter(option => option !== '')
  const rows = own.only.map(id => byId('row', id, bulkRows))
  const samples: Array<Sample<keyof Metrics>> = []

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      measure: async ({ muxer }) => endAfter(startPair({ muxer, transport, nodeOptions }), stopAtEnd, async pair => {
        await pair.ready

        return toMetrics(row, await pair.measure(row, AT_LEAST_MS))
      }),
      describe: ({ megabytesPerS, bothCpuSPerGigabyte }) => `${format(megabytesPerS)} MB/s, ${format(bothCpuSPerGigabyte)} s of CPU per GB`
    }))
  }

  await report({ tables: [renderSamples(samples, rows, muxers, columns)], extent: `${rounds} rounds, ${transports[transport]}${own.node === '' ? '' : `, node ${own.node}`}`, legend, json, measured: { samples } })
})
