// What each level against head-of-line blocking does: all on, each one off, all off, and other muxers.
import { writeFile } from 'node:fs/promises'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { parseCount } from '../../harness/options.ts'
import { renderMachine } from '../../harness/table.ts'
import { runBenchmark } from '../../harness/run.ts'
import { toMetrics } from './measured.ts'
import { renderSimulated, renderTcp, simulatedLegend, tcpLegend, workloadLegend } from './report.ts'
import { startSession } from './session.ts'
import { simulateAll } from './simulated.ts'
import { variants } from './variants.ts'
import type { Sample } from './measured.ts'
import type { Session } from './session.ts'
import type { Simulated } from './simulated.ts'

const MAX_ROUNDS = 5
/** Rounds that do not fit in are left out */
const BUDGET_MS = 100_000

async function simulateTwice (): Promise<Simulated> {
  const first = await simulateAll()

  if (!isDeepStrictEqual(await simulateAll(), first)) {
    throw new Error('Two simulations of the same differ')
  }

  return first
}

async function measureRound (sessions: Session[], round: number): Promise<Sample[]> {
  const samples: Sample[] = []

  for (const session of sessions) {
    samples.push({ variantId: session.variant.id, round, metrics: toMetrics(await session.measure()) })
  }

  return samples
}

async function measureOverTcp (sessions: Session[], rounds: number, budgetMs: number): Promise<Sample[]> {
  const samples: Sample[] = []
  let roundMs = 0

  await Promise.all(sessions.map(async session => session.ready))

  for (let round = 0; round <= rounds; round++) {
    if (round > 1 && performance.now() + roundMs > budgetMs) {
      console.info('There is no time left for more rounds')
      break
    }

    console.info(round === 0 ? 'Warm up' : `Round ${round} of ${rounds}`)
    const startMs = performance.now()
    const measured = await measureRound(sessions, round)
    roundMs = performance.now() - startMs

    if (round > 0) {
      samples.push(...measured)
    }
  }

  return samples
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string' },
      json: { type: 'string' }
    }
  })
  const rounds = values.rounds == null ? MAX_ROUNDS : parseCount('rounds', values.rounds)
  const budgetMs = values.rounds == null ? BUDGET_MS : Infinity

  console.info('Simulate all of it twice')
  const simulated = await simulateTwice()
  console.info(`\n${renderSimulated(simulated)}\n\nBoth times, all figures were the same. ${simulatedLegend}\n`)

  const sessions = variants.map(startSession)
  stopAtEnd(sessions)
  const samples = await measureOverTcp(sessions, rounds, budgetMs)
  const measuredRounds = samples.length / variants.length

  console.info(`\n${renderTcp(samples)}\n\n${renderMachine()}\n${tcpLegend(measuredRounds)}\n\n${workloadLegend}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), simulated, tcp: samples }, null, 2))
  }
})
