// From what two processes measured to the numbers of one line of the table.
import { quantile } from 'simple-statistics'
import { isOfLoneRequests } from '../rows.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { Measured } from '../pair/pair.ts'
import type { Row } from '../rows.ts'

/** One cell of one round, without what it was calculated from */
export interface CellSample {
  rowId: string
  muxer: ContestantMuxer
  transport: TransportName
  round: number
  metrics: Metrics
}

/** A metric that does not apply to a row, or that nobody can see, is left out */
export interface Metrics {
  megabytesPerS?: number
  messagesPerS?: number
  socketWritesPerMegabyte?: number
  noiseRecordsPerMegabyte?: number
  senderCpuSPerGigabyte?: number
  receiverCpuSPerGigabyte?: number
  bothCpuSPerGigabyte?: number
  p50Ms?: number
  p99Ms?: number
  /** Of the streams beside those that are measured */
  besideMegabytesPerS?: number
  /** That one muxer has handed down and has not reached the other */
  inFlightMegabytes?: number
  /** How late send() was called */
  lateP99Ms?: number
  /** Part of the time */
  senderGcPercent?: number
  receiverGcPercent?: number
}

/** Of everything that is sent */
export interface TransferMetrics extends Metrics {
  megabytesPerS: number
  messagesPerS: number
}

export function toMetrics (row: Row, { unitBytes, sent, sentBack, receiverSpent }: Measured): TransferMetrics {
  const megabytes = (sent.units + (sentBack?.units ?? 0)) * unitBytes / 1e6
  const durationS = Math.max(sent.durationMs, sentBack?.durationMs ?? 0) / 1000

  return {
    megabytesPerS: megabytes / durationS,
    messagesPerS: megabytes * 1e6 / row.messageBytes / durationS,
    socketWritesPerMegabyte: per(megabytes, sent.spent.socketWrites),
    noiseRecordsPerMegabyte: sent.spent.noiseRecords === 0 ? undefined : per(megabytes, sent.spent.noiseRecords),
    ...sent.latenciesMs.length > 0 && latency(sent.latenciesMs),
    // the processes are kept awake to measure the latency of lone requests, so their CPU time says nothing
    ...!isOfLoneRequests(row) && cpu(megabytes, sent.spent.cpuMs, receiverSpent.cpuMs),
    senderGcPercent: per(durationS * 10, sent.spent.gcMs),
    receiverGcPercent: per(durationS * 10, receiverSpent.gcMs)
  }
}

function per (divisor: number, value?: number): number | undefined {
  return value == null ? undefined : value / divisor
}

function latency (latenciesMs: number[]): Pick<Metrics, 'p50Ms' | 'p99Ms'> {
  return {
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99)
  }
}

/** Milliseconds per megabyte are seconds per gigabyte */
function cpu (megabytes: number, senderMs: number, receiverMs: number): Pick<Metrics, 'senderCpuSPerGigabyte' | 'receiverCpuSPerGigabyte' | 'bothCpuSPerGigabyte'> {
  return {
    senderCpuSPerGigabyte: senderMs / megabytes,
    receiverCpuSPerGigabyte: receiverMs / megabytes,
    bothCpuSPerGigabyte: (senderMs + receiverMs) / megabytes
  }
}
