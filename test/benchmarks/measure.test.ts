// What a run of the matrix or of `npm start` does about pairs that fail.
import { expect, onTestFinished, test } from 'vitest'
import { GroupRun } from '../../benchmarks/matrix/measure.ts'
import type { Measuring } from '../../benchmarks/matrix/measure.ts'

test('a pair that fails while another one starts is reported as well', async () => {
  const measuring: Measuring = { samples: [], failures: [], processors: [], report () {} }
  const unhandled: unknown[] = []
  const collect = (err: unknown): void => { unhandled.push(err) }
  const exitAfter = (ms: number): string[] => [process.execPath, '-e', `setTimeout(() => {}, ${ms})`]
  process.on('unhandledRejection', collect)
  onTestFinished(() => { process.off('unhandledRejection', collect) })

  const run = new GroupRun({
    group: { transport: 'tcp-noise', rows: [], muxers: ['go-yamux', 'rust-yamux'] },
    programs: [{ name: 'go-yamux', command: exitAfter(1000) }, { name: 'rust-yamux', command: exitAfter(0) }] as never,
    measuring
  })
  await run.connect()

  expect(measuring.failures.map(({ muxer }) => muxer).sort()).toEqual(['go-yamux', 'rust-yamux'])
  expect(unhandled).toEqual([])
})
