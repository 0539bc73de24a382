// The part of each link that each muxer uses, drawn: one SVG for each work.
import { BarChart } from 'echarts/charts'
import { GridComponent, LegendComponent, TitleComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import { variants } from './variants.ts'
import type { Result } from './report.ts'

use([BarChart, GridComponent, LegendComponent, SVGRenderer, TitleComponent])

const WIDTH = 1100
const HEIGHT = 420
/** Room for labels to be wider than they are taken for: which font a reader has is not known here */
const LEGEND_GAP = 20
const SWATCH_WIDTH = 16
/** Ours stands out, others are grey */
const COLOURS = ['#0b6e4f', '#2b4162', '#8d99ae']

/** `ofWork` are the results of one work */
export function drawLinkParts (ofWork: Result[]): string {
  const labels = [...new Set(ofWork.map(({ link }) => link.label))]
  const shown = variants.filter(({ id }) => ofWork.some(({ variant }) => variant.id === id))
  const chart = init(null, null, { renderer: 'svg', ssr: true, width: WIDTH, height: HEIGHT })

  chart.setOption({
    animation: false,
    backgroundColor: '#fff',
    color: COLOURS,
    title: { text: `Part of the link used, ${ofWork[0].work.label}`, left: 'center' },
    legend: { bottom: 0, itemGap: LEGEND_GAP, itemWidth: SWATCH_WIDTH },
    grid: { left: 50, right: 20, top: 45, bottom: 75 },
    xAxis: { type: 'category', data: labels, axisLabel: { interval: 0, lineHeight: 14 } },
    yAxis: { type: 'value', min: 0, max: 1 },
    series: shown.map(({ id, label }) => ({
      type: 'bar',
      name: label,
      data: labels.map(label => ofWork.find(({ link, variant }) => link.label === label && variant.id === id)?.simulated.first.linkPart)
    }))
  })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return `${svg}\n`
}
