// `npm run conformance`: reads the command line, says what it will do, runs the cases, and writes the results.
import { writeFileSync } from 'node:fs'
import { MAX_CASE_MS, MAX_CONNECTIONS_PER_CASE, MAX_SENT_BYTES, MAX_SENT_FRAMES } from './bounds.ts'
import { GROUPS } from './cases/index.ts'
import { parseOptions, USAGE, UsageError } from './options.ts'
import { json } from './output/json.ts'
import { junit } from './output/junit.ts'
import { Table } from './output/table.ts'
import { tap } from './output/tap.ts'
import { hasRun, passes, run } from './runner.ts'
import { createTransport } from './transport.ts'
import type { Options } from './options.ts'
import type { Result } from './runner.ts'

const MUST_FAILS = 1
const NOT_RUN = 2
const MIB = 1_048_576

function announce ({ host, port, listen, libp2p, cases }: Options, address?: string): string {
  const whom = listen ? `Waits for a target to dial ${address}, a connection for each case,` : `Dials ${host}:${port}, a connection for each case,`

  return `${whom} and speaks ${libp2p ? 'multistream-select, Noise and ' : ''}yamux.
Cases: ${cases.length}. Each takes at most ${MAX_CASE_MS / 1000} s and ${MAX_CONNECTIONS_PER_CASE} connections, and sends at most ${MAX_SENT_BYTES / MIB} MiB in ${MAX_SENT_FRAMES.toLocaleString('en')} frames on each.
Some send what is malformed, beyond the window, or in a flood.
`
}

async function main (args: string[]): Promise<number> {
  const options = parseOptions(args)

  if (options === 'help') {
    process.stdout.write(USAGE)
    return 0
  }

  // what cannot be written must not be noticed after the run
  for (const file of [options.jsonFile, options.junitFile]) {
    if (file != null) {
      writeFileSync(file, '')
    }
  }

  const transport = await createTransport(options)
  const target = options.listen ? 'the target that dials' : `${options.host}:${options.port}`
  const table = new Table(GROUPS, options.cases.length, text => { process.stdout.write(text) })

  process.stderr.write(announce(options, transport.address))

  try {
    const results = await run({
      ...options,
      connect: transport.connect,
      isDialler: !options.listen,
      protocol: options.libp2p ? options.protocol : undefined,
      onResult: result => { if (!options.tap) { table.add(result) } }
    })

    if (!options.tap) {
      table.end(results)
    }

    write(options, target, results)

    return !hasRun(results) ? NOT_RUN : passes(results) ? 0 : MUST_FAILS
  } finally {
    await transport.stop()
  }
}

function write ({ jsonFile, junitFile, tap: asTap }: Options, target: string, results: Result[]): void {
  if (jsonFile != null) {
    writeFileSync(jsonFile, json(target, results))
  }

  if (junitFile != null) {
    writeFileSync(junitFile, junit(target, results))
  }

  if (asTap) {
    process.stdout.write(tap(results))
  }
}

try {
  process.exitCode = await main(process.argv.slice(2))
} catch (error: any) {
  process.stderr.write(error instanceof UsageError ? `${USAGE}\n${error.message}\n` : `The suite could not run: ${error.message}\n`)
  process.exitCode = NOT_RUN
}
