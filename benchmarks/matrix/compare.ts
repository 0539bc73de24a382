// What changed between two runs, beyond what differs from round to round anyway.
import { max, median, min } from 'simple-statistics'
import { transportNames } from '../contestants.ts'
import { samplesOf } from '../harness/samples.ts'
import { headlinesOf, ofTransport, ratiosToBase, reportedRows } from './results.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { CellSample } from '../report/metrics.ts'
import type { Headline, Results } from './results.ts'

/** With fewer, ranges lie apart by chance too often: two times of six with two rounds, of twenty with three, of 252 with five */
const MIN_ROUNDS = 3

export interface Change {
  transport: TransportName
  row: typeof reportedRows[number]
  muxer: ContestantMuxer
  headline: Headline
  /** To stock's in the same round, so that another machine or a busy one is no change; stock's own are as measured */
  isRatio: boolean
  before: number[]
  now: number[]
  isBetter: boolean
}

export interface Comparison {
  changes: Change[]
  /** Cells that both runs have in enough rounds */
  comparedCells: number
  /** Cells that both have, but not in enough rounds */
  tooFewRounds: number
}

/** No round of one is between those of the other, which is a Mann-Whitney U of 0 */
function areApart (before: number[], now: number[]): boolean {
  return max(before) < min(now) || max(now) < min(before)
}

function valuesOf (samples: CellSample[], rowId: string, muxer: ContestantMuxer, { metric }: Headline, isRatio: boolean): number[] {
  return isRatio
    ? ratiosToBase(samples, rowId, muxer, 'stock', metric)
    : samplesOf(samples, rowId, muxer).map(sample => sample.metrics[metric]).filter(value => value != null)
}

type Figure = Omit<Change, 'isBetter'>

/** All that both runs have */
function * figuresOf (before: Results, now: Results): Generator<Figure> {
  for (const transport of transportNames) {
    const runs = [before, now].map(({ samples }) => ofTransport(samples, transport))
    const muxers = [...new Set(runs[1].map(({ muxer }) => muxer))]

    for (const row of reportedRows) {
      const hasStock = runs.every(samples => samplesOf(samples, row.id, 'stock').length > 0)

      for (const muxer of muxers) {
        for (const headline of headlinesOf(row)) {
          const isRatio = hasStock && muxer !== 'stock'
          const [before, now] = runs.map(samples => valuesOf(samples, row.id, muxer, headline, isRatio))

          if (before.length > 0 && now.length > 0) {
            yield { transport, row, muxer, headline, isRatio, before, now }
          }
        }
      }
    }
  }
}

export function compare (before: Results, now: Results): Comparison {
  const [compared, tooFew] = partition([...figuresOf(before, now)], ({ before, now }) => Math.min(before.length, now.length) >= MIN_ROUNDS)
  const changes = compared
    .filter(({ before, now }) => areApart(before, now))
    .map(figure => ({ ...figure, isBetter: (median(figure.now) > median(figure.before)) !== figure.headline.isLowerBetter }))

  return { changes, comparedCells: compared.length, tooFewRounds: tooFew.length }
}

function partition<Value> (values: Value[], isFirst: (value: Value) => boolean): [Value[], Value[]] {
  return [values.filter(isFirst), values.filter(value => !isFirst(value))]
}
