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

test('a narrow terminal goes without columns until the table fits, and is told how many', () => {
  const lines = renderTable(samples, [{ id: 'row', label: 'a row' }], ['ours', 'stock'], 40).split('\n')

  expect(Math.max(...lines.filter(line => /^[│┌]/.test(line)).map(line => line.length))).toBeLessThanOrEqual(40)
  expect(lines[1]).toContain('× stock')
  expect(lines.at(-1)).toMatch(/^Columns left out for want of width: 1\./)
})

test('a column that nobody fills is left out', () => {
  const [, headings] = renderTable(samples, [{ id: 'row', label: 'a row' }], ['ours', 'stock']).split('\n')

  expect(headings).toMatch(/│ muxer │ +messages │ +p99 │ +× stock │/)
})
