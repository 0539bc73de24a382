// The experiment of the go-yamux study of write coalescing: 1,000 streams, 4 KiB each 100 ms, 1 Gbit/s, 100 ms.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { startChild } from '../../harness/child.ts'
import { parseCount, parseMuxers } from '../../harness/options.ts'
import { renderMachine } from '../../harness/table.ts'
import { runBenchmark } from '../../harness/run.ts'
import { renderLegend, renderTable, toMetrics } from './report.ts'
import { startSession } from './session.ts'
import type { MemoryCommands } from './memory.ts'
import type { RelayCommands } from '../../relay/relay.ts'
import type { IdleMemory, Sample } from './report.ts'
import type { Session } from './session.ts'

const memoryModule = new URL('memory.ts', import.meta.url)
const relayModule = new URL('../../relay/relay.ts', import.meta.url)

async function measureAll (sessions: Session[], rounds: number): Promise<Sample[]> {
  const samples: Sample[] = []

  for (let round = 1; round <= rounds; round++) {
    for (const session of sessions) {
      const metrics = toMetrics(await session.measure())

      samples.push({ muxer: session.muxer, round, metrics })
      console.info(`Round ${round} of ${rounds}, ${session.muxer}: ${Math.round(metrics.socketWritesPerS).toLocaleString('en')} socket writes/s`)
    }
  }

  return samples
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      muxers: { type: 'string', default: 'ours,ours-delay,ours-adaptive,ours-off,stock,mplex' },
      rounds: { type: 'string', default: '3' },
      seconds: { type: 'string', default: '5' },
      json: { type: 'string' }
    }
  })
  const rounds = parseCount('rounds', values.rounds)
  const windowS = parseCount('seconds', values.seconds)
  const muxers = parseMuxers(values.muxers)
  const idleMemory: IdleMemory = {}

  for (const muxer of muxers) {
    const child = startChild<MemoryCommands>(memoryModule, `idle sessions of ${muxer}`, { execArgv: ['--expose-gc'] })
    stopAtEnd([child])
    idleMemory[muxer] = await child.commands.measureIdleSession(muxer)
    await child.stop()
  }

  const relay = startChild<RelayCommands>(relayModule, 'relay')
  const sessions = muxers.map(muxer => startSession(muxer, relay, windowS * 1000))
  stopAtEnd([relay, ...sessions])
  await Promise.all(sessions.map(async session => session.ready))

  const samples = await measureAll(sessions, rounds)

  console.info(`\n${renderTable(samples, idleMemory, muxers)}\n`)
  console.info(`${renderMachine()}\n\n${renderLegend(samples, windowS)}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), idleMemory, samples }, null, 2))
  }
})
