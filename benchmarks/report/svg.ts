// Charts of bars as SVG that look alike, on light pages and on dark ones.
import { BarChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import type { EChartsCoreOption } from 'echarts/core'

use([BarChart, GridComponent, LegendComponent, SVGRenderer, TitleComponent])

export const TEXT_COLOUR = '#222'
export const GRID_COLOUR = '#eee'
/** Ours stands out */
export const OUR_COLOUR = '#0b6e4f'
/** Ours with a part of it turned off */
export const OUR_PALE_COLOUR = '#a3cdbb'
export const OTHER_COLOUR = '#8d99ae'
const PAPER_COLOUR = '#fff'

/** What the colours of a drawing are where its reader has chosen dark pages; the last two are the axes' */
const dark = { [PAPER_COLOUR]: '#0d1117', [TEXT_COLOUR]: '#e6edf3', [GRID_COLOUR]: '#2a313a', [OUR_COLOUR]: '#3fb68b', [OUR_PALE_COLOUR]: '#2b6650', '#54555a': '#8b949e', '#3c3c41': '#8b949e' }
const rules = Object.entries(dark).map(([light, dark]) => `[fill="${light}"]{fill:${dark}}[stroke="${light}"]{stroke:${dark}}`)
const style = `<style>@media (prefers-color-scheme:dark){${rules.join('')}}</style>`

export function renderSvg (width: number, height: number, option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({ animation: false, backgroundColor: PAPER_COLOUR, ...option })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return `${svg.replace('</svg>', `${style}\n</svg>`)}\n`
}
