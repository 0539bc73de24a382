// An urgent message beside bulk on a line of a fixed rate, with the kernel's own queues: how long it takes with each muxer.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseContestants, parseCount } from '../harness/options.ts'
import { installQuic } from '../quic/install.ts'
import { format, renderMachine } from '../report/table.ts'
import { runBenchmark } from '../harness/run.ts'
import { drawChart } from './chart.ts'
import { layLine, layNoLine, canLayLine } from './line.ts'
import { renderLegend, renderTable, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import { contestants, labelOf, mbits, scenarios, WARM_UP_MS } from './workload.ts'
import type { Stoppable } from '../harness/run.ts'
import type { Sample } from './report.ts'
import type { Contestant, Scenario, Work } from './workload.ts'

function parseScenario (name: string): Scenario {
  if (!Object.hasOwn(scenarios, name)) {
    throw new Error(`There is no scenario "${name}", only ${Object.keys(scenarios).join(', ')}`)
  }

  return name as Scenario
}

async function measure (contestant: Contestant, mbit: number, work: Work, stopAtEnd: (started: Stoppable[]) => void): Promise<Sample['metrics']> {
  const session = startSession(contestant, mbit === Infinity ? layNoLine() : layLine(mbit), work)
  stopAtEnd([session])

  try {
    return toMetrics(await session.measure(), work.measuredMs)
  } finally {
    await session.stop()
  }
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      only: { type: 'string', default: mbits.join() },
      muxers: { type: 'string', default: contestants.map(({ id }) => id).join() },
      scenario: { type: 'string', default: 'plain' },
      streams: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' },
      chart: { type: 'string' }
    }
  })
  const rounds = parseCount('rounds', values.rounds)
  const rates = values.only.split(',').map(mbit => mbit === 'loopback' ? Infinity : parseCount('only', mbit))
  const work: Work = {
    scenario: parseScenario(values.scenario),
    streams: parseCount('streams', values.streams),
    warmUpMs: WARM_UP_MS,
    measuredMs: parseCount('seconds', values.seconds) * 1000
  }
  const asked = parseContestants(values.muxers, contestants)

  if (rates.some(mbit => mbit !== Infinity) && !canLayLine('npm run bench uplink')) {
    return
  }

  const hasQuic = asked.some(({ muxer }) => muxer === 'quic') && await installQuic()
  const compared = asked.filter(({ muxer }) => muxer !== 'quic' || hasQuic)
  const samples: Sample[] = []

  for (const mbit of rates) {
    for (let round = 1; round <= rounds; round++) {
      for (const contestant of compared) {
        const metrics = await measure(contestant, mbit, work, stopAtEnd)

        samples.push({ mbit, contestantId: contestant.id, round, metrics })
        console.info(`${labelOf(mbit)}, round ${round} of ${rounds}, ${contestant.label}: p99 ${format(metrics.p99Ms)} ms, ${format((metrics.besideMegabytesPerS ?? NaN) * 8)} Mbit/s`)
      }
    }
  }

  console.info(`\n${renderTable(samples, rates, compared)}\n`)
  console.info(`${renderMachine()}, ${rounds} rounds of ${values.seconds} s\n\n${renderLegend(work)}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), work, samples }, null, 2))
  }

  if (values.chart != null) {
    await writeFile(values.chart, drawChart(samples, rates, compared, work))
  }
})
