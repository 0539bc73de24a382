// The columns of both benchmarks of this folder: latencies, bulk, and what they cost.
import { figure, times } from '../harness/table.ts'
import type { Column } from '../harness/table.ts'
import type { UplinkMetrics } from './workload.ts'

export const MEGABYTE_MBIT = 8

/** Latencies are compared with each of these, bulk with the first */
export function columnsBeside (...ids: [string, ...string[]]): Array<Column<keyof UplinkMetrics>> {
  return [
    figure('p50\nms', 'p50Ms'),
    figure('p99\nms', 'p99Ms'),
    ...ids.map(id => times('p99', 'p99Ms', id)),
    figure('bulk\nMbit/s', 'besideMegabytesPerS', MEGABYTE_MBIT),
    times('bulk', 'besideMegabytesPerS', ids[0]),
    figure('in\nflight KB', 'inFlightMegabytes', 1000),
    figure('sender\nCPU s\nper GB', 'senderCpuSPerGigabyte'),
    figure('receiver\nCPU s\nper GB', 'receiverCpuSPerGigabyte'),
    figure('late\np99 ms', 'lateP99Ms')
  ]
}
