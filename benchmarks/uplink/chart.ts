// How long an urgent message takes with each contestant, as a chart: a panel for each link.
import { medianOf, samplesOf } from '../harness/samples.ts'
import { contestants, rateOf, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Sample } from '../harness/samples.ts'
import type { Panels } from '../report/panels.ts'
import type { Scheme } from '../report/svg.ts'
import type { Contestant } from './workload.ts'

const FIGURE_WIDTH = 65

const milliseconds = (ms: number): string => ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`
const tick = (ms: number): string => ms < 1000 ? `${ms} ms` : `${ms / 1000} s`

/** In words for who has not read what the tables call ours */
function nameOf ({ label, muxer, isMarked }: Contestant): string {
  return muxer === 'ours' ? `this muxer${isMarked ? ', urgent' : ''}` : muxer === 'ours-unbounded' ? 'urgent, no bound' : label
}

export function chartLatencies (scheme: Scheme, samples: Sample[], streams: number): Panels {
  const colours: Partial<Record<string, string>> = { ours: scheme.ours, 'ours-unbounded': scheme.oursPale }
  const measured = contestants.filter(({ id }) => samples.some(({ muxer }) => muxer === id))
  const panels = [...new Set(samples.map(({ rowId }) => rowId))].map(rowId => ({
    title: rateOf(Number(rowId)).label,
    values: measured.map(contestant => {
      const p99Ms = medianOf(samplesOf(samples, rowId, contestant.id), 'p99Ms') ?? NaN

      return { name: nameOf(contestant), value: p99Ms, figure: milliseconds(p99Ms), colour: colours[contestant.muxer] ?? scheme.other }
    })
  }))
  const decades = panels.flatMap(({ values }) => values).map(({ value }) => Math.log10(value))

  return {
    title: 'The slowest 1 % of small messages',
    subtitle: `${URGENT_MESSAGE_BYTES} bytes there and back while ${streams} streams send all they can: p99.\nLess is better. Each step to the right is ten times as long.`,
    panels,
    logAxis: { min: 10 ** Math.floor(Math.min(...decades)), max: 10 ** Math.ceil(Math.max(...decades)), tick },
    figureWidth: FIGURE_WIDTH
  }
}
