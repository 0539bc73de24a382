// What `npm start` says in words of the figures of its run.
import { describe, expect, test } from 'vitest'
import { describeDoubts, describeOutcome } from '../../benchmarks/report/verdict.ts'
import { rows } from '../../benchmarks/rows.ts'
import { relayedUplink } from '../../benchmarks/uplink/relayed.ts'
import type { CellSample, Metrics } from '../../benchmarks/report/metrics.ts'

const all = [...rows, relayedUplink]

/** One sample for each round */
function rounds (rowId: string, muxer: CellSample['muxer'], values: number[], metric: keyof Metrics = 'messagesPerS'): CellSample[] {
  return values.map((value, i) => ({ rowId, muxer, transport: 'tcp-noise', round: i + 1, metrics: { [metric]: value } }))
}

const stock = (rowId: string, count = 3): CellSample[] => rounds(rowId, 'stock', new Array<number>(count).fill(100))
const mplex = (rowId: string): CellSample[] => rounds(rowId, 'mplex', [200, 200, 200])
const outcome = (...samples: CellSample[][]): string[] => describeOutcome(samples.flat(), all)
const doubts = (...samples: CellSample[][]): string[] => describeDoubts(samples.flat(), all)

describe('the last two sentences', () => {
  test('tell how many times as many small messages there are, from the least to the most', () => {
    expect(outcome(
      rounds('1x100', 'ours', [5000, 5100, 5200]), stock('1x100'), mplex('1x100'),
      rounds('1x4k', 'ours', [390, 400, 410]), stock('1x4k'), mplex('1x4k')
    )).toEqual(['Small messages a second: 4.00 to 51 times as many as @libp2p/yamux, 2.00 to 26 times as many as @libp2p/mplex.'])
  })

  test('are two where there are large messages or requests too', () => {
    expect(outcome(
      rounds('1x100', 'ours', [500, 500, 500]), stock('1x100'),
      rounds('10x1m', 'ours', [200, 200, 200]), stock('10x1m'),
      rounds('requests', 'ours', [300, 300, 300]), stock('requests')
    )).toEqual([
      'Small messages a second: 5.00 times as many as @libp2p/yamux.',
      'Large messages a second: 2.00 times as many as @libp2p/yamux; requests a second: 3.00 times as many as @libp2p/yamux.'
    ])
  })

  test('call undecided what lies on both sides of the other one, with its rounds', () => {
    expect(outcome(rounds('10x1m', 'ours', [80, 90, 101]), stock('10x1m'))).toEqual(['Large messages a second: undecided against @libp2p/yamux in "10 × 1 MiB" (0.90, rounds from 0.80 to 1.01).'])
  })

  test('name the rows where this muxer is behind, and behind whom', () => {
    expect(outcome(
      rounds('10x1m', 'ours', [80, 83, 99]), stock('10x1m'), rounds('10x1m', 'mplex', [90, 83, 90]),
      rounds('1x64k', 'ours', [120, 130, 140]), stock('1x64k')
    )).toEqual(['Large messages a second: undecided against @libp2p/mplex in "10 × 1 MiB" (1.00, rounds from 0.89 to 1.10), behind @libp2p/yamux in "10 × 1 MiB" (0.83), ahead of @libp2p/yamux in "1 × 64 KiB" (1.30).'])
  })

  test('say of small messages too that there are fewer', () => {
    expect(outcome(rounds('1x100', 'ours', [50, 60, 70]), stock('1x100'))[0]).toContain('behind @libp2p/yamux in "1 × 100 B" (0.60)')
  })

  test('turn times around, of which less is better', () => {
    expect(outcome(rounds('uplink', 'ours', [2, 2, 2], 'p99Ms'), rounds('uplink', 'stock', [100, 100, 100], 'p99Ms')))
      .toEqual(['Urgent messages beside bulk: 50 times as fast as @libp2p/yamux.'])
  })

  test('say what is missing where nobody can be compared', () => {
    expect(outcome(stock('1x100'), mplex('1x100'))).toEqual([expect.stringContaining('it takes ours and one of stock and mplex')])
  })
})

describe('doubts', () => {
  test('few rounds say how often chance alone would do as much', () => {
    expect(doubts(rounds('1x100', 'ours', [500, 500, 500]), stock('1x100')))
      .toEqual(['3 rounds say little: muxers that are alike would end on the same side in all of them one time in 4. Add --rounds 9.'])
  })

  test('one round has a sentence of its own', () => {
    expect(doubts(rounds('1x100', 'ours', [500]), stock('1x100', 1))).toEqual(['One round says nothing of how much rounds differ. Add --rounds 9.'])
  })

  test('rows whose rounds lie far apart are named, once each', () => {
    expect(doubts(
      rounds('file', 'ours', [100, 110, 120, 130, 201]), stock('file', 5), rounds('file', 'mplex', [100, 100, 100, 100, 100]),
      rounds('1x4k', 'ours', [100, 110, 120, 130, 200]), stock('1x4k', 5)
    )).toEqual([expect.stringMatching(/^Rounds differ by more than twice in "file, 64 KiB": /)])
  })

  test('enough rounds that agree leave none', () => {
    expect(doubts(rounds('1x100', 'ours', [500, 510, 520, 530, 540]), stock('1x100', 5))).toEqual([])
  })
})
