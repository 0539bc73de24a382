// What `npm run bench matrix -- --compare` calls a change, and what the short run fails on.
import { describe, expect, test } from 'vitest'
import { compare } from '../../benchmarks/matrix/compare.ts'
import { assertNoGrossLoss } from '../../benchmarks/matrix/short.ts'
import type { Results } from '../../benchmarks/matrix/results.ts'
import type { CellSample, Metrics } from '../../benchmarks/report/metrics.ts'

/** One sample for each round */
function rounds (rowId: string, muxer: CellSample['muxer'], metric: keyof Metrics, values: number[]): CellSample[] {
  return values.map((value, i) => ({ rowId, muxer, transport: 'tcp-noise', round: i + 1, metrics: { [metric]: value } }))
}

function run (...samples: CellSample[][]): Results {
  return { startedAt: '', rounds: 3, samples: samples.flat(), failures: [] }
}

const speeds = (values: number[]): CellSample[] => rounds('1x100', 'ours', 'messagesPerS', values)
const stockSpeeds = (values: number[]): CellSample[] => rounds('1x100', 'stock', 'messagesPerS', values)

describe('comparing two runs', () => {
  test('a figure has changed when no round of one run lies between those of the other', () => {
    const { changes, comparedCells } = compare(run(speeds([10, 12, 11])), run(speeds([13, 15, 14])))

    expect(comparedCells).toBe(1)
    expect(changes).toMatchObject([{ muxer: 'ours', isBetter: true, before: [10, 12, 11], now: [13, 15, 14] }])
  })

  test('rounds that overlap are no change', () => {
    expect(compare(run(speeds([10, 12, 11])), run(speeds([12, 15, 14]))).changes).toEqual([])
  })

  test('a longer latency is worse', () => {
    const [before, now] = [[1, 2, 3], [4, 5, 6]].map(values => run(rounds('requests', 'ours', 'p99Ms', values)))

    expect(compare(before, now).changes).toMatchObject([{ headline: { metric: 'p99Ms' }, isBetter: false }])
  })

  test('a machine that slows all muxers down alike changes nothing but stock\'s own figures', () => {
    const before = run(speeds([50, 60, 70]), stockSpeeds([5, 6, 7]))
    const now = run(speeds([5, 6, 7]), stockSpeeds([0.5, 0.6, 0.7]))

    expect(compare(before, now).changes.map(({ muxer }) => muxer)).toEqual(['stock'])
  })

  test('two rounds are too few to tell', () => {
    expect(compare(run(speeds([1, 2])), run(speeds([10, 11, 12])))).toEqual({ changes: [], comparedCells: 0, tooFewRounds: 1 })
  })
})

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
