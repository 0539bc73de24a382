// From what both sides noted to the numbers of one line of a table.
import { max, median, min, quantile, sum } from 'simple-statistics'
import { URGENT_INTERVAL_MS } from './workload.ts'
import type { Spread } from '../../harness/samples.ts'
import type { Arrived, Progress, Shares } from './receiver.ts'
import type { UrgentSent } from './sender.ts'
import type { Phases } from './workload.ts'

export interface Measured extends UrgentSent, Arrived {
  shares: Shares
  phases: Phases
}

export interface Metrics {
  p50Ms: number
  p99Ms: number
  maxMs: number
  /** What the muxer handed down between send() and the message, and the message */
  aheadP99Bytes: number
  /** What it had handed down before send(), and had not come in by then; missing if it is not known */
  belowP50Bytes?: number
  /** How late send() was called */
  lateP99Ms: number
  bulkMegabytesPerS: number
  /** Of the streams that saturate the connection: the largest share by the smallest */
  mostByLeast: number
  longestGapMs: number
}

export interface Sample {
  variantId: string
  round: number
  metrics: Metrics
}

export function toMetrics (measured: Measured): Metrics {
  const { sentAtMs, handedDownBytes, arrivedAtMs, cameInBytes, progress, lateMs, shares, phases } = measured
  const messages = Array.from(sentAtMs.keys()).slice(phases.warmUpMs / URGENT_INTERVAL_MS)
  const latenciesMs = messages.map(i => arrivedAtMs[i] - sentAtMs[i])
  const belowBytes = messages.flatMap(i => {
    const inBytes = cameInBytesAt(sentAtMs[i], progress)

    return inBytes == null ? [] : [handedDownBytes[i] - inBytes]
  })

  return {
    p50Ms: median(latenciesMs),
    p99Ms: quantile(latenciesMs, 0.99),
    maxMs: max(latenciesMs),
    aheadP99Bytes: quantile(messages.map(i => cameInBytes[i] - handedDownBytes[i]), 0.99),
    belowP50Bytes: belowBytes.length > 0 ? median(belowBytes) : undefined,
    lateP99Ms: quantile(messages.map(i => lateMs[i]), 0.99),
    bulkMegabytesPerS: sum(shares.bytesOfStream) / 1000 / shares.measuredMs,
    mostByLeast: max(shares.bytesOfStream) / min(shares.bytesOfStream),
    longestGapMs: shares.longestGapMs
  }
}

/** Between the instants at which it was noted it grows evenly: the connection is busy */
function cameInBytesAt (instantMs: number, { atMs, cameInBytes }: Progress): number | undefined {
  const next = atMs.findIndex(notedMs => notedMs > instantMs)

  if (next < 1) {
    return undefined
  }

  const part = (instantMs - atMs[next - 1]) / (atMs[next] - atMs[next - 1])

  return cameInBytes[next - 1] + (cameInBytes[next] - cameInBytes[next - 1]) * part
}

export function medianOf (samples: Sample[], variantId: string, metric: keyof Metrics): number | undefined {
  const values = samples.filter(sample => sample.variantId === variantId).flatMap(({ metrics }) => metrics[metric] ?? [])

  return values.length > 0 ? median(values) : undefined
}

/** Each round is compared within itself, so that a slow round slows both */
export function p99RatioOf (samples: Sample[], variantId: string, referenceId: string): Spread | undefined {
  const ratios = samples.filter(sample => sample.variantId === variantId).flatMap(({ round, metrics }) => {
    const reference = samples.find(sample => sample.variantId === referenceId && sample.round === round)

    return reference == null ? [] : [metrics.p99Ms / reference.metrics.p99Ms]
  })

  return ratios.length === 0 ? undefined : { median: median(ratios), min: min(ratios), max: max(ratios) }
}
