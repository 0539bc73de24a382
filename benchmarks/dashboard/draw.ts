// The panels of a dashboard as SVG, which looks like Grafana's only as far as lines and figures go.
import { LineChart } from 'echarts/charts'
import { GridComponent, LegendComponent } from 'echarts/components'
import { init, use } from 'echarts/core'
import { SVGRenderer } from 'echarts/renderers'
import type { Dashboard, Line, Panel } from './panels.ts'

use([GridComponent, LegendComponent, LineChart, SVGRenderer])

/** Grafana's grid has 24 columns */
const COLUMN_WIDTH = 44
const UNIT_HEIGHT = 30
const GAP = 6
const HEAD_HEIGHT = 44
const TITLE_HEIGHT = 26
const LEGEND_LINE_HEIGHT = 21
/** Of a letter in a legend, and what stands beside the name */
const LETTER_WIDTH = 5.6
const LEGEND_ICON_WIDTH = 32
const FONT = 'Arial, Helvetica, Liberation Sans, sans-serif'
const TEXT_COLOUR = '#222'
const COLOURS = ['#0b6e4f', '#fa9f42', '#2b4162', '#b5446e', '#6fb98f', '#8d99ae', '#c8963e', '#7d5a50', '#3d8eb9', '#d1495b']
const STAT_COLOURS: Record<string, string> = { green: '#0b6e4f', orange: '#d9730d', red: '#c0222f' }
const BINARY = ['B', 'KiB', 'MiB', 'GiB']
const DECIMAL = ['B/s', 'kB/s', 'MB/s', 'GB/s']

/** Grafana's units */
const UNITS: Record<string, (value: number, decimals?: number) => string> = {
  bytes: value => scale(value, 1024, BINARY),
  Bps: value => scale(value, 1000, DECIMAL),
  s: value => value === 0 ? '0' : value < 0.001 ? `${short(value * 1e6)} µs` : value < 1 ? `${short(value * 1000)} ms` : `${short(value)} s`,
  wps: value => `${short(value)}/s`,
  short: (value, decimals) => decimals == null ? short(value) : value.toFixed(decimals)
}

interface Drawing {
  lines: Map<Panel, Line[]>
  /** Seconds since 1970 */
  fromS: number
  toS: number
  note: string
}

