// What a benchmark records is what is read back.
import { expect, test } from 'vitest'
import { parseRecord, printRecord } from '../../benchmarks/harness/record.ts'
import type { BenchmarkRecord } from '../../benchmarks/harness/record.ts'
import type { Sample } from '../../benchmarks/harness/samples.ts'

const sample = (muxer: string, round: number, metrics: Sample['metrics']): Sample => ({ rowId: 'row', muxer, round, metrics })

const record: BenchmarkRecord = {
  benchmark: 'idle',
  command: 'npm run bench idle',
  commit: '1234567',
  isChanged: false,
  date: '2026-01-01',
  machine: { model: 'a processor', cores: 2, calibrationMs: 200 },
  node: '24.0.0',
  versions: { libp2p: '3.0.0' },
  extent: '2 rounds',
  samples: [sample('ours', 1, { p50Ms: 1, p99Ms: 2 }), sample('ours', 2, { p50Ms: 3, p99Ms: 4 }), sample('stock', 1, { p50Ms: 5 })]
}

test('a record is read back as it was written', () => {
  expect(parseRecord(printRecord(record))).toEqual(record)
})

test('a cell has a line, with all rounds of each metric', () => {
  expect(printRecord(record).split('\n').filter(line => line.startsWith('{"'))).toEqual([
    '{"rowId":"row","muxer":"ours","metrics":{"p50Ms":[1,3],"p99Ms":[2,4]}},',
    '{"rowId":"row","muxer":"stock","metrics":{"p50Ms":[5]}}'
  ])
})

test('a round in which a cell was not measured, and a metric that was not, are left out', () => {
  const samples = [sample('ours', 2, { p50Ms: 1, p99Ms: undefined }), sample('ours', 4, { p99Ms: 2 })]

  expect(parseRecord(printRecord({ ...record, samples })).samples).toEqual([sample('ours', 2, { p50Ms: 1 }), sample('ours', 4, { p99Ms: 2 })])
})

test('figures have four digits', () => {
  const { samples } = parseRecord(printRecord({ ...record, samples: [sample('ours', 1, { p50Ms: 0.123456, p99Ms: 123_456 })] }))

  expect(samples[0].metrics).toEqual({ p50Ms: 0.1235, p99Ms: 123_500 })
})

test('what tells cells apart beside row and muxer is kept', () => {
  const samples = ['tcp', 'memory'].map(transport => ({ ...sample('ours', 1, { p50Ms: 1 }), transport }))

  expect(parseRecord(printRecord({ ...record, samples })).samples).toEqual(samples)
})
