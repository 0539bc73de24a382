// The tables of the matrix: for each transport one about throughput, one about latency and one about memory.
import { transports } from '../contestants.ts'
import { medianOf, ratioOf, samplesOf, spreadOf } from '../harness/samples.ts'
import { format, formatRatio } from '../harness/table.ts'
import { matrixRows } from '../rows.ts'
import { idleConnections } from './idle-connections.ts'
import { BASES, isAboutLatency, ofTransport } from './results.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { CellSample, Metrics } from '../report/metrics.ts'
import type { Group } from '../harness/table.ts'
import type { Row } from '../rows.ts'

export interface MatrixTable {
  transport: TransportName
  title: string
  headings: string[]
  /** Each line begins with the muxer */
  groups: Group[]
}

interface Line {
  /** Of its row and muxer, one for each round */
  samples: CellSample[]
  /** Of the same row and the base */
  ofBase(base: ContestantMuxer): CellSample[]
}

interface Column {
  heading: string
  text(line: Line): string
}

function withSpread (heading: string, metric: keyof Metrics): Column {
  return { heading, text: ({ samples }) => formatRatio(spreadOf(samples.map(({ metrics }) => metrics[metric]))) }
}

function justMedian (heading: string, metric: keyof Metrics): Column {
  return { heading, text: ({ samples }) => format(medianOf(samples, metric)) }
}

function bothEnds (heading: string, metric: 'CpuSPerGigabyte' | 'LoopP99Ms' | 'GcPercent' | 'RssMegabytes' | 'HeapMegabytes'): Column {
  return {
    heading: `${heading}\nsender, receiver`,
    text ({ samples }) {
      const [sender, receiver] = [medianOf(samples, `sender${metric}`), medianOf(samples, `receiver${metric}`)]

      return sender == null && receiver == null ? '-' : `${format(sender)}, ${format(receiver)}`
    }
  }
}

function timesBase (metric: keyof Metrics, label: string, base: ContestantMuxer): Column {
  return { heading: `${label}\n× ${base}`, text: ({ samples, ofBase }) => formatRatio(ratioOf(samples, ofBase(base), metric)) }
}

function throughputColumns (bases: ContestantMuxer[]): Column[] {
  return [
    withSpread('MB/s', 'megabytesPerS'),
    justMedian('messages/s', 'messagesPerS'),
    ...bases.map(base => timesBase('messagesPerS', 'messages/s', base)),
    justMedian('CPU s/GB\nboth', 'bothCpuSPerGigabyte'),
    bothEnds('CPU s/GB', 'CpuSPerGigabyte'),
    timesBase('receiverCpuSPerGigabyte', 'receiver CPU', 'stock'),
    justMedian('writes\nper MB', 'socketWritesPerMegabyte'),
    justMedian('records\nper MB', 'noiseRecordsPerMegabyte')
  ]
}

function latencyColumns (bases: ContestantMuxer[]): Column[] {
  return [
    withSpread('p50 ms', 'p50Ms'),
    withSpread('p99 ms', 'p99Ms'),
    justMedian('p99.9 ms', 'p999Ms'),
    ...bases.flatMap(base => [timesBase('p50Ms', 'p50', base), timesBase('p99Ms', 'p99', base)]),
    justMedian('requests/s', 'messagesPerS')
  ]
}

const memoryColumns = [
  withSpread('KiB a connection\ndialer', 'dialerKibPerConnection'),
  withSpread('KiB a connection\nlistener', 'listenerKibPerConnection'),
  timesBase('dialerKibPerConnection', 'dialer', 'stock'),
  timesBase('listenerKibPerConnection', 'listener', 'stock')
]

const processColumns = [
  justMedian('MB/s\nbeside', 'besideMegabytesPerS'),
  bothEnds('event loop\np99 ms', 'LoopP99Ms'),
  bothEnds('GC %', 'GcPercent'),
  bothEnds('RSS MB', 'RssMegabytes'),
  bothEnds('heap MB', 'HeapMegabytes')
]

export function buildTables (samples: CellSample[], transport: TransportName): MatrixTable[] {
  const ofThis = ofTransport(samples, transport)
  const bases = BASES.filter(base => ofThis.some(({ muxer }) => muxer === base))
  const [latency, throughput] = [true, false].map(isLatency => matrixRows.filter(({ scenario }) => isAboutLatency(scenario) === isLatency))

  return [
    buildTable(ofThis, transport, 'throughput', throughput, [...throughputColumns(bases), ...processColumns]),
    buildTable(ofThis, transport, 'latency of requests of 100 B', latency, [...latencyColumns(bases), ...processColumns]),
    buildTable(ofThis, transport, 'memory', [idleConnections], memoryColumns)
  ].filter(({ groups }) => groups.length > 0)
}

/** Without the columns that say nothing here */
function buildTable (samples: CellSample[], transport: TransportName, about: string, rows: Array<Pick<Row, 'id' | 'label'>>, columns: Column[]): MatrixTable {
  const groups = rows.flatMap(row => {
    const muxers = [...new Set(samples.filter(({ rowId }) => rowId === row.id).map(({ muxer }) => muxer))]
    const ofBase = (base: ContestantMuxer): CellSample[] => samplesOf(samples, row.id, base)
    const lines = muxers.map(muxer => [muxer, ...columns.map(({ text }) => text({ samples: samplesOf(samples, row.id, muxer), ofBase }))])

    return lines.length === 0 ? [] : [{ label: row.label, lines }]
  })
  const telling = ['muxer', ...columns.map(({ heading }) => heading)]
    .map((heading, column) => ({ heading, column }))
    .filter(({ column }) => groups.some(({ lines }) => lines.some(line => line[column] !== '-')))

  return {
    transport,
    title: `${transports[transport]}: ${about}`,
    headings: telling.map(({ heading }) => heading),
    groups: groups.map(({ label, lines }) => ({ label, lines: lines.map(line => telling.map(({ column }) => line[column])) }))
  }
}
