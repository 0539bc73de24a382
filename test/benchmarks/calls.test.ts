// How many steps a request takes: counted, so that they cannot creep up unseen. `node benchmarks/micro/calls.ts --functions ours` lists them.
import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, it } from 'vitest'
import { parseRecord } from '../../benchmarks/harness/record.ts'
import { medianOf, samplesOf } from '../../benchmarks/harness/samples.ts'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../../benchmarks/micro/calls.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'calls-'))

afterAll(() => { rmSync(folder, { recursive: true }) })

describe('a lone request of 100 bytes and its answer, both ends', async () => {
  const path = join(folder, 'calls.json')
  await run(process.execPath, [script, '--json', path])
  const { samples } = parseRecord(readFileSync(path, 'utf8'))
  const callsOf = (work: string, muxer: string): number => medianOf(samplesOf(samples, work, muxer), 'calls') ?? NaN

  it('takes no more calls than mplex on an open stream', () => {
    expect(callsOf('open-stream', 'mplex')).toBeGreaterThan(100)
    expect(callsOf('open-stream', 'ours')).toBeLessThanOrEqual(callsOf('open-stream', 'mplex'))
  })

  it('takes no more calls than @libp2p/yamux on a new stream, negotiation and end included', () => {
    expect(callsOf('new-stream', 'stock')).toBeGreaterThan(500)
    expect(callsOf('new-stream', 'ours')).toBeLessThanOrEqual(callsOf('new-stream', 'stock'))
  })
})
