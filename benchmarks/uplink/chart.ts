// How long an urgent message takes with each contestant, drawn as SVG: a panel for each line.
import { medianOf, samplesOf } from '../harness/samples.ts'
import { drawPanels } from '../report/panels.ts'
import { OTHER_COLOUR, OUR_COLOUR, OUR_PALE_COLOUR } from '../report/svg.ts'
import { URGENT_MESSAGE_BYTES } from './workload.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Contestant, Rate, UplinkMetrics, Work } from './workload.ts'

const FIGURE_WIDTH = 65
const COLOURS: Partial<Record<ContestantMuxer, string>> = { ours: OUR_COLOUR, 'ours-unbounded': OUR_PALE_COLOUR }

const milliseconds = (ms: number): string => `${Math.round(ms).toLocaleString('en')} ms`
const tick = (ms: number): string => ms < 1000 ? `${ms} ms` : `${ms / 1000} s`

export function drawChart (samples: Array<Sample<keyof UplinkMetrics>>, rates: Rate[], contestants: Contestant[], { streams, scenario }: Work): string {
  const p99s = rates.map(rate => contestants.map(({ id }) => medianOf(samplesOf(samples, rate.id, id), 'p99Ms') ?? NaN))
  // so that bars of panels can be compared, and the shortest can be seen
  const decades = p99s.flat().map(Math.log10)
  const [min, max] = [10 ** Math.floor(Math.min(...decades)), 10 ** Math.ceil(Math.max(...decades))]

  return drawPanels({
    title: `A vote beside a bulk transfer: round trip, p99${scenario === 'plain' ? '' : `, ${scenario}`}`,
    subtitle: `${URGENT_MESSAGE_BYTES} bytes there and back while ${streams} streams send all they can. Less is better; the scale is logarithmic.`,
    panels: rates.map(({ label: title }, index) => ({
      title,
      bars: contestants.map(({ label, muxer }, row) => ({
        name: label,
        value: p99s[index][row],
        figure: milliseconds(p99s[index][row]),
        colour: COLOURS[muxer] ?? OTHER_COLOUR
      }))
    })),
    logAxis: { min, max, tick },
    figureWidth: FIGURE_WIDTH
  })
}
