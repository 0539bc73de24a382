// How many steps a request takes: counted, so that they cannot creep up unseen. `node benchmarks/micro/calls.ts --functions ours` lists them.
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../benchmarks/micro/calls.ts', import.meta.url))

describe('a lone request of 100 bytes and its answer, both ends', async () => {
  const counts: Record<string, Record<string, number>> = JSON.parse((await run(process.execPath, [script, '--json'])).stdout)
  const onOpenStream = counts['on an open stream']
  const onNewStream = counts['on a new stream']

  it('takes no more calls than mplex on an open stream', () => {
    expect(onOpenStream.mplex).toBeGreaterThan(100)
    expect(onOpenStream.ours).toBeLessThanOrEqual(onOpenStream.mplex)
  })

  it('takes no more calls than @libp2p/yamux on a new stream, negotiation and end included', () => {
    expect(onNewStream.stock).toBeGreaterThan(500)
    expect(onNewStream.ours).toBeLessThanOrEqual(onNewStream.stock)
  })
})
