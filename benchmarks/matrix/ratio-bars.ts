// Ours against the others as a table whose cells are bars: it can be read aloud, without colours, and on a narrow screen.
import { fullNameOf } from '../contestants.ts'
import { spreadOf } from '../harness/samples.ts'
import { formatRatio } from '../harness/table.ts'
import { escape } from '../report/escape.ts'
import { outcomeOf } from '../report/verdict.ts'
import { inWords } from '../rows.ts'
import { BASES, headlinesOf, ofTransport, ratiosToBase, reportedRows } from './results.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { Spread } from '../harness/samples.ts'
import type { CellSample } from '../report/metrics.ts'

interface Bar {
  base: ContestantMuxer
  /** More is better for ours, of times and costs too */
  ratio: Spread
}

interface Work {
  label: string
  bars: Bar[]
}

/** Which cells of a transport: all, unless named */
interface Choice {
  rowIds?: string[]
  bases?: ContestantMuxer[]
}

export function worksOf (samples: CellSample[], transport: TransportName, { rowIds, bases = BASES }: Choice = {}): Work[] {
  const ofThis = ofTransport(samples, transport)
  const rows = reportedRows.filter(({ id }) => rowIds?.includes(id) ?? true)

  return rows.flatMap(row => headlinesOf(row).map(({ metric, label, isLowerBetter }) => ({
    label: `${inWords(row.label)}: ${label}`,
    bars: bases.flatMap(base => {
      const ratios = ratiosToBase(ofThis, row.id, 'ours', base, metric)
      const ratio = spreadOf(ratios.map(ratio => isLowerBetter ? 1 / ratio : ratio))

      return ratio == null ? [] : [{ base, ratio }]
    })
  }))).filter(({ bars }) => bars.length > 0)
}

/** From 0 to 100 between two powers of ten, 1 being among them */
class Scale {
  readonly ticks: number[]

  constructor (ratios: Spread[]) {
    const first = Math.floor(Math.log10(Math.min(1, ...ratios.map(({ min }) => min))))
    const last = Math.ceil(Math.log10(Math.max(1, ...ratios.map(({ max }) => max))))
    // where nothing differs there has to be some room too
    this.ticks = Array.from({ length: Math.max(1, last - first) + 1 }, (_, i) => 10 ** (first + i))
  }

  percentAt (ratio: number): number {
    return Math.log10(ratio / this.ticks[0]) / (this.ticks.length - 1) * 100
  }

  /** Style of what lies between two ratios */
  between (from: number, to: number): string {
    const [left, right] = [this.percentAt(Math.min(from, to)), this.percentAt(Math.max(from, to))]

    return `left:${left.toFixed(2)}%;width:${(right - left).toFixed(2)}%`
  }
}

function drawBar (scale: Scale, { base, ratio }: Bar): string {
  const { median, min, max } = ratio
  const outcome = outcomeOf(ratio)

  return [
    `<tr class="${outcome}"><td>${escape(fullNameOf(base))}</td>`,
    `<td class="plot" aria-hidden="true"><i class="bar" style="${scale.between(1, median)}"></i><i class="spread" style="${scale.between(min, max)}"></i></td>`,
    `<td class="figure">${escape(formatRatio(ratio))}</td><td>${outcome}</td></tr>`
  ].join('')
}

function drawTicks (scale: Scale): string {
  return scale.ticks.map(tick => `<i style="left:${scale.percentAt(tick).toFixed(2)}%">${tick.toLocaleString('en')}</i>`).join('')
}

export function drawRatioBars (caption: string, works: Work[]): string {
  const scale = new Scale(works.flatMap(({ bars }) => bars.map(({ ratio }) => ratio)))
  const bodies = works.map(({ label, bars }) =>
    `<tbody><tr><th scope="rowgroup" colspan="4">${escape(label)}</th></tr>${bars.map(bar => drawBar(scale, bar)).join('\n')}</tbody>`)

  return [
    `<table class="ratios" style="--even:${scale.percentAt(1).toFixed(2)}%;--decade:${(100 / (scale.ticks.length - 1)).toFixed(4)}%"><caption>${escape(caption)}</caption>`,
    `<thead><tr><th scope="col">ours against</th><td class="plot" aria-hidden="true">${drawTicks(scale)}</td><th scope="col" class="figure">times as good</th><th scope="col">ours is</th></tr></thead>`,
    ...bodies,
    '</table>'
  ].join('\n')
}
