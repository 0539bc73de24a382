// From what a muxer's processes measured to the table of gossip.
import { max, median, min, quantileSorted } from 'simple-statistics'
import { format, formatRatio, renderGroups } from '../report/table.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Ratio } from '../report/metrics.ts'
import type { Measured } from './session.ts'
import type { Row } from './workload.ts'

export interface Metrics {
  publications: number
  deliveries: number
  deliveriesPerS: number
  cpuUsPerDelivery: number
  cpuPercent: number
  socketWritesPerDelivery: number
  noiseRecordsPerDelivery: number
  p50Ms: number
  p99Ms: number
}

export interface Sample {
  rowId: string
  muxer: ContestantMuxer
  round: number
  metrics: Metrics
}

const columns: Array<[heading: string, metric: keyof Metrics]> = [
  ['deliveries\nper s', 'deliveriesPerS'],
  ['CPU µs per\ndelivery', 'cpuUsPerDelivery'],
  ['CPU %', 'cpuPercent'],
  ['writes per\ndelivery', 'socketWritesPerDelivery'],
  ['records per\ndelivery', 'noiseRecordsPerDelivery'],
  ['p50\nms', 'p50Ms'],
  ['p99\nms', 'p99Ms']
]

export function toMetrics ({ publications, latenciesMs, durationMs, spent }: Measured): Metrics {
  const deliveries = latenciesMs.length
  const sortedMs = latenciesMs.toSorted((a, b) => a - b)

  return {
    publications,
    deliveries,
    deliveriesPerS: deliveries / durationMs * 1000,
    cpuUsPerDelivery: spent.cpuMs / deliveries * 1000,
    cpuPercent: spent.cpuMs / durationMs * 100,
    socketWritesPerDelivery: spent.socketWrites / deliveries,
    noiseRecordsPerDelivery: spent.noiseRecords / deliveries,
    p50Ms: quantileSorted(sortedMs, 0.5),
    p99Ms: quantileSorted(sortedMs, 0.99)
  }
}

function samplesOf (samples: Sample[], rowId: string, muxer: ContestantMuxer): Sample[] {
  return samples.filter(sample => sample.rowId === rowId && sample.muxer === muxer)
}

/** CPU per delivery within each round */
function ratioOf (samples: Sample[], references: Sample[]): Ratio | undefined {
  const ratios = samples.flatMap(({ round, metrics }) => {
    const reference = references.find(sample => sample.round === round)
    return reference == null ? [] : [metrics.cpuUsPerDelivery / reference.metrics.cpuUsPerDelivery]
  })

  return ratios.length === 0 ? undefined : { median: median(ratios), min: min(ratios), max: max(ratios) }
}

export function renderTable (samples: Sample[], rows: Row[], muxers: ContestantMuxer[]): string {
  const headings = ['muxer', ...columns.map(([heading]) => heading), 'CPU\n× stock', 'CPU\n× mplex']

  return renderGroups(headings, rows.map(({ id, label }) => ({
    label,
    lines: muxers.map(muxer => {
      const ofMuxer = samplesOf(samples, id, muxer)

      return [
        muxer,
        ...columns.map(([, metric]) => format(median(ofMuxer.map(({ metrics }) => metrics[metric])))),
        formatRatio(ratioOf(ofMuxer, samplesOf(samples, id, 'stock'))),
        formatRatio(ratioOf(ofMuxer, samplesOf(samples, id, 'mplex')))
      ]
    })
  })))
}

export const legend = [
  'Hosts with gossipsub as it comes, spread over as many processes as there are cores, TCP on the loopback interface and',
  'Noise. Each muxer gets the same publications at the same times. Every message that arrives is compared with what was',
  'published, and each has to arrive once at every other subscriber of its topic.',
  '',
  'deliveries  messages handed to subscribers; per second until the last one has arrived',
  'CPU         user and system time of all processes, until nothing is under way any more, by deliveries',
  'CPU %       of one core',
  'writes      write and writev calls on the sockets of all processes',
  'records     Noise records that were encrypted',
  'p50, p99    from the publication to the delivery, over all hops',
  '× stock     of CPU per delivery, within each round: median (lowest–highest), below 1 is better'
].join('\n')
