// What a lone request costs on an otherwise idle connection, for each strategy: no strategy may make it wait.
import { writeFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { parseCount, parseMuxers } from '../harness/options.ts'
import { startPair } from '../pair.ts'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { toMetrics } from '../report/metrics.ts'
import { format, formatRatio, renderGroups, renderMachine } from '../harness/table.ts'
import { findRow, idleRows, rows } from '../rows.ts'
import { runBenchmark } from '../harness/run.ts'
import type { MuxerName } from '../muxers.ts'
import type { Pair } from '../pair.ts'
import type { Sample } from '../report/metrics.ts'

const AT_LEAST_MS = 1500
/** Of requests without pauses, of each kind: 200 a second compile little code, and it is not a node's first minute that is asked for */
const WARM_UP_MS = 3000
const warmUpRows = ['requests-1', 'requests'].map(id => findRow(id, rows))
const headings = ['muxer', 'p50\nms', 'p99\nms', 'p50\n× off', 'p50\n× stock']

const legend = [
  'Time from opening the stream of a 100-byte request, or from sending it where the stream is open already, to its',
  'whole reply. Nothing else is under way: each request waits for the reply to the one before and 5 ms more. Both',
  'processes are kept awake. Two processes per muxer, TCP on the loopback interface, Noise; everything that arrives is verified.',
  '× off and × stock compare p50 within each round: median (lowest–highest), above 1 is slower'
].join('\n')

async function measureAll (pairs: Pair[], rounds: number): Promise<Sample[]> {
  const samples: Sample[] = []
  console.info('Warm up')

  for (const row of warmUpRows) {
    for (const pair of pairs) {
      await pair.measure(row, WARM_UP_MS)
    }
  }

  for (let round = 1; round <= rounds; round++) {
    console.info(`Round ${round} of ${rounds}`)

    for (const row of idleRows) {
      for (const pair of pairs) {
        const measured = await pair.measure(row, AT_LEAST_MS)
        samples.push({ rowId: row.id, muxer: pair.muxer, transport: pair.transport, round, metrics: toMetrics(row, measured), measured })
      }
    }
  }

  return samples
}

function renderTable (samples: Sample[], muxers: MuxerName[]): string {
  const groups = idleRows.map(({ id, label }) => ({
    label,
    lines: muxers.map(muxer => {
      const ofMuxer = samplesOf(samples, id, muxer)

      return [
        muxer,
        format(medianOf(ofMuxer, 'p50Ms')),
        format(medianOf(ofMuxer, 'p99Ms')),
        formatRatio(ratioOf(ofMuxer, samplesOf(samples, id, 'ours-off'), 'p50Ms')),
        formatRatio(ratioOf(ofMuxer, samplesOf(samples, id, 'stock'), 'p50Ms'))
      ]
    })
  }))

  return renderGroups(headings, groups)
}

await runBenchmark(async stopAtEnd => {
  const { values } = parseArgs({
    options: {
      muxers: { type: 'string', default: 'ours,ours-delay,ours-adaptive,ours-off,stock' },
      rounds: { type: 'string', default: '5' },
      json: { type: 'string' }
    }
  })
  const rounds = parseCount('rounds', values.rounds)
  const muxers = parseMuxers(values.muxers)
  const pairs = muxers.map(muxer => startPair({ muxer }))
  stopAtEnd(pairs)
  await Promise.all(pairs.map(async pair => pair.ready))

  const samples = await measureAll(pairs, rounds)

  console.info(`\n${renderTable(samples, muxers)}\n`)
  console.info(`${renderMachine()}, ${rounds} rounds\n\n${legend}`)

  if (values.json != null) {
    await writeFile(values.json, JSON.stringify({ machine: renderMachine(), samples }, null, 2))
  }
})
