// The charts of documents: benchmarks/charts/<name>.svg, and <name>-dark.svg for dark pages.
import { chartSmallMessages } from '../report/small-messages-chart.ts'
import { chartLatencies } from '../uplink/chart.ts'
import type { BenchmarkRecord } from '../harness/record.ts'
import type { Panels } from '../report/panels.ts'
import type { Scheme } from '../report/svg.ts'
import type { Work } from '../uplink/workload.ts'

export interface Chart {
  record: string
  draw(scheme: Scheme, record: BenchmarkRecord): Panels
}

export const charts: Record<string, Chart> = {
  'small-messages': { record: 'start', draw: (scheme, { samples }) => chartSmallMessages(scheme, samples) },
  uplink: { record: 'uplink', draw: (scheme, { samples, work }) => chartLatencies(scheme, samples, (work as Work).streams) }
}
