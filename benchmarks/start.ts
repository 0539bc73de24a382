// `npm start`: the same work through each muxer in turn, then one table.
import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { Listr } from 'listr2'
import { muxerNames } from './contestants.ts'
import { parseMuxers } from './harness/options.ts'
import { parseCount } from '../testing/programs/names.ts'
import { readOptions } from '../testing/programs/options.ts'
import { startPair } from './pair/pair.ts'
import { describeOthers, percentTakenByOthers } from './processors.ts'
import { toMetrics } from './report/metrics.ts'
import { renderMachine } from './harness/table.ts'
import { drawSmallMessages, ratesOf } from './report/small-messages-chart.ts'
import { writeCharts } from './report/svg.ts'
import { renderLegend, renderTable } from './report/table.ts'
import { describeDoubts, describeOutcome, isOfSmallMessages } from './report/verdict.ts'
import { findRow, rows } from './rows.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import { measureRelayedUplinks, relayedUplink, relayedUplinkLegend } from './uplink/relayed.ts'
import type { MuxerName } from './contestants.ts'
import type { Pair } from './pair/pair.ts'
import type { CellSample, Sample } from './report/metrics.ts'
import type { Row } from './rows.ts'
import type { Stoppable } from '../testing/programs/run.ts'
import type { ListrTask } from 'listr2'

interface Options {
  muxers: MuxerName[]
  rounds: number
  /** Rounds that do not fit in are left out */
  budgetMs: number
  rows: Row[]
  /** Measured beside the rows, in processes of its own: in the first round, and in each if their number was asked for */
  hasUplink: boolean
  /** For all processes that are measured */
  nodeOptions: string[]
  jsonPath?: string
  chartPath?: string
}

/** Of the uplink there is no unit of work that was measured */
type TimedSample = CellSample & Partial<Sample>
type RoundSample = Omit<TimedSample, 'round'>

const AT_LEAST_MS = 250
const MAX_ROUNDS = 5
const BUDGET_MS = 85_000

function parseOptions (): Options {
  const known = [...rows, relayedUplink]
  const values = readOptions({ command: 'npm start --', about: 'the same work through each muxer in turn, over TCP and Noise' }, {
    muxers: { takes: 'names', isList: true, about: `who is compared, of ${muxerNames.join(', ')}`, default: 'ours,stock,mplex' },
    rounds: { takes: 'number', about: `how often; as often as ${BUDGET_MS / 1000} s allow, and ${MAX_ROUNDS} times at most, if it is left out` },
    only: { takes: 'rows', isList: true, about: 'some of the work', default: known.map(({ id }) => id).join() },
    'node-option': { takes: 'option', isList: true, about: 'of Node, for all processes that are measured, as --node-option=--trace-gc' },
    json: { takes: 'path', about: 'writes all that was measured there' },
    chart: { takes: 'path', about: 'draws small messages there as SVG, and for dark pages beside it' }
  })
  const asked = values.only.map(id => findRow(id, known))

  if (values.chart != null && !asked.some(isOfSmallMessages)) {
    throw new Error('--chart draws small messages, and none are to be measured: add --only 1x100')
  }

  return {
    muxers: parseMuxers(values.muxers),
    rounds: values.rounds == null ? MAX_ROUNDS : parseCount('rounds', values.rounds),
    budgetMs: values.rounds == null ? BUDGET_MS : Infinity,
    rows: asked.filter(row => 'scenario' in row),
    hasUplink: asked.includes(relayedUplink),
    nodeOptions: values['node-option'],
    jsonPath: values.json,
    chartPath: values.chart
  }
}

async function warmUp (pairs: Pair[], rows: Row[], report: (line: string) => void): Promise<void> {
  for (const row of rows) {
    for (const pair of pairs) {
      await pair.warmUp(row)
      report(`${row.label}, ${pair.muxer}`)
    }
  }
}

