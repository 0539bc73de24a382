// `npm run mutants`: shows that each of the bugs in mutants/list.ts, put into a copy of the sources, is found by the simulation or by the test that it names.
import { execFile } from 'node:child_process'
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import Table from 'cli-table3'
import { Listr } from 'listr2'
import { oneOf } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { mutants as allMutants, mutate } from './mutants/list.ts'
import { pinnedSeeds } from './search/pinned-seeds.ts'
import type { Mutant } from './mutants/list.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))
/** What was installed or built inside of the folders that are copied */
const NOT_SOURCES = ['node_modules', '.build']
const { names, seeds } = readOptions({ command: 'npm run mutants --', about: 'shows that the simulation finds bugs that are put into a copy of the sources', names: 'some of mutants/list.ts; all if none is named' }, {
  seeds: { takes: 'number', about: 'how many are searched for each', default: '2000' }
})
/** What is rare is found by a seed that is pinned for it */
const SEARCHES = [['--seeds', seeds], ...pinnedSeeds.map(({ seed }) => ['--first', String(seed), '--seeds', '1'])]
const FAILED = /seed (\d+) fails\s+(.*)/
/** As a TAP report has it */
const FAILED_TEST = /^not ok \d+ - (.*?)(?: # time.*)?$/m

interface Examined extends Mutant {
  seed?: number
  law?: string
}

async function examine (mutant: Examined): Promise<void> {
  const copy = await mkdtemp(join(tmpdir(), 'mutant-'))

  try {
    for (const entry of ['src', 'test', 'testing', 'package.json', 'tsconfig.json', 'vitest.config.ts']) {
      await cp(join(root, entry), join(copy, entry), { recursive: true, filter: path => !NOT_SOURCES.includes(basename(path)) })
    }

    await symlink(join(root, 'node_modules'), join(copy, 'node_modules'))

    for (const [file, text] of mutate(mutant)) {
      await writeFile(join(copy, file), text)
    }

    // a search that finds nothing takes minutes
    if (mutant.test != null) {
      mutant.law = await failureOf(copy, mutant.test)
      return
    }

    for (const options of SEARCHES) {
      const [, seed, law] = FAILED.exec(await search(copy, options)) ?? []

      if (seed != null) {
        mutant.seed = Number(seed)
        mutant.law = law
        break
      }
    }
  } finally {
    await rm(copy, { recursive: true })
  }
}

/** Undefined if all of it passes */
async function failureOf (copy: string, test: string): Promise<string | undefined> {
  try {
    await run(process.execPath, [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', copy, '--project', 'node', '--reporter', 'tap-flat', test])

    return undefined
  } catch (err: any) {
    const [, failed] = FAILED_TEST.exec(`${err.stdout}`) ?? []

    // something else has failed
    if (failed == null) {
      throw err
    }

    return `Fails: ${failed}`
  }
}

/** What the search says: it fails where it finds something */
async function search (copy: string, options: string[]): Promise<string> {
  try {
    return (await run(process.execPath, [join(copy, 'test/simulation/search-seeds.ts'), ...options])).stdout
  } catch (err: any) {
    // without a finding it has failed by itself, as at an edit that is no TypeScript
    if (`${err.stdout}`.length === 0) {
      throw err
    }

    return `${err.stdout}`
  }
}

const allNames = allMutants.map(({ name }) => name)
const chosen = names.length === 0 ? allNames : names.map(name => oneOf('mutant', name, allNames))
const mutants: Examined[] = allMutants.filter(({ name }) => chosen.includes(name)).map(mutant => ({ ...mutant }))

await new Listr(mutants.map(mutant => ({
  title: mutant.bug,
  task: async () => examine(mutant)
})), { concurrent: availableParallelism() }).run()

const table = new Table({ head: ['mutant', 'seed', 'what it breaks'], style: { head: [], border: [] }, colWidths: [32, 10, 100], wordWrap: true })
table.push(...mutants.map(({ name, seed, law = '' }) => [name, seed ?? (law === '' ? 'NOT FOUND' : 'by a test'), law]))
console.info(table.toString())

const missed = mutants.filter(({ law }) => law == null)

if (missed.length > 0) {
  console.error(`${missed.length} of ${mutants.length} mutants were not found within ${seeds} seeds, nor by those that are pinned, nor by a test`)
  process.exitCode = 1
}
