// From what two processes measured to the numbers of one line of the table.
import { max, median, min, quantile } from 'simple-statistics'
import type { MuxerName } from '../muxers.ts'
import type { Measured } from '../pair.ts'
import type { Row } from '../rows.ts'

/** One cell of one round */
export interface Sample {
  rowId: string
  muxer: MuxerName
  round: number
  metrics: Metrics
  measured: Measured
}

/** A metric that does not apply to a row is left out */
export interface Metrics {
  megabytesPerS: number
  messagesPerS: number
  socketWritesPerMegabyte: number
  noiseRecordsPerMegabyte: number
  senderCpuSPerGigabyte?: number
  receiverCpuSPerGigabyte?: number
  p50Ms?: number
  p99Ms?: number
}

export interface Ratio {
  median: number
  min: number
  max: number
}

export function toMetrics (row: Row, { sent, receiverSpent }: Measured): Metrics {
  const unitBytes = row.unitBytesPerStream * row.streams
  const megabytes = sent.units * unitBytes / 1e6
  const messages = sent.units * row.streams * Math.ceil(row.unitBytesPerStream / row.messageBytes)
  const durationS = sent.durationMs / 1000

  const metrics: Metrics = {
    megabytesPerS: megabytes / durationS,
    messagesPerS: messages / durationS,
    socketWritesPerMegabyte: sent.spent.socketWrites / megabytes,
    noiseRecordsPerMegabyte: sent.spent.noiseRecords / megabytes
  }

  if (sent.latenciesMs.length > 0) {
    // the processes are kept awake to measure latency, so their CPU time says nothing
    return {
      ...metrics,
      p50Ms: quantile(sent.latenciesMs, 0.5),
      p99Ms: quantile(sent.latenciesMs, 0.99)
    }
  }

  // milliseconds per megabyte are seconds per gigabyte
  return {
    ...metrics,
    senderCpuSPerGigabyte: sent.spent.cpuMs / megabytes,
    receiverCpuSPerGigabyte: receiverSpent.cpuMs / megabytes
  }
}

export function samplesOf (samples: Sample[], rowId: string, muxer: MuxerName): Sample[] {
  return samples.filter(sample => sample.rowId === rowId && sample.muxer === muxer)
}

export function medianOf (samples: Sample[], metric: keyof Metrics): number | undefined {
  const values = samples.map(sample => sample.metrics[metric]).filter(value => value != null)
  return values.length === 0 ? undefined : median(values)
}

/** Each round is compared within itself, so that a slow round slows both sides */
export function ratioOf (samples: Sample[], references: Sample[], metric: keyof Metrics = 'messagesPerS'): Ratio | undefined {
  const ratios = samples.flatMap(({ round, metrics }) => {
    const value = metrics[metric]
    const reference = references.find(sample => sample.round === round)?.metrics[metric]

    return value == null || reference == null ? [] : [value / reference]
  })

  return ratios.length === 0 ? undefined : { median: median(ratios), min: min(ratios), max: max(ratios) }
}
