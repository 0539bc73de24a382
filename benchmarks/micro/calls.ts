// How many function calls a lone request takes, both ends together. V8 counts them (precise coverage), so the figures are exact and
// the same on every machine. A node with many quiet connections runs its code cold, and there the time goes by calls.
import { Session } from 'node:inspector/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import Table from 'cli-table3'
import { sum } from 'simple-statistics'
import { thisBenchmark } from '../harness/options.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { contestants, prepare, works } from './lone-requests.ts'
import type { Work } from './lone-requests.ts'
import type { Profiler } from 'node:inspector'

/** So many are counted, behind as many that make what is made once */
const REQUESTS = 21

/** Not the benchmark's own functions, nor Node's */
function isCounted (url: string): boolean {
  return url.startsWith('file:') && !fileURLToPath(url).startsWith(import.meta.dirname)
}

function callsOf (coverage: Profiler.TakePreciseCoverageReturnType): Map<string, number> {
  return new Map(coverage.result.filter(({ url }) => isCounted(url)).flatMap(({ url, functions }) => functions
    .filter(({ ranges: [{ count }] }) => count > 0)
    .map(({ functionName, ranges: [{ count, startOffset }] }) => [`${url.split('/').slice(-3).join('/')}, ${functionName} at ${startOffset}`, count])))
}

/** How often each function is called for one request: the one in the middle by all its calls, as timers run in some on a busy machine */
async function countCalls (contestant: string, work: Work): Promise<Map<string, number>> {
  const requestOnce = await prepare(contestant, work)
  const session = new Session()
  session.connect()

  for (let i = 0; i < REQUESTS; i++) {
    await requestOnce()
  }

  await session.post('Profiler.enable')
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  const requests: Array<Map<string, number>> = []

  for (let i = 0; i < REQUESTS; i++) {
    await requestOnce()
    await setImmediate()
    requests.push(callsOf(await session.post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType))
  }

  session.disconnect()

  return requests.sort((a, b) => sum([...a.values()]) - sum([...b.values()]))[(REQUESTS - 1) / 2]
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
    counts[work][contestant] = sum([...calls.values()])

    if (contestant === values.functions) {
      const sorted = [...calls].sort(([, a], [, b]) => b - a)
      console.info(`${work}\n${sorted.map(([name, count]) => `${String(count).padStart(5)}  ${name}`).join('\n')}\n`)
    }
  }
}

if (values.json) {
  console.info(JSON.stringify(counts))
} else {
  const table = new Table({ head: ['calls for a request', ...contestants], style: { head: [], border: [] } })
  table.push(...Object.entries(counts).map(([work, byContestant]) => [work, ...Object.values(byContestant)]))
  console.info(table.toString())
}
