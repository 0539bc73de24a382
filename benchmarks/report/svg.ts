// Charts as SVG that look alike: each is drawn twice, for light pages and for dark ones.
import { BarChart, ScatterChart } from 'echarts/charts'
import { GridComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import type { EChartsCoreOption } from 'echarts/core'

use([BarChart, GridComponent, ScatterChart, SVGRenderer, TitleComponent])

export interface Scheme {
  paper: string
  ink: string
  quiet: string
  grid: string
  /** This muxer's, as in live/style.css */
  ours: string
  /** This muxer with a part of it turned off */
  oursPale: string
  other: string
}

export const light: Scheme = { paper: '#fff', ink: '#1b1c1f', quiet: '#5f636b', grid: '#e2e3e6', ours: '#1f56c8', oursPale: '#a9c1ee', other: '#8d99ae' }
export const dark: Scheme = { paper: '#0d1117', ink: '#eceef1', quiet: '#a2a8b2', grid: '#2c2f36', ours: '#86acff', oursPale: '#41588c', other: '#7c879b' }

export function renderSvg (width: number, height: number, option: EChartsCoreOption): string {
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })
  chart.setOption({ animation: false, ...option })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return `${renumber(svg)}\n`
}

/** Names of classes go on from the chart that was drawn before */
function renumber (svg: string): string {
  const numbers = new Map<string, number>()

  return svg.replaceAll(/\bzr\d+-cls-\d+\b/g, name => `c${numbers.get(name) ?? numbers.set(name, numbers.size).get(name)}`)
}
