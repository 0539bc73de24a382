// A validator's node at home, which gossips while some of its peers fetch blocks: how long gossip takes with each muxer.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { findMuxer } from '../../muxers.ts'
import { parseContestants, parseCount } from '../../harness/options.ts'
import { format, renderMachine } from '../../report/table.ts'
import { runBenchmark } from '../../harness/run.ts'
import { canLayLine } from '../line.ts'
import { renderLegend, renderTable, toMetrics, toSamples } from './report.ts'
import { startSession } from './session.ts'
import { contestants } from './workload.ts'
import type { Stoppable } from '../../harness/run.ts'
import type { Sample } from './report.ts'
import type { Contestant, Work } from './workload.ts'

async function measure (contestant: Contestant, work: Work, stopAtEnd: (started: Stoppable[]) => void): Promise<ReturnType<typeof toMetrics>> {
  const session = startSession(contestant, work)
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
      modem: { type: 'boolean', default: false },
      peers: { type: 'string' },
      muxers: { type: 'string', default: contestants.map(({ id }) => id).join() },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '3' },
      json: { type: 'string' }
    }
  })
  const rounds = parseCount('rounds', values.rounds)
  const work: Work = {
    hasModem: values.modem,
    peersMuxer: values.peers == null ? undefined : findMuxer(values.peers),
    measuredMs: parseCount('seconds', values.seconds) * 1000
  }
  const compared = parseContestants(values.muxers, contestants)

  if (!canLayLine('npm run bench lodestar-uplink')) {
    return
  }

  const samples: Sample[] = []

  for (let round = 1; round <= rounds; round++) {
    for (const contestant of compared) {
      const metrics = await measure(contestant, work, stopAtEnd)

      samples.push(...toSamples(metrics, contestant.id, round))
      console.info(`Round ${round} of ${rounds}, ${contestant.label}: p99 ${format(metrics.all.p99Ms)} ms, ${format((metrics.all.besideMegabytesPerS ?? NaN) * 8)} Mbit/s of blocks`)
    }
  }

  console.info(`\n${renderTable(samples, compared)}\n`)
  console.info(`${renderMachine()}, ${rounds} rounds of ${values.seconds} s\n\n${renderLegend(work)}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), work, samples }, null, 2))
  }
})
