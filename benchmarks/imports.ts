// How long an import of each muxer takes, in the form in which it is published: ours is what `npm run build` has made.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { parseOptions } from './harness/options.ts'
import { report } from './harness/report.ts'
import { runRounds } from './harness/rounds.ts'
import { figure, format, renderSamples, times } from './harness/table.ts'
import { runBenchmark } from '../testing/programs/run.ts'
import type { Sample } from './harness/samples.ts'

const root = fileURLToPath(new URL('..', import.meta.url))

const contestants = [
  { id: 'ours', label: 'ours', specifier: 'libp2p-coalescing-yamux' },
  { id: 'ours-light', label: 'ours, light', specifier: 'libp2p-coalescing-yamux/light' },
  { id: 'stock', label: 'stock', specifier: '@libp2p/yamux' },
  { id: 'mplex', label: 'mplex', specifier: '@libp2p/mplex' }
]

const rows = [
  { id: 'behind-libp2p', label: 'libp2p is\nloaded', before: ['libp2p'] },
  { id: 'alone', label: 'nothing is', before: [] }
]

const columns = [
  figure('ms', 'ms'),
  times('time', 'ms', 'stock')
]

const legend = [
  'From an import of the muxer until it is there, in a new process for each. Behind libp2p it is what a program waits longer for the muxer;',
  'alone most of it is what the muxer shares with libp2p. × stock compares within each round: median (lowest–highest), above 1 is slower'
].join('\n')

async function measure (specifier: string, before: string[]): Promise<number> {
  const code = `
    ${before.map(name => `await import('${name}')`).join('\n')}
    const startMs = performance.now()
    await import('${specifier}')
    console.info(performance.now() - startMs)
  `
  // in the root, where the package's own name means what is built
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', code], { cwd: root })

  return Number(stdout)
}

await runBenchmark(async () => {
  const { muxers, json, counts: { rounds } } = parseOptions({ contestants, counts: { rounds: 20 } })
  const samples: Array<Sample<'ms'>> = []

  for (const row of rows) {
    samples.push(...await runRounds({
      row,
      contestants: muxers,
      rounds,
      hasWarmUp: true,
      measure: async ({ specifier }) => ({ ms: await measure(specifier, row.before) }),
      describe: ({ ms }) => `${format(ms)} ms`
    }))
  }

  await report({ tables: [renderSamples(samples, rows, muxers, columns)], extent: `${rounds} rounds`, legend, json, measured: { samples } })
})
