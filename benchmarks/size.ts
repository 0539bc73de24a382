// What each muxer adds to a bundle, minified and compressed by brotli: its own code, and that with what it takes of @libp2p/utils.
import { fileURLToPath } from 'node:url'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'rolldown'
import { parseRecordPath } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import type { Sample } from './harness/samples.ts'

const contestants = [
  { id: 'ours', label: 'ours', module: new URL('../src/index.ts', import.meta.url).href },
  { id: 'ours-light', label: 'ours, light', module: new URL('../src/light.ts', import.meta.url).href },
  { id: 'stock', label: 'stock', module: import.meta.resolve('@libp2p/yamux') },
  { id: 'mplex', label: 'mplex', module: import.meta.resolve('@libp2p/mplex') }
]

/** What libp2p brings anyway */
const SHARED = ['@libp2p/interface', 'uint8arraylist', 'uint8arrays']

const rows = [
  { id: 'own', label: 'own code', without: [...SHARED, '@libp2p/utils'] },
  { id: 'with-utils', label: 'with what it takes\nof @libp2p/utils', without: SHARED }
]

const columns = [figure('kB', 'kilobytes'), times('size', 'kilobytes', 'stock')]

/** As size-limit does it, which `npm run size` is */
async function measureKilobytes (module: string, without: string[]): Promise<number> {
  const { output: [{ code }] } = await build({
    input: fileURLToPath(module),
    external: id => without.some(name => id === name || id.startsWith(`${name}/`)),
    output: { minify: true, comments: { annotation: false } },
    write: false
  })

  return brotliCompressSync(code).byteLength / 1000
}

await runBenchmark(async () => {
  const json = parseRecordPath()
  const samples: Array<Sample<'kilobytes'>> = []

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants,
      rounds: 1,
      measure: async ({ module }) => ({ kilobytes: await measureKilobytes(module, row.without) }),
      describe: ({ kilobytes }) => `${format(kilobytes)} kB`
    }))
  }

  await report({
    tables: [renderSamples(samples, rows, contestants, columns)],
    extent: 'the same in every run',
    legend: `Minified and compressed by brotli, without ${SHARED.join(', ')}`,
    json,
    measured: { samples }
  })
})
