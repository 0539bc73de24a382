// Runs cases on an echo target in a process of its own.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { run } from '../runner.ts'
import { createTransport } from '../transport.ts'
import type { RecordedTarget } from './targets.ts'
import type { Case } from '../case.ts'
import type { Result } from '../runner.ts'

const PROTOCOL = '/echo/1.0.0'

export async function runTarget ({ command: [command, ...args], libp2p }: RecordedTarget, cases: Case[]): Promise<Result[]> {
  const child = spawn(command, [...args, '127.0.0.1:0', 'open'], { stdio: ['ignore', 'pipe', 'ignore'] })
  const exited = once(child, 'exit')

  try {
    const [address] = await once(createInterface({ input: child.stdout }), 'line')
    const [host, port] = String(address).split(':')
    const transport = await createTransport({ host, port: Number(port), listen: false, libp2p })

    return await run({
      cases,
      connect: transport.connect,
      isDialler: true,
      has: ['echo', 'two connections', 'opener', ...(libp2p ? [] : ['echoing opener'] as const)],
      protocol: libp2p ? PROTOCOL : undefined
    })
  } finally {
    child.kill()
    await exited
  }
}
