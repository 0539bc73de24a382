// What rounds leave behind, and what is made of it: medians, and ratios within each round.
import { max, median, min } from 'simple-statistics'

/** As much of a sample as medians and ratios need; what is not known is left out */
export interface RoundSample<Metric extends string = string> {
  round: number
  metrics: Partial<Record<Metric, number>>
}

/** Of a row of the table and a muxer, or what else is compared */
export interface Sample<Metric extends string = string> extends RoundSample<Metric> {
  rowId: string
  muxer: string
}

/** Over the rounds */
export interface Spread {
  median: number
  min: number
  max: number
}

export function samplesOf <Of extends Pick<Sample, 'rowId' | 'muxer'>> (samples: Of[], rowId: string, muxer: string): Of[] {
  return samples.filter(sample => sample.rowId === rowId && sample.muxer === muxer)
}

export function medianOf <Metric extends string> (samples: Array<RoundSample<Metric>>, metric: Metric): number | undefined {
  return spreadOf(samples.map(sample => sample.metrics[metric]))?.median
}

/** Each round is compared within itself, so that a slow round slows both sides */
export function ratioOf <Metric extends string> (samples: Array<RoundSample<Metric>>, references: Array<RoundSample<Metric>>, metric: Metric): Spread | undefined {
  return spreadOf(ratiosOf(samples, references, metric))
}

/** One for each round that has both */
export function ratiosOf <Metric extends string> (samples: Array<RoundSample<Metric>>, references: Array<RoundSample<Metric>>, metric: Metric): number[] {
  return samples.flatMap(({ round, metrics }) => {
    const value = metrics[metric]
    const reference = references.find(sample => sample.round === round)?.metrics[metric]

    return value == null || reference == null ? [] : [value / reference]
  })
}

/** Of what is known, if anything is */
export function spreadOf (values: Array<number | undefined>): Spread | undefined {
  const known = values.filter(value => value != null)

  return known.length === 0 ? undefined : { median: median(known), min: min(known), max: max(known) }
}