export function drawDashboard ({ title, panels }: Dashboard, drawing: Drawing): string {
  const width = 24 * COLUMN_WIDTH
  const height = HEAD_HEIGHT + UNIT_HEIGHT * Math.max(...panels.map(({ gridPos: { y, h } }) => y + h))

  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-family="${FONT}" fill="${TEXT_COLOUR}">`,
    `<rect width="${width}" height="${height}" fill="#f4f5f5"/>`,
    `<text x="${GAP}" y="27" font-size="18" font-weight="bold">${escape(title)}</text>`,
    `<text x="${width - GAP}" y="27" font-size="13" text-anchor="end">${escape(drawing.note)}</text>`,
    ...panels.map(panel => drawPanel(panel, drawing)),
    '</svg>\n'
  ].join('\n')
}

function drawPanel (panel: Panel, drawing: Drawing): string {
  const { type, title, gridPos } = panel
  const lines = drawing.lines.get(panel) ?? []
  const [left, top] = [gridPos.x * COLUMN_WIDTH + GAP / 2, HEAD_HEIGHT + gridPos.y * UNIT_HEIGHT + GAP / 2]
  const [width, height] = [gridPos.w * COLUMN_WIDTH - GAP, gridPos.h * UNIT_HEIGHT - GAP]
  const drawn = type === 'row'
    ? `<text x="4" y="19" font-size="15" font-weight="bold">${escape(title)}</text>`
    : [
        `<rect width="${width}" height="${height}" rx="3" fill="#fff" stroke="#ddd"/>`,
        `<text x="9" y="18" font-size="13" font-weight="bold">${escape(title)}</text>`,
        type === 'stat' ? drawFigure(panel, lines, width, height) : `<g transform="translate(0 ${TITLE_HEIGHT})">${drawLines(panel, lines, drawing, width, height - TITLE_HEIGHT)}</g>`
      ].join('\n')

  return `<g transform="translate(${left} ${top})">${drawn}</g>`
}

function drawFigure ({ fieldConfig }: Panel, lines: Line[], width: number, height: number): string {
  const { unit = 'short', decimals, thresholds } = fieldConfig?.defaults ?? {}
  const value = lines[0]?.values.at(-1)?.[1] ?? NaN
  const reached = thresholds?.steps.filter(({ value: from }) => from == null || value >= from).at(-1)
  const text = Number.isNaN(value) ? '–' : UNITS[unit](value, decimals)

  return `<text x="${width / 2}" y="${height / 2 + 24}" font-size="38" text-anchor="middle" fill="${STAT_COLOURS[reached?.color ?? ''] ?? TEXT_COLOUR}">${text}</text>`
}

function drawLines ({ fieldConfig }: Panel, lines: Line[], { fromS, toS }: Drawing, width: number, height: number): string {
  const { unit = 'short', custom } = fieldConfig?.defaults ?? {}
  const isStacked = custom?.stacking?.mode === 'normal'
  const logBase = custom?.scaleDistribution?.log
  const legendWidth = lines.reduce((sum, { name }) => sum + name.length * LETTER_WIDTH + LEGEND_ICON_WIDTH, 0)
  const legendHeight = Math.ceil(legendWidth / (width - 20)) * LEGEND_LINE_HEIGHT
  const chart = init(null, null, { renderer: 'svg', ssr: true, width, height })

  chart.setOption({
    animation: false,
    color: COLOURS,
    textStyle: { fontFamily: FONT },
    legend: { bottom: 2, left: 6, right: 6, icon: 'roundRect', itemWidth: 10, itemHeight: 4, itemGap: 14, textStyle: { fontSize: 11, color: TEXT_COLOUR } },
    grid: { left: 62, right: 14, top: 8, bottom: legendHeight + 20 },
    xAxis: { type: 'value', min: 0, max: Math.floor(toS - fromS), splitLine: { show: false }, axisLine: { onZero: false }, axisLabel: { fontSize: 11, color: TEXT_COLOUR, formatter: clock }, interval: 60 },
    yAxis: { type: logBase == null ? 'value' : 'log', logBase, splitNumber: 4, ...unit === 'bytes' && logBase == null && binaryTicks(lines), splitLine: { lineStyle: { color: '#eee' } }, axisLabel: { fontSize: 11, color: TEXT_COLOUR, formatter: (value: number) => UNITS[unit](value) } },
    series: (isStacked ? aligned(lines) : lines).map(({ name, values }) => ({
      type: 'line',
      name,
      data: values.map(([timeS, value]) => [Math.round(10 * (timeS - fromS)) / 10, Number.isFinite(value) ? value : '-']),
      showSymbol: false,
      lineStyle: { width: 1.3 },
      step: custom?.lineInterpolation === 'stepAfter' && 'end',
      ...isStacked && { stack: 'all', areaStyle: { opacity: 0.6 } }
    }))
  })

  const svg = chart.renderToSVGString()
  chart.dispose()

  return svg
}

/** With 0 where others have a value: lines are stacked by their places */
function aligned (lines: Line[]): Line[] {
  const timesS = [...new Set(lines.flatMap(({ values }) => values.map(([timeS]) => timeS)))].sort((a, b) => a - b)

  return lines.map(({ name, values }) => {
    const known = new Map(values)

    return { name, values: timesS.map(timeS => [timeS, known.get(timeS) ?? 0]) }
  })
}

/** Four or fewer steps of a power of two */
function binaryTicks (lines: Line[]): { interval: number, max: number } {
  const largest = Math.max(1, ...lines.flatMap(({ values }) => values.map(([, value]) => value).filter(Number.isFinite)))
  const interval = 2 ** Math.max(0, Math.ceil(Math.log2(largest / 4)))

  return { interval, max: Math.ceil(largest / interval) * interval }
}

function scale (value: number, base: number, names: string[]): string {
  const power = value < base ? 0 : Math.min(names.length - 1, Math.floor(Math.log(value) / Math.log(base)))

  return value === 0 ? '0' : `${short(value / base ** power)} ${names[power]}`
}

function short (value: number): string {
  return Number(value.toPrecision(3)).toLocaleString('en')
}

function clock (seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
}
