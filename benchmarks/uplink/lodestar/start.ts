// A validator's node at home, which gossips while some of its peers fetch blocks: how long gossip takes with each muxer.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseCount } from '../../options.ts'
import { format, renderMachine } from '../../report/table.ts'
import { runBenchmark } from '../../run.ts'
import { whyNoLine } from '../line.ts'
import { renderLegend, renderTable, toMetrics, toSamples } from './report.ts'
import { startSession } from './session.ts'
import { contestants } from './workload.ts'
import type { Stoppable } from '../../run.ts'
import type { Sample } from './report.ts'
import type { Contestant } from './workload.ts'

function findContestant (id: string): Contestant {
  const found = contestants.find(contestant => contestant.id === id)

  if (found == null) {
    throw new Error(`There is no muxer "${id}", only ${contestants.map(({ id }) => id).join(', ')}`)
  }

  return found
}

async function measure (contestant: Contestant, hasModem: boolean, measuredMs: number, stopAtEnd: (started: Stoppable[]) => void): Promise<ReturnType<typeof toMetrics>> {
  const session = startSession(contestant, hasModem)
  stopAtEnd([session])

  try {
    return toMetrics(await session.measure(measuredMs), measuredMs)
  } finally {
    await session.stop()
  }
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      modem: { type: 'boolean', default: false },
      muxers: { type: 'string', default: contestants.map(({ id }) => id).join() },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' }
    }
  })
  const rounds = parseCount('rounds', values.rounds)
  const measuredMs = parseCount('seconds', values.seconds) * 1000
  const compared = values.muxers.split(',').map(findContestant)
  const reason = whyNoLine()

  if (reason != null) {
    const message = `bench:uplink:lodestar needs root, ip and tc: ${reason}`

    if (process.env.CI != null) {
      throw new Error(message)
    }

    console.info(message)
    return
  }

  const samples: Sample[] = []

  for (let round = 1; round <= rounds; round++) {
    for (const contestant of compared) {
      const metrics = await measure(contestant, values.modem, measuredMs, stopAtEnd)

      samples.push(...toSamples(metrics, contestant.id, round))
      console.info(`Round ${round} of ${rounds}, ${contestant.label}: p99 ${format(metrics.all.p99Ms)} ms, ${format((metrics.all.besideMegabytesPerS ?? NaN) * 8)} Mbit/s of blocks`)
    }
  }

  console.info(`\n${renderTable(samples, compared)}\n`)
  console.info(`${renderMachine()}, ${rounds} rounds of ${values.seconds} s\n\n${renderLegend(values.modem)}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }
})
