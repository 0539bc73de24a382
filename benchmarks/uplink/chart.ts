// How long an urgent message takes with each contestant, drawn as SVG: a panel for each link.
import { medianOf, samplesOf } from '../harness/samples.ts'
import { drawPanels } from '../report/panels.ts'
import { URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { Scheme } from '../report/svg.ts'
import type { Contestant, Rate, UplinkMetrics, Work } from './workload.ts'

/** Of a link, in milliseconds, in the order of the contestants */
interface Latencies {
  label: string
  p99sMs: number[]
}

const FIGURE_WIDTH = 65

const milliseconds = (ms: number): string => ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
const tick = (ms: number): string => ms < 1000 ? `${ms} ms` : `${ms / 1000} s`

export function latenciesOf (samples: Array<Sample<keyof UplinkMetrics>>, rates: Rate[], contestants: Contestant[]): Latencies[] {
  return rates.map(({ id, label }) => ({ label, p99sMs: contestants.map(contestant => medianOf(samplesOf(samples, id, contestant.id), 'p99Ms') ?? NaN) }))
}

/** In words for who has not read what the tables call ours */
function nameOf ({ label, muxer, isMarked }: Contestant): string {
  return muxer === 'ours' ? `this muxer${isMarked ? ', urgent' : ''}` : muxer === 'ours-unbounded' ? 'urgent, no bound' : label
}

export function drawChart (scheme: Scheme, measured: Latencies[], contestants: Contestant[], { streams, scenario }: Pick<Work, 'streams' | 'scenario'>): string {
  const colours: Partial<Record<string, string>> = { ours: scheme.ours, 'ours-unbounded': scheme.oursPale }
  const decades = measured.flatMap(({ p99sMs }) => p99sMs).map(Math.log10)
  const [min, max] = [10 ** Math.floor(Math.min(...decades)), 10 ** Math.ceil(Math.max(...decades))]

  return drawPanels(scheme, {
    title: `The slowest 1 % of small messages${scenario === 'plain' ? '' : `, ${scenario}`}`,
    subtitle: `${URGENT_MESSAGE_BYTES} bytes there and back while ${streams} streams send all they can: p99.\nLess is better. Each step to the right is ten times as long.`,
    panels: measured.map(({ label: title, p99sMs }) => ({
      title,
      values: contestants.map((contestant, row) => ({
        name: nameOf(contestant),
        value: p99sMs[row],
        figure: milliseconds(p99sMs[row]),
        colour: colours[contestant.muxer] ?? scheme.other
      }))
    })),
    logAxis: { min, max, tick },
    figureWidth: FIGURE_WIDTH
  })
}
