// From what the processes measured to the table of the node.
import { max, median, min, quantile } from 'simple-statistics'
import { format, formatRatio, renderGroups } from '../report/table.ts'
import { GOSSIP_INTERVAL_MS, PEERS } from './workload.ts'
import type { MuxerName } from '../muxers.ts'
import type { Ratio } from '../report/metrics.ts'
import type { Measured } from './session.ts'

export interface Metrics {
  cpuPercent: number
  eventLoopP50Ms: number
  eventLoopP99Ms: number
  rssMegabytes: number
  heapMegabytes: number
  socketWritesPerS: number
  requestP50Ms: number
  requestP99Ms: number
  requestsFailed: number
}

export interface Sample {
  muxer: MuxerName
  round: number
  metrics: Metrics
}

const columns: Array<[heading: string, metric: keyof Metrics]> = [
  ['CPU %', 'cpuPercent'],
  ['event loop\np50 ms', 'eventLoopP50Ms'],
  ['event loop\np99 ms', 'eventLoopP99Ms'],
  ['RSS\nMB', 'rssMegabytes'],
  ['heap\nMB', 'heapMegabytes'],
  ['socket\nwrites/s', 'socketWritesPerS'],
  ['request\np50 ms', 'requestP50Ms'],
  ['request\np99 ms', 'requestP99Ms'],
  ['requests\nfailed', 'requestsFailed']
]

const compared: Array<[heading: string, metric: keyof Metrics, reference: MuxerName]> = [
  ['CPU\n× stock', 'cpuPercent', 'stock'],
  ['CPU\n× mplex', 'cpuPercent', 'mplex'],
  ['event loop\np99 × stock', 'eventLoopP99Ms', 'stock'],
  ['event loop\np99 × mplex', 'eventLoopP99Ms', 'mplex'],
  ['RSS\n× stock', 'rssMegabytes', 'stock'],
  ['RSS\n× mplex', 'rssMegabytes', 'mplex']
]

export function toMetrics ({ usage, requestMs, failed }: Measured, durationMs: number): Metrics {
  return {
    cpuPercent: usage.cpuMs / durationMs * 100,
    eventLoopP50Ms: usage.eventLoopP50Ms,
    eventLoopP99Ms: usage.eventLoopP99Ms,
    rssMegabytes: usage.rssBytes / 1e6,
    heapMegabytes: usage.heapBytes / 1e6,
    socketWritesPerS: usage.socketWrites / durationMs * 1000,
    requestP50Ms: quantile(requestMs, 0.5),
    requestP99Ms: quantile(requestMs, 0.99),
    requestsFailed: failed
  }
}

/** Within each round */
function ratioOf (samples: Sample[], references: Sample[], metric: keyof Metrics): Ratio | undefined {
  const ratios = samples.flatMap(({ round, metrics }) => {
    const reference = references.find(sample => sample.round === round)
    return reference == null ? [] : [metrics[metric] / reference.metrics[metric]]
  })

  return ratios.length === 0 ? undefined : { median: median(ratios), min: min(ratios), max: max(ratios) }
}

export function renderTable (samples: Sample[], muxers: MuxerName[]): string {
  const of = (muxer: MuxerName): Sample[] => samples.filter(sample => sample.muxer === muxer)
  const group = (label: string, lines: string[][]): { label: string, lines: string[][] } => ({ label, lines })

  return [
    renderGroups(['muxer', ...columns.map(([heading]) => heading)], [group(`${PEERS} peers`, muxers.map(muxer => [
      muxer,
      ...columns.map(([, metric]) => format(median(of(muxer).map(({ metrics }) => metrics[metric]))))
    ]))]),
    renderGroups(['muxer', ...compared.map(([heading]) => heading)], [group('in each\nround', muxers.map(muxer => [
      muxer,
      ...compared.map(([, metric, reference]) => formatRatio(ratioOf(of(muxer), of(reference), metric)))
    ]))])
  ].join('\n')
}

export const legend = [
  `A node set up as Lodestar's, alone in its process, with ${PEERS} peers in another: ${PEERS / GOSSIP_INTERVAL_MS * 1000} messages of gossip a second of 300 to`,
  '1,000 B come from the peers and are passed on to the node\'s mesh; it answers 10 requests a second with a block of 64 KiB, and 2',
  'with one of 1 MiB, in snappy frames. All that arrives is compared with what was sent, and no message may be missing.',
  '',
  'CPU %       of a core: user and system time of the node\'s process',
  'event loop  how late timers fire at the node, which looks each millisecond',
  'request     at the peers, from opening the stream to having checked the block; failed: it did not come whole within 10 s',
  'ratios      within each round: median (lowest–highest), below 1 is better'
].join('\n')
