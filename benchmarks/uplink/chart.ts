// How long an urgent message takes with each contestant, drawn as SVG: a panel for each line.
import { BarChart } from 'echarts/charts'
import { GridComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { medianOf, samplesOf } from '../harness/samples.ts'
import { URGENT_MESSAGE_BYTES } from './workload.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Sample } from '../harness/samples.ts'
import type { Contestant, Rate, UplinkMetrics, Work } from './workload.ts'

use([BarChart, GridComponent, SVGRenderer, TitleComponent])

/** As wide as pages show pictures, so that its letters stay as large as theirs */
const WIDTH = 880
const COLUMNS = 2
const HEAD_HEIGHT = 66
const PANEL_HEAD_HEIGHT = 26
const BAR_HEIGHT = 21
const AXIS_HEIGHT = 30
/** The names, for which the panels of the first column have room */
const NAMES_WIDTH = 175
const PANEL_GAP = 25
/** Beside the longest bar, for its figure */
const FIGURE_WIDTH = 65
const FOOT_HEIGHT = 8
/** Ours stands out, and what it is without its bound is paler */
const COLOURS: Partial<Record<ContestantMuxer, string>> = { ours: '#0b6e4f', 'ours-unbounded': '#a3cdbb' }
const OTHER_COLOUR = '#8d99ae'
const TEXT_COLOUR = '#222'

const milliseconds = (ms: number): string => `${Math.round(ms).toLocaleString('en')} ms`
const tick = (ms: number): string => ms < 1000 ? `${ms} ms` : `${ms / 1000} s`

export function drawChart (samples: Array<Sample<keyof UplinkMetrics>>, rates: Rate[], contestants: Contestant[], { streams, scenario }: Work): string {
  const p99s = rates.map(rate => contestants.map(({ id }) => medianOf(samplesOf(samples, rate.id, id), 'p99Ms') ?? NaN))
  // so that bars of panels can be compared, and the shortest can be seen
  const decades = p99s.flat().map(Math.log10)
  const [min, max] = [10 ** Math.floor(Math.min(...decades)), 10 ** Math.ceil(Math.max(...decades))]
  const plotWidth = (WIDTH - NAMES_WIDTH - COLUMNS * PANEL_GAP) / COLUMNS
  const barsHeight = contestants.length * BAR_HEIGHT
  const panelHeight = PANEL_HEAD_HEIGHT + barsHeight + AXIS_HEIGHT
  const height = HEAD_HEIGHT + Math.ceil(rates.length / COLUMNS) * panelHeight + FOOT_HEIGHT
  const panels = rates.map((_, index) => ({
    isFirst: index % COLUMNS === 0,
    left: NAMES_WIDTH + index % COLUMNS * (plotWidth + PANEL_GAP),
    top: HEAD_HEIGHT + Math.floor(index / COLUMNS) * panelHeight
  }))
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height })

  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    title: [
      {
        text: `A vote beside a bulk transfer: round trip, p99${scenario === 'plain' ? '' : `, ${scenario}`}`,
        subtext: `${URGENT_MESSAGE_BYTES} bytes there and back while ${streams} streams send all they can. Less is better; the scale is logarithmic.`,
        left: 'center',
        textStyle: { color: TEXT_COLOUR, fontSize: 18 },
        subtextStyle: { color: TEXT_COLOUR, fontSize: 13 }
      },
      ...panels.map(({ left, top }, index) => ({ text: rates[index].label, left: left - 5, top, padding: 5, textStyle: { color: TEXT_COLOUR, fontSize: 14 } }))
    ],
    grid: panels.map(({ left, top }) => ({ left, top: top + PANEL_HEAD_HEIGHT, width: plotWidth - FIGURE_WIDTH, height: barsHeight })),
    xAxis: panels.map((_, gridIndex) => ({ gridIndex, type: 'log', min, max, splitLine: { lineStyle: { color: '#eee' } }, axisLabel: { formatter: tick, color: TEXT_COLOUR } })),
    yAxis: panels.map(({ isFirst }, gridIndex) => ({
      gridIndex,
      type: 'category',
      inverse: true,
      data: contestants.map(({ label }) => label),
      axisTick: { show: false },
      axisLabel: { show: isFirst, interval: 0, color: TEXT_COLOUR, fontSize: 13 }
    })),
    series: panels.map((_, index) => ({
      type: 'bar',
      xAxisIndex: index,
      yAxisIndex: index,
      barCategoryGap: '22%',
      data: contestants.map(({ muxer }, row) => ({
        value: p99s[index][row],
        itemStyle: { color: COLOURS[muxer] ?? OTHER_COLOUR },
        label: { show: true, position: 'right', color: TEXT_COLOUR, fontSize: 13, formatter: milliseconds(p99s[index][row]) }
      }))
    }))
  })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return `${svg}\n`
}
