// Random applications on random links: no seed breaks a law. `npm run simulate` searches more of them.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { pinnedSeeds } from './search/pinned-seeds.ts'
import { mutants, mutate } from './mutants/list.ts'
import { search } from './search/search.ts'
import type { SearchInit } from './search/search.ts'

const execFileAsync = promisify(execFile)
const SEEDS = 100
const LIGHT_SEEDS = 25
const MAX_TRACE_BYTES = 64 * 2 ** 20

/** What is to be read when a seed fails */
async function findingsOf (init: SearchInit): Promise<string[]> {
  const { findings } = await search(init)

  return findings.map(({ seed, message }) => `npm run simulate -- ${init.isLight === true ? '--light ' : ''}--seed ${seed}\n${message}`)
}

/** As it is replayed: in a process of its own, for a test runner sets timers too */
async function traceOf (seed: number): Promise<string[]> {
  const { stdout } = await execFileAsync(process.execPath, [fileURLToPath(new URL('search-seeds.ts', import.meta.url)), '--seed', String(seed)], { maxBuffer: MAX_TRACE_BYTES })

  return stdout.split('\n')
}

describe('a search', () => {
  it(`finds nothing in ${SEEDS} seeds`, async () => {
    expect(await findingsOf({ first: 1, seeds: SEEDS })).toEqual([])
  })

  it(`finds nothing in ${LIGHT_SEEDS} seeds in which one side or both are light`, async () => {
    expect(await findingsOf({ first: 1, seeds: LIGHT_SEEDS, isLight: true })).toEqual([])
  })

  it.each(pinnedSeeds)('finds nothing in seed $seed any more, which found: $bug', async ({ seed }) => {
    expect(await findingsOf({ first: seed, seeds: 1 })).toEqual([])
  })
})

describe('a seed', () => {
  it('does the same at the same instants whenever it is run, and not what the next one does', async () => {
    const [first, again, next] = await Promise.all([3, 3, 4].map(traceOf))

    expect(first.length).toBeGreaterThan(20)
    expect(again).toEqual(first)
    expect(next.slice(1)).not.toEqual(first.slice(1))
  })
})

describe('the mutants', () => {
  it.each(mutants)('can still be made of the sources: $name', mutant => {
    expect(mutate(mutant).size).toBeGreaterThan(0)
  })
})
