// From what the processes measured to the table of a validator's uplink.
import { mean, quantile } from 'simple-statistics'
import { medianOf, ratioOf } from '../../report/metrics.ts'
import { format, formatRatio, renderGroups } from '../../report/table.ts'
import { BURST, LATENCY } from '../line.ts'
import { CONGESTION, WARM_UP_MS } from '../workload.ts'
import { ASKERS, BLOCKS_PER_REQUEST, GOSSIP_BYTES, GOSSIP_INTERVAL_MS, MBIT, PEERS, REQUESTS_AT_ONCE, SUBSCRIBERS } from './workload.ts'
import type { Metrics, RoundSample } from '../../report/metrics.ts'
import type { Measured } from './session.ts'
import type { Contestant, Work } from './workload.ts'

/** Peers by whether they ask for blocks */
const rows = {
  all: `all ${PEERS} peers`,
  askers: `the ${ASKERS} that\nask for blocks`,
  others: `the ${PEERS - ASKERS} others`
}

type RowId = keyof typeof rows
const rowIds = Object.keys(rows) as RowId[]

/** Of gossip to the peers of a row. What there is one figure of is with all of them. */
export interface Sample extends RoundSample {
  rowId: RowId
  contestantId: string
}

const MEGABIT_BYTES = 125_000
const LINE_BYTES_PER_MS = MBIT * MEGABIT_BYTES / 1000

export function toMetrics ({ askersMs, othersMs, lateMs, bulkBytes, queuedBytes }: Measured, measuredMs: number): Record<RowId, Metrics> {
  const gossip = (...latenciesMs: number[]): Metrics => ({ p50Ms: quantile(latenciesMs, 0.5), p99Ms: quantile(latenciesMs, 0.99) })

  return {
    all: {
      ...gossip(...askersMs, ...othersMs),
      besideMegabytesPerS: bulkBytes / 1000 / measuredMs,
      lateP99Ms: quantile([...lateMs], 0.99),
      lineQueueMs: mean(queuedBytes) / LINE_BYTES_PER_MS
    },
    askers: gossip(...askersMs),
    others: gossip(...othersMs)
  }
}

export function toSamples (metrics: Record<RowId, Metrics>, contestantId: string, round: number): Sample[] {
  return rowIds.map(rowId => ({ rowId, contestantId, round, metrics: metrics[rowId] }))
}

const headings = ['muxer', 'p50\nms', 'p99\nms', 'p99\n× stock', 'p99\n× mplex', 'blocks\nMbit/s', 'blocks\n× stock', 'queue\nms', 'late\np99 ms']

export function renderTable (samples: Sample[], contestants: Contestant[]): string {
  const of = (rowId: RowId, contestantId: string): Sample[] => samples.filter(sample => sample.rowId === rowId && sample.contestantId === contestantId)

  return renderGroups(headings, rowIds.map(rowId => ({
    label: rows[rowId],
    lines: contestants.map(({ id, label }) => {
      const own = of(rowId, id)
      const stock = of(rowId, 'stock')
      const bulk = medianOf(own, 'besideMegabytesPerS')

      return [
        label,
        format(medianOf(own, 'p50Ms')),
        format(medianOf(own, 'p99Ms')),
        formatRatio(ratioOf(own, stock, 'p99Ms')),
        formatRatio(ratioOf(own, of(rowId, 'mplex'), 'p99Ms')),
        format(bulk == null ? undefined : bulk * 1e6 / MEGABIT_BYTES),
        formatRatio(ratioOf(own, stock, 'besideMegabytesPerS')),
        format(medianOf(own, 'lineQueueMs')),
        format(medianOf(own, 'lateP99Ms'))
      ]
    })
  })))
}

export function renderLegend ({ hasModem, peersMuxer }: Work): string {
  return [
    `A node set up as Lodestar's behind a line of ${MBIT} Mbit/s both ways, with ${PEERS} peers in one process at its other end: network namespaces and tbf with a`,
    `burst of ${BURST} and a limit of ${LATENCY}, in ${hasModem ? 'a bridge between them' : 'front of the kernels\' own devices'}. The kernel's TCP with ${CONGESTION}, Noise, a connection for each peer. All of`,
    `it is new for each measurement, the first ${WARM_UP_MS / 1000} s of which do not count. Every ${GOSSIP_INTERVAL_MS} ms the node publishes a message of ${GOSSIP_BYTES} B by gossipsub, which`,
    `goes to the ${SUBSCRIBERS} peers of its mesh at once. ${ASKERS} peers ask it for ranges of ${BLOCKS_PER_REQUEST} blocks all the time, ${REQUESTS_AT_ONCE} at a time, in snappy frames of 36 to 581 kB a`,
    `block. All peers have ${peersMuxer ?? 'the node\'s muxer'}. All that arrives is compared with what was sent, and no message may be missing.`,
    '',
    'lanes     priority is { \'/meshsub/*\': \'urgent\' } at both ends; no bound: and coalesce.maxQueueDelayMs is Infinity',
    'p50, p99  of gossip, from when a message was due at the node until gossipsub hands it over at a peer',
    '× stock   within each round: median (lowest–highest); × mplex of mplex',
    'blocks    as their streams bring them, 10^6 bits, to all who ask together',
    'queue     what waits in front of the line, on average, by the line\'s rate',
    'late      how late messages were published, because the process or the machine was busy; part of p50 and p99'
  ].join('\n')
}
