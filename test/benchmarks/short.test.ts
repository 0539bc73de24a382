// What fails the short run of the matrix.
import { describe, expect, test } from 'vitest'
import { assertNoGrossLoss } from '../../benchmarks/matrix/short.ts'
import type { CellSample, Metrics } from '../../benchmarks/report/metrics.ts'

/** One sample for each round */
function rounds (rowId: string, muxer: CellSample['muxer'], metric: keyof Metrics, values: number[]): CellSample[] {
  return values.map((value, i) => ({ rowId, muxer, transport: 'tcp-noise', round: i + 1, metrics: { [metric]: value } }))
}

const speeds = (values: number[]): CellSample[] => rounds('1x100', 'ours', 'messagesPerS', values)
const stockSpeeds = (values: number[]): CellSample[] => rounds('1x100', 'stock', 'messagesPerS', values)

describe('the short run', () => {
  const large = [...rounds('1x64k', 'ours', 'messagesPerS', [4, 2, 4]), ...rounds('1x64k', 'stock', 'messagesPerS', [4, 5, 4])]

  test('passes when one round is slow', () => {
    expect(() => { assertNoGrossLoss([...speeds([60, 9, 70]), ...stockSpeeds([6, 3, 7]), ...large]) }).not.toThrow()
  })

  test('fails when the median of the rounds is below its bound', () => {
    expect(() => { assertNoGrossLoss([...speeds([12, 90, 14]), ...stockSpeeds([3, 3, 3]), ...large]) }).toThrow('1x100: ours has 4.67 times')
  })

  test('fails when a cell was not measured', () => {
    expect(() => { assertNoGrossLoss([...speeds([60]), ...stockSpeeds([6])]) }).toThrow('1x64k was not measured')
  })
})
