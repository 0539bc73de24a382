// `npm start`: the same work through each muxer in turn, then one table.
import { availableParallelism } from 'node:os'
import { Listr } from 'listr2'
import { muxerNames } from './contestants.ts'
import { parseMuxers, recordOptions, recordPathOf, thisBenchmark } from './harness/options.ts'
import { writeRecord } from './harness/record.ts'
import { parseCount } from '../testing/programs/names.ts'
import { readOptions } from '../testing/programs/options.ts'
import { groupTasks } from './matrix/tasks.ts'
import { describeFailures } from './matrix/measure.ts'
import { describeOthers, percentTakenByOthers } from './processors.ts'
import { renderMachine } from './harness/table.ts'
import { renderLegend, renderTable } from './report/table.ts'
import { describeDoubts, describeOutcome } from './report/verdict.ts'
import { findRow, rows } from './rows.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import { measureRelayedUplinks, relayedUplink, relayedUplinkLegend } from './uplink/relayed.ts'
import type { MuxerName } from './contestants.ts'
import type { Measuring } from './matrix/measure.ts'
import type { Row } from './rows.ts'
import type { StopAtEnd } from '../testing/programs/run.ts'

interface Options {
  muxers: MuxerName[]
  rounds: number
  /** Rounds that do not fit in are left out */
  budgetMs: number
  rows: Row[]
  hasUplink: boolean
  /** For all processes that are measured */
  nodeOptions: string[]
  json?: string
}

const AT_LEAST_MS = 250
const MAX_ROUNDS = 5
const BUDGET_MS = 120_000

function parseOptions (): Options {
  const known = [...rows, relayedUplink]
  const values = readOptions(thisBenchmark(), {
    muxers: { takes: 'names', isList: true, about: `who is compared, of ${muxerNames.join(', ')}`, default: 'ours,stock,mplex' },
    rounds: { takes: 'number', about: `how often; as often as ${BUDGET_MS / 1000} s allow, and ${MAX_ROUNDS} times at most, if it is left out` },
    only: { takes: 'rows', isList: true, about: 'some of the work', default: known.map(({ id }) => id).join() },
    'node-option': { takes: 'option', isList: true, about: 'of Node, for all processes that are measured, as --node-option=--trace-gc' },
    ...recordOptions
  })
  const asked = values.only.map(id => findRow(id, known))

  return {
    muxers: parseMuxers(values.muxers),
    rounds: values.rounds == null ? MAX_ROUNDS : parseCount('rounds', values.rounds),
    budgetMs: values.rounds == null ? BUDGET_MS : Infinity,
    rows: asked.filter(row => 'scenario' in row),
    hasUplink: asked.includes(relayedUplink),
    nodeOptions: values['node-option'],
    json: recordPathOf(values)
  }
}

/** The uplink too, in processes of its own: in the first round, and in each if their number was asked for */
async function measureAll ({ rows, muxers, rounds, budgetMs, hasUplink, nodeOptions }: Options, measuring: Measuring, stopAtEnd: StopAtEnd): Promise<void> {
  const tasks = groupTasks({
    group: { transport: 'tcp-noise', rows, muxers },
    measuring,
    nodeOptions,
    atLeastMs: AT_LEAST_MS,
    rounds,
    budgetMs,
    async afterRound (round) {
      if (hasUplink && (round === 1 || budgetMs === Infinity)) {
        measuring.report(`${relayedUplink.label.replace('\n', ' ')}, ${muxers.join(', ')}`)
        const measured = await measureRelayedUplinks(muxers, nodeOptions, stopAtEnd)
        measuring.samples.push(...measured.map((metrics, index) => ({ rowId: relayedUplink.id, muxer: muxers[index], transport: 'tcp-noise' as const, round, metrics })))
      }
    },
    stopAtEnd
  })

  // signals end the processes of the pairs, which makes the tasks fail
  await new Listr(tasks, { registerSignalListeners: false }).run()

  if (measuring.failures.length > 0) {
    throw new Error(describeFailures(measuring.failures))
  }
}

await runBenchmark(async stopAtEnd => {
  const options = parseOptions()
  const measuring: Measuring = { samples: [], failures: [], processors: [], report () {} }
  await measureAll(options, measuring, stopAtEnd)

  const { samples, processors } = measuring
  const tableRows = [...options.rows, ...options.hasUplink ? [relayedUplink] : []]

  // the rows that go at full speed tell: the uplink leaves processors idle, and has its muxers at the same time
  const doubts = [...describeOthers(percentTakenByOthers(processors, availableParallelism())), ...describeDoubts(samples, tableRows)]

  console.info(`\n${renderTable(samples, tableRows, options.muxers, process.stdout.columns)}\n`)
  console.info([renderMachine(), '', renderLegend(samples, AT_LEAST_MS), ...options.hasUplink ? relayedUplinkLegend : []].join('\n'))
  console.info(['', ...doubts.map(doubt => `! ${doubt}\n`), 'What it comes to for ours:', ...describeOutcome(samples, tableRows)].join('\n'))

  if (options.json != null) {
    await writeRecord(options.json, { extent: `${Math.max(...samples.map(({ round }) => round))} rounds`, samples })
  }
})
