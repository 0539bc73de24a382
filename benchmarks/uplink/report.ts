// From what both ends measured to the table of the line.
import { median, quantile, sum } from 'simple-statistics'
import { medianOf, ratioOf } from '../report/metrics.ts'
import { format, formatRatio, renderGroups } from '../report/table.ts'
import { BURST, LATENCY } from './line.ts'
import { underWayBytes } from './under-way.ts'
import { BULK_MESSAGE_BYTES, CONGESTION, labelOf, LATEST_ECHO_MS, scenarios, URGENT_INTERVAL_MS, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { RoundSample } from '../report/metrics.ts'
import type { Watched } from './peer.ts'
import type { Measured } from './session.ts'
import type { Contestant, Work } from './workload.ts'

export interface Sample extends RoundSample {
  mbit: number
  contestantId: string
}

const MEGABIT_BYTES = 125_000

/** Of each connection, each way that bulk goes */
function allUnderWayBytes (senders: Watched[], receivers: Watched[]): number[] {
  const ways = senders.flatMap((sender, pair) => [[sender, receivers[pair]], [receivers[pair], sender]])

  return ways.filter(([, to]) => to.bulkBytes > 0).flatMap(([from, to]) => underWayBytes(from.instants, to.instants))
}

export function toMetrics ({ urgent, senders, receivers }: Measured, measuredMs: number): Sample['metrics'] {
  const latenciesMs = urgent.flatMap(({ latenciesMs }) => [...latenciesMs])
  const total = (peers: Watched[], what: 'bulkBytes' | 'cpuMs'): number => sum(peers.map(watched => watched[what]))
  const underWay = allUnderWayBytes(senders, receivers)
  const megabytes = (total(senders, 'bulkBytes') + total(receivers, 'bulkBytes')) / 1e6

  return {
    p50Ms: quantile(latenciesMs, 0.5),
    p99Ms: quantile(latenciesMs, 0.99),
    underWayMegabytes: underWay.length === 0 ? undefined : median(underWay) / 1e6,
    lateP99Ms: quantile(urgent.flatMap(({ lateMs }) => [...lateMs]), 0.99),
    besideMegabytesPerS: megabytes / measuredMs * 1000,
    senderCpuSPerGigabyte: total(senders, 'cpuMs') / megabytes,
    receiverCpuSPerGigabyte: total(receivers, 'cpuMs') / megabytes
  }
}

const headings = [
  'muxer', 'p50\nms', 'p99\nms', 'p99\n× stock', 'p99\n× mplex', 'bulk\nMbit/s', 'bulk\n× stock', 'under\nway KB', 'sender\nCPU s\nper GB', 'receiver\nCPU s\nper GB', 'late\np99 ms'
]

export function samplesOf (samples: Sample[], mbit: number, contestantId: string): Sample[] {
  return samples.filter(sample => sample.mbit === mbit && sample.contestantId === contestantId)
}

export function renderTable (samples: Sample[], mbits: number[], contestants: Contestant[]): string {
  return renderGroups(headings, mbits.map(mbit => ({
    label: labelOf(mbit),
    lines: contestants.map(({ id, label }) => {
      const own = samplesOf(samples, mbit, id)
      const stock = samplesOf(samples, mbit, 'stock')
      const bulk = medianOf(own, 'besideMegabytesPerS')
      const underWay = medianOf(own, 'underWayMegabytes')

      return [
        label,
        format(medianOf(own, 'p50Ms')),
        format(medianOf(own, 'p99Ms')),
        formatRatio(ratioOf(own, stock, 'p99Ms')),
        formatRatio(ratioOf(own, samplesOf(samples, mbit, 'mplex'), 'p99Ms')),
        format(bulk == null ? undefined : bulk * 1e6 / MEGABIT_BYTES),
        formatRatio(ratioOf(own, stock, 'besideMegabytesPerS')),
        format(underWay == null ? undefined : underWay * 1000),
        format(medianOf(own, 'senderCpuSPerGigabyte')),
        format(medianOf(own, 'receiverCpuSPerGigabyte')),
        format(medianOf(own, 'lateP99Ms'))
      ]
    })
  })))
}

export function renderLegend ({ scenario, streams, warmUpMs }: Work): string {
  return [
    `Two network namespaces and a veth pair of that rate both ways: tbf with a burst of ${BURST} and a limit of ${LATENCY}. The kernel's TCP with`,
    `${CONGESTION}, Noise, libp2p nodes in two processes. Line, processes and connection are new for each measurement, the first ${warmUpMs / 1000} s of which do not count.`,
    `${streams} streams send messages of ${BULK_MESSAGE_BYTES / 1024} KiB as fast as they may; on one more ${URGENT_MESSAGE_BYTES} B go every ${URGENT_INTERVAL_MS} ms, which the peer sends back at once. All that`,
    `arrives is verified. Scenario "${scenario}": ${scenarios[scenario]}.`,
    '',
    'marked    the urgent stream has priority "urgent" at both ends; no bound: and coalesce.maxQueueDelayMs is Infinity',
    `p50, p99  of the round trip of the ${URGENT_MESSAGE_BYTES} B, from when they were due; without an echo ${LATEST_ECHO_MS / 1000} s after the last they count as that late`,
    '× stock   within each round: median (lowest–highest); × mplex of mplex',
    'bulk      payload that has arrived, 10^6 bits',
    'under way what the muxer has handed down and has not reached that of the peer, 10^3 bytes, median over the window: it cannot be overtaken any more,',
    '          and 1,000 KB take 0.8 s at 10 Mbit/s. Counted between muxer and Noise, so not with QUIC',
    'CPU       user and system time of the process, by payload of bulk',
    'late      how late the 100 B were sent, because the process or the machine was busy; part of p50 and p99',
    'loopback  no line and no namespaces'
  ].join('\n')
}
