// Random applications on random links: no seed breaks a law. `npm run simulate` goes on from here.
import { execFileSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { pinnedSeeds } from './search/pinned-seeds.ts'
import { runSeed } from './search/run-seed.ts'
import { search } from './search/search.ts'
import type { SearchInit } from './search/search.ts'

const SEEDS = 2000
const SEARCH_TIMEOUT_MS = 170_000

/** What is to be read when a seed fails */
async function findingsOf (init: SearchInit): Promise<string[]> {
  const { findings } = await search(init)

  return findings.map(({ seed, message }) => `npm run simulate -- --seed ${seed}\n${message}`)
}

async function traceOf (seed: number): Promise<string[]> {
  const lines: string[] = []
  await runSeed(seed, line => { lines.push(line) })

  return lines
}

describe('a search', () => {
  it(`finds nothing in ${SEEDS} seeds`, async () => {
    expect(await findingsOf({ first: 1, seeds: SEEDS })).toEqual([])
  }, SEARCH_TIMEOUT_MS)

  it.each(pinnedSeeds)('finds nothing in seed $seed any more, which found: $bug', async ({ seed }) => {
    expect(await findingsOf({ first: seed, seeds: 1 })).toEqual([])
  })
})

describe('a seed', () => {
  it('does the same at the same instants whenever it is run', async () => {
    for (const seed of [1, 2, 3, 4, 5]) {
      const trace = await traceOf(seed)

      expect(trace.length).toBeGreaterThan(20)
      expect(await traceOf(seed)).toEqual(trace)
    }
  })

  it('is another run than the next', async () => {
    expect((await traceOf(1)).slice(1)).not.toEqual((await traceOf(2)).slice(1))
  })
})

describe('the mutants', () => {
  it('can still be made of the sources', () => {
    const patches = readdirSync(fileURLToPath(new URL('mutants', import.meta.url)))
    const root = fileURLToPath(new URL('../..', import.meta.url))

    expect(patches.length).toBeGreaterThanOrEqual(10)

    for (const patch of patches) {
      execFileSync('git', ['-c', 'safe.directory=*', 'apply', '--check', `test/simulation/mutants/${patch}`], { cwd: root })
    }
  })
})
