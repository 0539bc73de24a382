// The chart that `npm start -- --chart` draws.
import { expect, test } from 'vitest'
import { drawSmallMessages } from '../../benchmarks/report/small-messages-chart.ts'
import { rows } from '../../benchmarks/rows.ts'
import type { CellSample } from '../../benchmarks/report/metrics.ts'

function round (rowId: string, muxer: CellSample['muxer'], messagesPerS: number): CellSample {
  return { rowId, muxer, transport: 'tcp-noise', round: 1, metrics: { messagesPerS } }
}

const measured = rows.filter(({ id }) => id === '1x100' || id === '10x1m')
const svg = drawSmallMessages([
  round('1x100', 'ours', 3_000_000), round('1x100', 'stock', 60_000),
  round('10x1m', 'ours', 380), round('10x1m', 'stock', 450)
], measured, ['ours', 'stock'])

const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text)

test('has a bar for each muxer, with its messages a second and how many times as many ours has', () => {
  expect(texts).toEqual(expect.arrayContaining(['ours', '3,000,000', '@libp2p/yamux', '60,000, ours 50 ×']))
})

test('leaves large messages out', () => {
  expect(texts).toContain('1 stream × 100 B')
  expect(texts.join()).not.toContain('1 MiB')
})
