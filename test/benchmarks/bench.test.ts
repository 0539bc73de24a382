// One way to run benchmarks: `npm run bench <name>`.
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it, test } from 'vitest'
import { benchmarks } from '../../benchmarks/list.ts'
import type { SpawnSyncReturns } from 'node:child_process'

/** Some load a browser's driver or a bundler */
const LOADS_WITHIN_MS = 60_000
const folder = new URL('../../benchmarks/', import.meta.url)
const bencher = fileURLToPath(new URL('bench.ts', folder))

function bench (...options: string[]): SpawnSyncReturns<string> {
  return spawnSync(process.execPath, [bencher, ...options], { encoding: 'utf8' })
}

test.concurrent.each(benchmarks)('the benchmark $name says what it does and takes, and does nothing, with --help', async ({ name, module, nodeOptions = [], about }) => {
  const { stdout } = await promisify(execFile)(process.execPath, [...nodeOptions, fileURLToPath(new URL(module, folder)), '--help'])

  expect(stdout).toContain(`Usage: npm run bench ${name} -- [options]`)
  expect(stdout.replaceAll(/\s+/g, ' ')).toContain(about.replaceAll(/\s+/g, ' '))
}, LOADS_WITHIN_MS)

test.each(benchmarks)('the benchmark $name has its place in the tables of what can be run', ({ name }) => {
  const commands = readFileSync(new URL('README.md', folder), 'utf8').split('\n').filter(line => line.startsWith('| `npm run bench '))

  expect(commands.filter(line => RegExp(`(bench |, \`)${name}\\b(?!-)`).test(line)).length).toBeGreaterThan(0)
})

it('lists all benchmarks, a line each, when it is given no name', () => {
  const { status, stdout } = bench()

  expect(status).toBe(0)
  expect(stdout.split('\n').filter(line => line.startsWith('  ')).map(line => line.trim().split(' ')[0])).toEqual(benchmarks.map(({ name }) => name))
})

it('fails on a name that nobody has, and says which there are', () => {
  const { status, stderr } = bench('--short')

  expect(status).toBe(1)
  expect(stderr).toContain('There is no benchmark "--short"')
  expect(stderr).toContain('matrix')
})

it('hands options on, and ends as the benchmark ends', () => {
  const { status, stderr } = bench('idle', '--rounds', 'many')

  expect(status).toBe(1)
  expect(stderr).toContain('--rounds takes a number from 1 on, not "many"')
})
