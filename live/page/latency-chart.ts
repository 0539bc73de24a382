/**
 * The latency of urgent messages of both muxers over the last seconds.
 */
import UPlot from 'uplot'
import { toTick } from './text.ts'
import type { Palette } from './canvas.ts'
import type { ContestantName } from '../setup.ts'

const SHOWN_S = 30
const HEIGHT = 210
const LOWEST_MS = 1
const HIGHEST_MS = 10_000
const DECADES_MS = [1, 10, 100, 1000, 10_000]

export class LatencyChart {
  readonly #plot: UPlot
  readonly #atS: number[] = []
  readonly #ms: Record<ContestantName, Array<number | null>> = { ours: [], stock: [] }

  constructor (element: HTMLElement, palette: Palette) {
    const axis = (): UPlot.Axis => ({
      stroke: () => palette.get('quiet'),
      grid: { stroke: () => palette.get('rule'), width: 1 },
      ticks: { show: false },
      font: '12px system-ui, sans-serif'
    })

    const line = (name: ContestantName): UPlot.Series => ({ stroke: () => palette.get(name), width: 2, points: { show: false } })

    this.#plot = new UPlot({
      width: element.clientWidth,
      height: HEIGHT,
      padding: [8, 12, 0, 0],
      legend: { show: false },
      cursor: { show: false },
      scales: {
        x: { time: false, range: (_, __, toS) => [toS - SHOWN_S, toS] },
        y: { distr: 3, range: [LOWEST_MS, HIGHEST_MS] }
      },
      axes: [
        { ...axis(), size: 28, splits: ({ scales }) => ticksOf(scales.x.max ?? 0), values: (plot, splits) => splits.map(s => toAgo((plot.scales.x.max ?? 0) - s)) },
        { ...axis(), size: 62, splits: () => DECADES_MS, values: (_, splits) => splits.map(ms => toTick(ms)) }
      ],
      series: [{}, line('ours'), line('stock')]
    }, [[], [], []], element)

    new ResizeObserver(() => { this.#plot.setSize({ width: element.clientWidth, height: HEIGHT }) }).observe(element)
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { this.#plot.redraw() })
  }

  add (atS: number, latenciesMs: Partial<Record<ContestantName, number>>): void {
    this.#atS.push(atS)
    this.#ms.ours.push(onScale(latenciesMs.ours))
    this.#ms.stock.push(onScale(latenciesMs.stock))

    while (this.#atS[0] < atS - SHOWN_S) {
      [this.#atS, this.#ms.ours, this.#ms.stock].forEach(values => { values.shift() })
    }
  }

  draw (): void {
    this.#plot.setData([this.#atS, this.#ms.ours, this.#ms.stock])
  }

  clear (): void {
    [this.#atS, this.#ms.ours, this.#ms.stock].forEach(values => { values.length = 0 })
  }
}

function onScale (ms?: number): number | null {
  return ms == null || ms === 0 ? null : Math.min(HIGHEST_MS, Math.max(LOWEST_MS, ms))
}

function ticksOf (toS: number): number[] {
  return Array.from({ length: 4 }, (_, i) => toS - SHOWN_S + i * 10)
}

function toAgo (s: number): string {
  return Math.round(s) === 0 ? 'now' : `−${Math.round(s)} s`
}
