// Bars drawn as SVG, which any browser shows without scripts.
import { BarChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'

use([BarChart, GridComponent, LegendComponent, SVGRenderer, TitleComponent])

const WIDTH = 1360
const HEIGHT = 420
/** Ours stands out, the limit and other languages are grey or brown */
const COLOURS = ['#0b6e4f', '#fa9f42', '#2b4162', '#8d99ae', '#b5446e', '#6fb98f', '#c8963e', '#7d5a50']

export interface Bars {
  title: string
  /** Of what the bars of each series stand for */
  categories: string[]
  series: Array<{ name: string, values: Array<number | undefined> }>
  /** Where bars begin, for ratios; otherwise at the foot */
  from?: number
}

/** The axis is logarithmic: muxers differ by powers of ten */
export function drawBars ({ title, categories, series, from }: Bars): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })
  const known = series.flatMap(({ values }) => values).filter(value => value != null)
  const foot = 10 ** Math.floor(Math.log10(Math.min(...known)))

  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    color: COLOURS,
    title: { text: title, left: 'center' },
    legend: { bottom: 0 },
    grid: { left: 60, right: 20, top: 45, bottom: 75 },
    xAxis: {
      type: 'category',
      data: categories,
      axisLabel: { interval: 0, width: 0.85 * WIDTH / categories.length, overflow: 'break' }
    },
    yAxis: { type: 'log', min: foot, startValue: from ?? foot },
    series: series.map(({ name, values }) => ({ type: 'bar', name, data: values.map(value => value ?? '-') }))
  })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return svg
}
