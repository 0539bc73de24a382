// How many function calls a lone request takes, both ends together. V8 counts them (precise coverage), so the figures are exact and
// the same on every machine. A node with many quiet connections runs its code cold, and there the time goes by calls.
import { Session } from 'node:inspector/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Table from 'cli-table3'
import { thisBenchmark } from '../harness/options.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { contestants, prepare, works } from './lone-requests.ts'
import type { Work } from './lone-requests.ts'
import type { Profiler } from 'node:inspector'

/** So many are counted, behind as many that make what is made once */
const REQUESTS = 20

/** Not the benchmark's own functions, nor Node's */
function isCounted (url: string): boolean {
  return url.startsWith('file:') && !fileURLToPath(url).startsWith(import.meta.dirname)
}

/** How often each function is called for one request */
async function countCalls (contestant: string, work: Work): Promise<Map<string, number>> {
  const requestOnce = await prepare(contestant, work)
  const session = new Session()
  const calls = new Map<string, number>()
  session.connect()

  for (let i = 0; i < 2 * REQUESTS; i++) {
    if (i === REQUESTS) {
      await setImmediate()
      await session.post('Profiler.enable')
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    }

    await requestOnce()
  }

  await setImmediate()
  const { result } = await session.post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
  session.disconnect()

  for (const { url, functions } of result.filter(({ url }) => isCounted(url))) {
    for (const { functionName, ranges: [{ count, startOffset }] } of functions) {
      if (count > 0) {
        calls.set(`${url.split('/').slice(-3).join('/')}, ${functionName === '' ? `at ${startOffset}` : functionName}`, count / REQUESTS)
      }
    }
  }

  return calls
}

const values = readOptions(thisBenchmark(), {
  json: { about: 'prints the counts for programs' },
  functions: { takes: 'muxer', about: 'lists the functions that ours, stock or mplex calls' }
})
const counts: Record<string, Record<string, number>> = {}

for (const work of works) {
  counts[work] = {}

  for (const contestant of contestants) {
    const calls = await countCalls(contestant, work)
    counts[work][contestant] = [...calls.values()].reduce((sum, count) => sum + count, 0)

    if (contestant === values.functions) {
      const sorted = [...calls].sort(([, a], [, b]) => b - a)
      console.info(`${work}\n${sorted.map(([name, count]) => `${count.toFixed(2).padStart(8)}  ${name}`).join('\n')}\n`)
    }
  }
}

if (values.json) {
  console.info(JSON.stringify(counts))
} else {
  const table = new Table({ head: ['calls for a request', ...contestants], style: { head: [], border: [] } })
  table.push(...Object.entries(counts).map(([work, byContestant]) => [work, ...Object.values(byContestant).map(count => Math.round(count))]))
  console.info(table.toString())
}
