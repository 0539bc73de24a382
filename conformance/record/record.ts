// `node conformance/record/record.ts [name ...]`: runs all cases on each echo target that `npm run peers` has built, and keeps the results beside this file.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { CASES } from '../cases/index.ts'
import { json } from '../output/json.ts'
import { run } from '../runner.ts'
import { createTransport } from '../transport.ts'
import { TARGETS } from './targets.ts'
import type { RecordedTarget } from './targets.ts'

const PROTOCOL = '/echo/1.0.0'

async function record ({ name, implementation, version, command: [command, ...args], libp2p }: RecordedTarget): Promise<void> {
  const child = spawn(command, [...args, '127.0.0.1:0', 'open'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const [address] = await once(createInterface({ input: child.stdout }), 'line')
  const [host, port] = String(address).split(':')
  const transport = await createTransport({ host, port: Number(port), listen: false, libp2p })
  const results = await run({
    cases: CASES,
    connect: transport.connect,
    isDialler: true,
    has: libp2p ? ['echo', 'opener'] : ['echo', 'opener', 'echoing opener'],
    protocol: libp2p ? PROTOCOL : undefined
  })

  writeFileSync(new URL(`${name}.json`, import.meta.url), json(`${implementation} ${version}`, results))
  console.info(`${implementation} ${version}: ${results.filter(({ outcome }) => outcome === 'failed').length} of ${results.length} cases fail`)
  child.kill()
  await once(child, 'exit')
}

const names = process.argv.slice(2)

for (const target of TARGETS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  await record(target)
}
