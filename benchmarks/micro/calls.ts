// How many function calls a lone request takes, both ends together. V8 counts them (precise coverage), so the figures are exact and
// the same on every machine. A node with many quiet connections runs its code cold, and there the time goes by calls.
import { Session } from 'node:inspector/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { sum } from 'simple-statistics'
import { recordOptions, recordPathOf, thisBenchmark } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { medianOf } from '../harness/samples.ts'
import { renderSamples, times } from '../harness/table.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { contestants, prepare, works } from './lone-requests.ts'
import type { RoundSample, Sample } from '../harness/samples.ts'
import type { Work } from './lone-requests.ts'
import type { Profiler } from 'node:inspector'

/** So many are counted, behind as many that make what is made once */
const REQUESTS = 21

const columns = [
  { heading: 'calls', text: (own: Array<RoundSample<'calls'>>) => medianOf(own, 'calls')?.toLocaleString('en') ?? '-' },
  times('calls', 'calls', 'stock'),
  times('calls', 'calls', 'mplex')
]

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
  ...recordOptions,
  functions: { takes: 'muxer', about: 'lists the functions that ours, stock or mplex calls' }
})
const samples: Array<Sample<'calls'>> = []

for (const work of works) {
  for (const { id: muxer } of contestants) {
    const calls = await countCalls(muxer, work.id)
    samples.push({ rowId: work.id, muxer, round: 1, metrics: { calls: sum([...calls.values()]) } })

    if (muxer === values.functions) {
      const sorted = [...calls].sort(([, a], [, b]) => b - a)
      console.info(`${work.label}\n${sorted.map(([name, count]) => `${String(count).padStart(5)}  ${name}`).join('\n')}\n`)
    }
  }
}

await report({
  tables: [renderSamples(samples, [...works], contestants, columns)],
  extent: `the request in the middle of ${REQUESTS}`,
  legend: 'Calls of functions for a request of 100 bytes and its answer, both ends together, without those of Node',
  json: recordPathOf(values),
  measured: { samples }
})
