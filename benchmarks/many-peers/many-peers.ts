// What answers of 50 peers cost a node in CPU, while V8 still compiles and later.
import { startChild } from '../../testing/programs/child.ts'
import { byId } from '../../testing/programs/names.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { manyPeersRows, MESSAGE_BYTES, PEERS, PERIOD_MS, STREAMS_PER_PEER } from './workload.ts'
import type { MuxerName } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Answered, PeerCommands } from './end-process.ts'
import type { ManyPeersRow } from './workload.ts'

type Metric = 'firstCpuUs' | 'laterCpuUs' | 'answersPerS' | 'records'

/** Between the first and the later measurement */
const SECONDS_BETWEEN = 10

const columns = [
  figure('answers\n/s', 'answersPerS'),
  figure('records', 'records'),
  figure('first\nCPU µs', 'firstCpuUs'),
  times('first', 'firstCpuUs', 'stock'),
  times('first', 'firstCpuUs', 'mplex'),
  figure('later\nCPU µs', 'laterCpuUs'),
  times('later', 'laterCpuUs', 'stock'),
  times('later', 'laterCpuUs', 'mplex')
]

const peer = new URL('./end-process.ts', import.meta.url)

function startSession (muxer: MuxerName, row: ManyPeersRow): { measure(seconds: number): Promise<Record<Metric, number>>, stop(): Promise<void> } {
  const children = ['node', 'process of its peers'].map(title => startChild<PeerCommands>(peer, title))
  const [node, peers] = children.map(({ commands }) => commands)
  const cpuUs = ({ cpuMs, answers }: Answered): number => cpuMs * 1000 / answers

  return {
    async measure (seconds) {
      await peers.ask(muxer, await node.listen(muxer), row)
      const first = await node.answered(seconds * 1000)
      await node.answered(SECONDS_BETWEEN * 1000)
      const later = await node.answered(seconds * 1000)
      await peers.stopAsking()

      return { firstCpuUs: cpuUs(first), laterCpuUs: cpuUs(later), answersPerS: later.answers / seconds, records: later.noiseRecords / later.answers }
    },

    async stop () {
      await Promise.all(children.map(async child => child.stop()))
    }
  }
}

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds, seconds }, own } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,stock,mplex',
    counts: { rounds: 5, seconds: 5 },
    own: { only: { takes: 'rows', isList: true, about: 'some of the work', default: manyPeersRows.map(({ id }) => id).join() } }
  })
  const rows = own.only.map(id => byId('row', id, manyPeersRows))
  const samples: Array<Sample<Metric>> = []

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      measure: async ({ muxer }) => endAfter(startSession(muxer, row), stopAtEnd, async session => session.measure(seconds)),
      describe: ({ firstCpuUs, laterCpuUs }) => `${format(firstCpuUs)}, then ${format(laterCpuUs)} µs of CPU an answer`
    }))
  }

  const legend = [
    `CPU of a node, all threads, and Noise records that it writes, for each answer to ${PEERS} peers that ask on ${STREAMS_PER_PEER} streams each, ${MESSAGE_BYTES} B every ${PERIOD_MS} ms on each, and get the same back.`,
    `First: the ${seconds} s behind the last peer's first question. Later: as long, ${SECONDS_BETWEEN} s behind that. All peers are one process, both are new for each`,
    'measurement; TCP on the loopback interface, Noise; everything is verified. × stock, × mplex compare within each round: median (lowest–highest), below 1 is better'
  ].join('\n')

  await report({ tables: [renderSamples(samples, rows, muxers, columns)], extent: `${rounds} rounds of ${seconds} s`, legend, json, measured: { samples } })
})
