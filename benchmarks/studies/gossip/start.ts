// Gossip among 100 hosts, as in a profile of gossipsub in go-libp2p: what a delivery costs with each muxer.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCount, parseMuxers } from '../../harness/options.ts'
import { renderFlameGraph } from '../../report/flame-graph.ts'
import { format, renderMachine } from '../../harness/table.ts'
import { runBenchmark } from '../../harness/run.ts'
import { legend, renderTable, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import { drawTopology } from './topology.ts'
import { findRow, planRound, rows } from './workload.ts'
import type { MuxerName } from '../../muxers.ts'
import type { Sample } from './report.ts'
import type { Session } from './session.ts'
import type { Row } from './workload.ts'

interface Options {
  muxers: MuxerName[]
  rounds: number
  rows: Row[]
  /** A folder; without it nothing is profiled */
  profiles?: string
}

/** In rounds of their own, as profiling takes time itself */
async function profileAll (sessions: Session[], row: Row, { rounds, profiles = '' }: Options): Promise<void> {
  await mkdir(profiles, { recursive: true })

  for (const session of sessions) {
    const name = `${row.id}-${session.muxer}`
    const path = join(profiles, `${name}.cpuprofile`)

    await session.measure(planRound(row, rounds + 1), path)
    await writeFile(join(profiles, `${name}.svg`), renderFlameGraph(name, JSON.parse(await readFile(path, 'utf8'))))
  }

  console.info(`Profiles of ${row.id} are in ${profiles}`)
}

async function measureRow (sessions: Session[], row: Row, options: Options): Promise<Sample[]> {
  const samples: Sample[] = []

  // the first round warms up
  for (let round = 0; round <= options.rounds; round++) {
    for (const session of sessions) {
      const metrics = toMetrics(await session.measure(planRound(row, round)))

      if (round > 0) {
        samples.push({ rowId: row.id, muxer: session.muxer, round, metrics })
        console.info(`${row.id}, round ${round} of ${options.rounds}, ${session.muxer}: ${format(metrics.cpuUsPerDelivery)} µs per delivery`)
      }
    }
  }

  if (options.profiles != null) {
    await profileAll(sessions, row, options)
  }

  return samples
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      muxers: { type: 'string', default: 'ours,stock,mplex' },
      rounds: { type: 'string', default: '3' },
      only: { type: 'string', multiple: true, default: rows.map(row => row.id) },
      profiles: { type: 'string' },
      json: { type: 'string' }
    }
  })
  const options = { muxers: parseMuxers(values.muxers), rounds: parseCount('rounds', values.rounds), rows: values.only.map(findRow), profiles: values.profiles }
  const topology = drawTopology()
  const samples: Sample[] = []

  // hosts either sign or do not
  for (const [isSigned, ofKind] of Map.groupBy(options.rows, row => row.isSigned)) {
    console.info(`Start the hosts of ${options.muxers.join(', ')}`)
    const sessions = options.muxers.map(muxer => startSession(muxer, isSigned, topology))
    stopAtEnd(sessions)
    await Promise.all(sessions.map(async session => session.ready))

    for (const row of ofKind) {
      samples.push(...await measureRow(sessions, row, options))
    }

    await Promise.all(sessions.map(async session => session.stop()))
  }

  console.info(`\n${renderTable(samples, options.rows, options.muxers)}\n`)
  console.info(`${renderMachine()}, ${options.rounds} rounds after one to warm up\n\n${legend}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }
})
