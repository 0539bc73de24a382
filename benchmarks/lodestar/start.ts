// A node as Lodestar sets it up, with 100 peers: what it spends on gossip and on answering requests with each muxer.
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { parseCount, parseMuxers } from '../harness/options.ts'
import { renderFlameGraph } from '../report/flame-graph.ts'
import { format, renderMachine } from '../report/table.ts'
import { runBenchmark } from '../harness/run.ts'
import { legend, renderTable, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import type { Sample } from './report.ts'
import type { Session } from './session.ts'

async function profileAll (sessions: Session[], durationMs: number, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true })

  for (const session of sessions) {
    const name = `lodestar-${session.muxer}`
    const path = join(folder, `${name}.cpuprofile`)

    await session.measure(durationMs, path)
    await writeFile(join(folder, `${name}.svg`), renderFlameGraph(name, JSON.parse(await readFile(path, 'utf8'))))
  }

  console.info(`Profiles are in ${folder}`)
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      muxers: { type: 'string', default: 'ours,stock,mplex' },
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '5' },
      profiles: { type: 'string' },
      json: { type: 'string' }
    }
  })
  const muxers = parseMuxers(values.muxers)
  const rounds = parseCount('rounds', values.rounds)
  const durationMs = parseCount('seconds', values.seconds) * 1000
  const samples: Sample[] = []

  console.info(`Start the nodes of ${muxers.join(', ')}, and their peers`)
  const sessions = muxers.map(startSession)
  stopAtEnd(sessions)
  for (const session of sessions) {
    await session.start()
  }

  for (let round = 1; round <= rounds; round++) {
    for (const session of sessions) {
      const metrics = toMetrics(await session.measure(durationMs), durationMs)

      samples.push({ muxer: session.muxer, round, metrics })
      console.info(`Round ${round} of ${rounds}, ${session.muxer}: ${format(metrics.cpuPercent)} % CPU`)
    }
  }

  if (values.profiles != null) {
    await profileAll(sessions, durationMs, values.profiles)
  }

  console.info(`\n${renderTable(samples, muxers)}\n`)
  console.info(`${renderMachine()}, ${rounds} rounds of ${values.seconds} s\n\n${legend}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }
})
