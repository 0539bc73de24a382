// The tables of the matrix: for each transport one about throughput and one about latency.
import { transports } from '../contestants.ts'
import { figure, renderSamples, times } from '../harness/table.ts'
import { isOfLoneRequests } from '../rows.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Column, Labelled } from '../harness/table.ts'
import type { CellSample, Metrics } from '../report/metrics.ts'
import type { Group } from './selection.ts'

type MatrixColumn = Column<keyof Metrics>

/** What others are compared with */
const BASES: ContestantMuxer[] = ['stock', 'mplex', 'none', 'quic', 'http2', 'go-yamux', 'rust-yamux']

const throughputColumns = (bases: ContestantMuxer[]): MatrixColumn[] => [
  figure('MB/s', 'megabytesPerS'),
  figure('messages/s', 'messagesPerS'),
  ...bases.map(base => times('messages/s', 'messagesPerS', base)),
  figure('CPU s/GB\nboth', 'bothCpuSPerGigabyte'),
  times('receiver CPU', 'receiverCpuSPerGigabyte', 'stock')
]

const latencyColumns: MatrixColumn[] = [
  figure('p50 ms', 'p50Ms'),
  figure('p99 ms', 'p99Ms'),
  ...['stock', 'mplex'].flatMap(base => [times('p50', 'p50Ms', base), times('p99', 'p99Ms', base)] as MatrixColumn[]),
  figure('requests/s', 'messagesPerS')
]

export function renderTables (samples: CellSample[], { transport, rows, muxers }: Group): string[] {
  const ofThis = samples.filter(sample => sample.transport === transport)
  const tables: Array<[about: string, rows: Labelled[], columns: MatrixColumn[]]> = [
    ['throughput', rows.filter(row => !isOfLoneRequests(row)), throughputColumns(BASES.filter(base => muxers.includes(base)))],
    ['latency of requests', rows.filter(isOfLoneRequests), latencyColumns]
  ]

  return tables
    .map(([about, rows, columns]) => ({ about, columns, rows: rows.filter(({ id }) => ofThis.some(({ rowId }) => rowId === id)) }))
    .filter(({ rows }) => rows.length > 0)
    .map(({ about, rows, columns }) => `${transports[transport]}: ${about}\n${renderSamples(ofThis, rows, muxers.map(id => ({ id, label: id })), columns)}\n`)
}

export const legend = [
  'Medians of the rounds. A round takes every row through every muxer of the transport in turn, after one that warms up. Sender and receiver are',
  'processes, or over message ports threads. Time runs from the first send on open streams to the confirmation of the last one. All is verified.',
  '',
  'work      1 × 100 B: one stream with messages of 100 bytes; 1,000 × 4 KiB: a thousand that take turns',
  '× stock   by that of stock in the same round (lowest–highest): more is better of messages/s, less of times and CPU',
  'stock     @libp2p/yamux; mplex is @libp2p/mplex',
  'none      no muxer: one connection carries the same bytes in chunks of 65,519 bytes, whole Noise records',
  'quic      @chainsafe/libp2p-quic, which has its own transport and encryption, among those on TCP and Noise',
  'http2     node:http2 with windows of 16 MiB; instead of Noise TLS 1.2 with the same cipher, ChaCha20-Poly1305',
  'go-, rust-yamux  programs in Go and Rust at both ends; rust-yamux-buffered has buffers around its socket',
  'CPU       user and system time, that of checking included; over message ports of the thread alone'
].join('\n')