async function measureRound (pairs: Pair[], rows: Row[], report: (line: string) => void): Promise<RoundSample[]> {
  const samples: RoundSample[] = []

  for (const row of rows) {
    for (const pair of pairs) {
      const measured = await pair.measure(row, AT_LEAST_MS)
      const metrics = toMetrics(row, measured)

      samples.push({ rowId: row.id, muxer: pair.muxer, transport: pair.transport, metrics, measured })
      report(`${row.label}, ${pair.muxer}: ${Math.round(metrics.messagesPerS).toLocaleString('en')} messages/s`)
    }
  }

  return samples
}

async function measureUplink (muxers: MuxerName[], nodeOptions: string[], stopAtEnd: (started: Stoppable[]) => void): Promise<RoundSample[]> {
  const measured = await measureRelayedUplinks(muxers, nodeOptions, stopAtEnd)

  return measured.map((metrics, index) => ({ rowId: relayedUplink.id, muxer: muxers[index], transport: 'tcp-noise', metrics }))
}

async function measureAll (pairs: Pair[], options: Options, stopAtEnd: (started: Stoppable[]) => void): Promise<TimedSample[]> {
  const samples: TimedSample[] = []
  let roundMs = 0

  const tasks: ListrTask[] = [{
    title: `Start two processes for each of ${options.muxers.join(', ')}`,
    task: async () => { await Promise.all(pairs.map(async pair => pair.ready)) }
  }]

  tasks.push({
    title: 'Warm up',
    task: async (_, task) => warmUp(pairs, options.rows, line => { task.output = line })
  })

  for (let round = 1; round <= options.rounds; round++) {
    tasks.push({
      title: `Round ${round} of ${options.rounds}`,
      skip: () => round > 1 && performance.now() + roundMs > options.budgetMs && 'there is no time left for it',
      async task (_, task) {
        const startMs = performance.now()
        const measured = await measureRound(pairs, options.rows, line => { task.output = line })

        roundMs = performance.now() - startMs

        if (options.hasUplink && (round === 1 || options.budgetMs === Infinity)) {
          task.output = `${relayedUplink.label.replace('\n', ' ')}, ${options.muxers.join(', ')}`
          measured.push(...await measureUplink(options.muxers, options.nodeOptions, stopAtEnd))
        }

        samples.push(...measured.map(sample => ({ ...sample, round })))
      }
    })
  }

  // signals end the processes of the pairs, which makes the tasks fail
  await new Listr(tasks, { registerSignalListeners: false }).run()

  return samples
}

/** The rows that go at full speed tell: the uplink leaves processors idle, and has its muxers at the same time */
function describeBusyMachine (samples: TimedSample[]): string[] {
  return describeOthers(percentTakenByOthers(samples.flatMap(({ measured }) => measured?.processors ?? []), availableParallelism()))
}

await runBenchmark(async stopAtEnd => {
  const options = parseOptions()
  const pairs = options.muxers.map(muxer => startPair({ muxer, nodeOptions: options.nodeOptions }))
  stopAtEnd(pairs)

  const samples = await measureAll(pairs, options, stopAtEnd)
  const tableRows = [...options.rows, ...options.hasUplink ? [relayedUplink] : []]

  const doubts = [...describeBusyMachine(samples), ...describeDoubts(samples, tableRows)]

  console.info(`\n${renderTable(samples, tableRows, options.muxers, process.stdout.columns)}\n`)
  console.info([renderMachine(), '', renderLegend(samples, AT_LEAST_MS), ...options.hasUplink ? relayedUplinkLegend : []].join('\n'))
  console.info(['', ...doubts.map(doubt => `! ${doubt}\n`), 'What it comes to for ours:', ...describeOutcome(samples, tableRows)].join('\n'))

  if (options.jsonPath != null) {
    await writeFile(options.jsonPath, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }

  if (options.chartPath != null) {
    const rates = ratesOf(samples, options.rows, options.muxers)
    await writeCharts(options.chartPath, scheme => drawSmallMessages(scheme, rates))
  }
})
