// How many turns of its event loop a program needs that works in each of them: one that reads, and one that answers. Counted in turns, not in time.
import { byId } from '../../testing/programs/names.ts'
import { parseOptions, plainContestants } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { endAfter, runBenchmark } from '../../testing/programs/run.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { startSession } from './session.ts'
import { busyRows, SENT_MESSAGE_BYTES } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { BusyMetrics } from './workload.ts'

const columns = [
  figure('turns', 'turns'),
  times('turns', 'turns', 'stock'),
  figure('turns,\nlater', 'laterTurns')
]

const legend = [
  'Turns of the event loop of a process that works in each of them, from when the other one began to send until everything has arrived.',
  `A reader gets all of it on one stream, in messages of ${SENT_MESSAGE_BYTES / 1024} KiB, as fast as back-pressure lets the sender. A server gets its requests at once,`,
  'each on a stream of its own, and everything is the answers. Two new processes for each measurement, TCP on the loopback interface, Noise;',
  'connection and streams are open before the work begins; everything that arrives is verified. Later: the same requests once more.',
  '× stock compares within each round: median (lowest–highest), above 1 is slower'
].join('\n')

await runBenchmark(async stopAtEnd => {
  const { muxers, json, counts: { rounds }, own } = parseOptions({
    contestants: plainContestants,
    usual: 'ours,ours-unbounded,stock,mplex',
    counts: { rounds: 3 },
    own: { only: { takes: 'rows', isList: true, about: 'some of the work', default: busyRows.map(({ id }) => id).join() } }
  })
  const rows = own.only.map(id => byId('row', id, busyRows))
  const samples: Array<Sample<keyof BusyMetrics>> = []

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      measure: async ({ muxer }) => endAfter(startSession(muxer, row), stopAtEnd, async session => session.measure()),
      describe: ({ turns }) => `${format(turns)} turns`
    }))
  }

  await report({ tables: [renderSamples(samples, rows, muxers, columns)], extent: `${rounds} rounds`, legend, json, measured: { samples } })
})
