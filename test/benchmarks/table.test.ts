// What the table of `npm start` compares muxers by.
import { expect, test } from 'vitest'
import { renderTable } from '../../benchmarks/report/table.ts'
import type { CellSample, Metrics } from '../../benchmarks/report/metrics.ts'

function sample (muxer: CellSample['muxer'], metrics: Metrics): CellSample {
  return { rowId: 'row', muxer, transport: 'tcp-noise', round: 1, metrics }
}

const samples = [sample('ours', { messagesPerS: 800, p99Ms: 20 }), sample('stock', { messagesPerS: 100, p99Ms: 400 })]

test('a row is compared by its messages a second', () => {
  expect(renderTable(samples, [{ id: 'row', label: 'a row' }], ['ours', 'stock'])).toMatch(/│ ours .*│ +8\.00 │/)
})

test('a row that is compared by something else says by what', () => {
  const row = { id: 'row', label: 'a row', comparedBy: { metric: 'p99Ms', label: 'p99' } } as const

  expect(renderTable(samples, [row], ['ours', 'stock'])).toMatch(/│ ours .*│ +p99 0\.05 │/)
})
