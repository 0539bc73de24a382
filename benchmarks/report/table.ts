// The table at the end, with its legend and the machine it was measured on.
import { max } from 'simple-statistics'
import { medianOf, ratioOf, samplesOf } from '../harness/samples.ts'
import { format, formatRatio, renderGroups } from '../harness/table.ts'
import type { MuxerName } from '../contestants.ts'
import type { CellSample, Metrics } from './metrics.ts'

type Column = [heading: string, metric: keyof Metrics]

const columns: Column[] = [
  ['MB/s', 'megabytesPerS'],
  ['messages\nper s', 'messagesPerS'],
  ['writes\nper MB', 'socketWritesPerMegabyte'],
  ['records\nper MB', 'noiseRecordsPerMegabyte'],
  ['sender\nCPU s\nper GB', 'senderCpuSPerGigabyte'],
  ['receiver\nCPU s\nper GB', 'receiverCpuSPerGigabyte'],
  ['p50\nms', 'p50Ms'],
  ['p99\nms', 'p99Ms']
]

/** What a narrow terminal goes without, in this order */
const dispensable: Array<keyof Metrics> = [
  'noiseRecordsPerMegabyte', 'socketWritesPerMegabyte', 'receiverCpuSPerGigabyte', 'senderCpuSPerGigabyte', 'p50Ms', 'megabytesPerS', 'p99Ms', 'messagesPerS'
]

/** What others are compared with */
const BASES: MuxerName[] = ['stock', 'mplex']

/** What a row of the table is called, and by what muxers are compared if not by messages/s */
export interface TableRow {
  id: string
  label: string
  comparedBy?: { metric: keyof Metrics, label: string }
}

/** With as many columns as fit into `width` characters, and a line about those that do not */
export function renderTable (samples: CellSample[], rows: TableRow[], muxers: MuxerName[], width = Infinity): string {
  const telling = columns.filter(([, metric]) => samples.some(({ metrics }) => metrics[metric] != null))

  for (let without = 0; ; without++) {
    const shown = telling.filter(([, metric]) => !dispensable.slice(0, without).includes(metric))
    const table = renderColumns(samples, rows, muxers, shown)

    if (table.indexOf('\n') <= width || shown.length === 0) {
      const leftOut = telling.length - shown.length

      return leftOut === 0 ? table : `${table}\nColumns left out for want of width: ${leftOut}. A wider terminal has them, and a file: npm start > table.txt`
    }
  }
}

function renderColumns (samples: CellSample[], rows: TableRow[], muxers: MuxerName[], columns: Column[]): string {
  const bases = BASES.filter(base => muxers.includes(base))
  const groups = rows.map(({ id, label, comparedBy }) => ({
    label,
    lines: muxers.map(muxer => {
      const ofMuxer = samplesOf(samples, id, muxer)

      return [
        muxer,
        ...columns.map(([, metric]) => format(medianOf(ofMuxer, metric))),
        ...bases.map(base => {
          const ratio = formatRatio(ratioOf(ofMuxer, samplesOf(samples, id, base), comparedBy?.metric ?? 'messagesPerS'))

          return comparedBy == null ? ratio : `${comparedBy.label} ${ratio}`
        })
      ]
    })
  }))

  return renderGroups(['muxer', ...columns.map(([heading]) => heading), ...bases.map(base => `× ${base}`)], groups)
}

export function renderLegend (samples: CellSample[], atLeastMs: number): string {
  const rounds = max(samples.map(sample => sample.round))

  return [
    `Medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'} after a warm-up round. Two processes per muxer, TCP on the loopback`,
    'interface, Noise. Everything that arrives is verified: the file by its SHA-256, all other bytes',
    'one by one. Time runs from the first send to the confirmation of the last stream. Every muxer does',
    `the same unit of work, again and again until ${atLeastMs} ms have passed, divided by the repetitions,`,
    'behind some that is not measured.',
    '',
    'work      streams × message size, the file in chunks of 64 KiB, requests of one process to the other',
    'muxer     ours is this one, stock @libp2p/yamux, mplex @libp2p/mplex',
    '× stock   messages/s over those of stock in the same round, × mplex of mplex: median (lowest–highest)',
    'writes    write and writev calls on the socket of the sender',
    'records   Noise records the sender encrypted, control frames of the muxer included',
    'CPU       user and system time of the whole process, verifying and hashing included',
    'latency   from opening the stream of a request to its whole reply; both processes are kept awake',
    '          for this row, for every muxer alike, so it has no CPU time',
    'MB, GB    of payload, 10^6 and 10^9 bytes; a message of the rows of requests is one request'
  ].join('\n')
}
