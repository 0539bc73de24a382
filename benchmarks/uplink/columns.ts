// The columns of the benchmarks of this folder: latencies, bulk, and what they cost.
import { figure, times } from '../harness/table.ts'
import type { Column } from '../harness/table.ts'
import type { Scenario, UplinkMetrics } from './workload.ts'

export const MEGABYTE_MBIT = 8

/** Latencies are compared with each of these, bulk with the first */
export function columnsBeside (scenario: Scenario, ...ids: [string, ...string[]]): Array<Column<keyof UplinkMetrics>> {
  return [
    figure('p50\nms', 'p50Ms'),
    figure('p99\nms', 'p99Ms'),
    ...ids.map(id => times('p99', 'p99Ms', id)),
    figure('bulk\nMbit/s', 'besideMegabytesPerS', MEGABYTE_MBIT),
    times('bulk', 'besideMegabytesPerS', ids[0]),
    ...columnsOfWays(scenario, times('lower', 'lowerMegabytesPerS', ids[0])),
    figure('in\nflight KB', 'inFlightMegabytes', 1000),
    figure('sender\nCPU s\nper GB', 'senderCpuSPerGigabyte'),
    figure('receiver\nCPU s\nper GB', 'receiverCpuSPerGigabyte'),
    figure('late\np99 ms', 'lateP99Ms')
  ]
}

/** Bulk of each way, if it goes both ways; `lower` compares the way that carries less */
export function columnsOfWays (scenario: Scenario, ...lower: Array<Column<keyof UplinkMetrics>>): Array<Column<keyof UplinkMetrics>> {
  return scenario !== 'both'
    ? []
    : [
        figure('there\nMbit/s', 'thereMegabytesPerS', MEGABYTE_MBIT),
        figure('back\nMbit/s', 'backMegabytesPerS', MEGABYTE_MBIT),
        ...lower
      ]
}
