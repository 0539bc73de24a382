// `npm run bench <name> -- <options>` runs a benchmark in a process of its own, with the options of Node that it needs; without a name it lists all.
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { benchmarks } from './list.ts'
import type { Benchmark } from './list.ts'

function renderList (): string {
  const width = Math.max(...benchmarks.map(({ name }) => name.length))

  return benchmarks.map(({ name, about }) => `  ${name.padEnd(width)}  ${about}`).join('\n')
}

function run ({ module, nodeOptions = [] }: Benchmark, options: string[]): void {
  const path = fileURLToPath(new URL(module, import.meta.url))
  const child = spawn(process.execPath, [...nodeOptions, path, ...options], { stdio: 'inherit' })

  // Ctrl-C reaches the benchmark as well, which ends what it has started and then itself
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => { child.kill('SIGTERM') })
  child.once('exit', code => { process.exitCode = code ?? 1 })
}

const [name, ...options] = process.argv.slice(2)
const asked = benchmarks.find(benchmark => benchmark.name === name)

if (asked != null) {
  run(asked, options)
} else if (name == null || name === '--help' || name === '-h') {
  console.info(`npm run bench <name> -- <options>; with --help it says which\n\n${renderList()}`)
} else {
  console.error(`There is no benchmark "${name}", only\n\n${renderList()}`)
  process.exitCode = 1
}
