// The benchmark of applications: one of them from end to end, and what its figures are called.
import { expect, onTestFinished, test } from 'vitest'
import { applications } from '../../benchmarks/apps/applications.ts'
import { renderVerdicts } from '../../benchmarks/apps/report.ts'
import { startSession } from '../../benchmarks/apps/session.ts'
import { sayWhatChanges } from '../../benchmarks/apps/verdict.ts'
import type { Metrics } from '../../benchmarks/apps/report.ts'
import type { ContestantMuxer } from '../../benchmarks/contestants.ts'
import type { Sample, Spread } from '../../benchmarks/harness/samples.ts'

const PROCESSES_TIMEOUT_MS = 60_000
const SHORT_REQUESTS = 200

const spread = (median: number, min: number, max: number): Spread => ({ median, min, max })
const same = spread(1, 0.9, 1.1)

// The other applications are installed by the first `npm run bench apps`
test('requests of one process are answered by another that has another muxer, and counted', async () => {
  const session = startSession(applications.statuses, ['stock', 'ours'], true)
  onTestFinished(async () => session.stop())
  await session.start()
  const { latenciesMs, spent, maxRssBytes } = await session.measure(1)

  expect(latenciesMs).toHaveLength(SHORT_REQUESTS)
  expect(spent.noiseRecords).toBeGreaterThan(0)
  expect(spent.socketWrites).toBeGreaterThan(0)
  expect(spent.cpuMs).toBeGreaterThan(0)
  expect(maxRssBytes).toBeGreaterThan(0)
}, PROCESSES_TIMEOUT_MS)

test('a user notices what all rounds agree on, from a tenth on', () => {
  expect(sayWhatChanges(spread(0.5, 0.4, 0.9), same, 'time')).toContain('waits 2.00 times less')
  expect(sayWhatChanges(spread(1.5, 1.1, 1.9), same, 'time')).toContain('waits 1.50 times longer')
  expect(sayWhatChanges(spread(0.5, 0.4, 1.1), same, 'time')).toContain('nothing that its user notices')
  expect(sayWhatChanges(spread(1.5, 0.9, 1.9), same, 'time')).toContain('nothing that its user notices')
  expect(sayWhatChanges(spread(0.95, 0.94, 0.96), same, 'time')).toContain('nothing that its user notices')
})

test('CPU is told apart from what a user waits for', () => {
  expect(sayWhatChanges(same, spread(0.5, 0.4, 0.6), 'p99')).toMatch(/of stock's p99, .*: nothing that its user notices, 2\.00 times less CPU$/)
  expect(sayWhatChanges(same, spread(2, 1.5, 2.5), 'p99')).toMatch(/2\.00 times more CPU$/)
})

test('a sentence compares each of our muxers with stock in the same round', () => {
  const sample = (muxer: ContestantMuxer, round: number, durationS: number): Sample<keyof Metrics> => ({ rowId: 'reqresp', muxer, round, metrics: { durationS, cpuS: 1 } })
  const samples = [sample('ours', 1, 1), sample('stock', 1, 2), sample('ours', 2, 10), sample('stock', 2, 20), sample('mplex', 1, 1)]

  expect(renderVerdicts(samples, [applications.statuses, applications.kadDht], ['ours', 'stock', 'mplex']))
    .toBe('ReqResp, statuses, ours: 0.50 of stock\'s time, 1.00 of its CPU: its user waits 2.00 times less')
})
