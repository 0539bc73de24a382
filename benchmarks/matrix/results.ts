// What a run of the matrix leaves behind, as it is recorded and compared later.
import { readFile } from 'node:fs/promises'
import { parseRecord } from '../harness/record.ts'
import { ratiosOf, samplesOf } from '../harness/samples.ts'
import { matrixRows } from '../rows.ts'
import { idleConnections } from './idle-connections.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { CellSample, Metrics } from '../report/metrics.ts'
import type { Row } from '../rows.ts'

export interface Failure {
  transport: TransportName
  muxer: ContestantMuxer
  message: string
}

export interface Results {
  startedAt: string
  rounds: number
  samples: CellSample[]
  /** Of the processors that the benchmark needs, by other programs */
  takenPercent?: number
  /** Who failed was not measured any further on that transport */
  failures: Failure[]
}

export function describeFailures (failures: Failure[]): string {
  return failures.map(({ transport, muxer, message }) => `${muxer} on ${transport}: ${message}`).join('\n')
}

export async function readResults (path: string): Promise<Results> {
  const record = parseRecord(await readFile(path, 'utf8'))

  if (record.benchmark !== 'matrix') {
    throw new Error(`${path} is not what \`npm run bench matrix -- --json\` writes`)
  }

  return record as unknown as Results
}

/** What others are compared with, on the transports where they are measured */
export const BASES: ContestantMuxer[] = ['stock', 'mplex', 'none', 'quic', 'http2', 'go-yamux', 'rust-yamux']

/** What a row is about */
export interface Headline {
  metric: keyof Metrics
  label: string
  isLowerBetter: boolean
}

const THROUGHPUT: Headline[] = [{ metric: 'messagesPerS', label: 'messages/s', isLowerBetter: false }]
const LATENCY: Headline[] = [
  { metric: 'p50Ms', label: 'p50', isLowerBetter: true },
  { metric: 'p99Ms', label: 'p99', isLowerBetter: true }
]
const RECEIVER: Headline[] = [{ metric: 'receiverCpuSPerGigabyte', label: 'receiver CPU', isLowerBetter: true }]
const MEMORY: Headline[] = [
  { metric: 'dialerKibPerConnection', label: 'KiB of the dialer', isLowerBetter: true },
  { metric: 'listenerKibPerConnection', label: 'KiB of the listener', isLowerBetter: true }
]

/** Those of the matrix and what is measured beside them */
export const reportedRows: Array<Row | typeof idleConnections> = [...matrixRows, idleConnections]

export function headlinesOf (row: Row | typeof idleConnections): Headline[] {
  if (!('scenario' in row)) {
    return MEMORY
  }

  const { scenario } = row

  return isAboutLatency(scenario) ? LATENCY : scenario === 'one-per-turn' ? RECEIVER : THROUGHPUT
}

export function isAboutLatency (scenario: Row['scenario']): boolean {
  return scenario === 'requests' || scenario === 'requests-on-one-stream' || scenario === 'beside-bulk'
}

export function ofTransport (samples: CellSample[], transport: TransportName): CellSample[] {
  return samples.filter(sample => sample.transport === transport)
}

/** Of each round to the base's in the same round; `samples` are of one transport */
export function ratiosToBase (samples: CellSample[], rowId: string, muxer: ContestantMuxer, base: ContestantMuxer, metric: keyof Metrics): number[] {
  return ratiosOf(samplesOf(samples, rowId, muxer), samplesOf(samples, rowId, base), metric)
}
