// `npm run simulate`: a search for seeds that break a law, or one seed with all that happens in it; the same for paths and the bound on what is in flight.
import { Listr } from 'listr2'
import { parseCount } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { runSeed } from './search/run-seed.ts'
import { loadControl } from './paths/load-control.ts'
import { replayPath, searchPaths } from './paths/search-paths.ts'
import { search } from './search/search.ts'
import type { CreatePathControl } from '../../src/path-control.ts'
import type { SearchResult } from './search/search.ts'

const values = readOptions({ command: 'npm run simulate --', about: 'random applications on random links in virtual time: finds seeds that break a law' }, {
  seeds: { takes: 'number', about: 'how many', default: '2000' },
  first: { takes: 'seed', about: 'from which on', default: '1' },
  workers: { takes: 'number', about: 'threads', default: '1' },
  seed: { takes: 'seed', about: 'this one alone, with all that happens in it' },
  light: { about: 'with at least one side that has no control of bytes in flight, as in /light' },
  paths: { takes: 'number', about: 'the bound on bytes in flight instead: what it costs and gains on so many paths' },
  path: { takes: 'seed', about: 'on this one alone' },
  control: { takes: 'file', about: 'with the path control of this module, see docs/path-control.md' }
})

if (values.control != null && values.paths == null && values.path == null) {
  fail(new Error('--control goes with --paths or --path'))
} else if (values.paths != null || values.path != null) {
  await tryPaths().catch(fail)
} else if (values.seed == null) {
  await searchAll(parseCount('first', values.first), parseCount('seeds', values.seeds), parseCount('workers', values.workers))
} else {
  await replay(parseCount('seed', values.seed))
}

async function tryPaths (): Promise<void> {
  const createControl = await readControl()

  if (values.paths != null) {
    searchPaths(parseCount('first', values.first), parseCount('paths', values.paths), createControl, values.control == null ? '' : ` --control ${values.control}`)
  } else {
    replayPath(parseCount('path', values.path as string), createControl)
  }
}

/** A module outside of the package imports it as users do, which means src here */
async function readControl (): Promise<(() => CreatePathControl) | undefined> {
  if (values.control == null) {
    return undefined
  }

  await import('../../scripts/use-source.ts')

  return loadControl(values.control)
}

function fail ({ message }: Error): void {
  console.error(message)
  process.exitCode = 1
}

async function searchAll (first: number, seeds: number, workers: number): Promise<void> {
  const startMs = performance.now()
  let result: SearchResult | undefined

  await new Listr([{
    title: `${count(seeds)} seeds from ${first} on`,
    async task (_, task) {
      result = await search({ first, seeds, workers, isLight: values.light, onProgress: done => { task.output = `${count(done)} seeds` } })
    }
  }], { fallbackRenderer: 'silent' }).run()

  if (result == null) {
    return
  }

  const [finding] = result.findings
  const took = `${((performance.now() - startMs) / 60_000).toFixed(1)} min with ${workers} worker${workers === 1 ? '' : 's'}`
  console.info(`${count(result.seeds)} seeds from ${first} on, ${count(result.steps)} steps, ${count(result.events)} events, ${count(result.bytes / 1e6)} MB, wire ${result.wireDigest.toString(16)}, ${took}: ${finding == null ? 'no finding' : `seed ${finding.seed} fails`}`)

  if (finding != null) {
    console.info(`\n${finding.message}\n\nnpm run simulate -- ${values.light ? '--light ' : ''}--seed ${finding.seed}`)
    process.exitCode = 1
  }
}

async function replay (seed: number): Promise<void> {
  try {
    await runSeed(seed, { isLight: values.light, write: line => { console.info(line) } })
  } catch (err) {
    console.error(err)
    process.exitCode = 1
  }
}

function count (value: number): string {
  return Math.round(value).toLocaleString('en')
}
