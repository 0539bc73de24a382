// Panels of bars in two columns, for pages that people read: each bar has its figure beside it.
import { GRID_COLOUR, renderSvg, TEXT_COLOUR } from './svg.ts'

export interface Bar {
  name: string
  value: number
  /** Beside it */
  figure: string
  colour: string
}

/** All panels have bars of the same names */
export interface Panel {
  title: string
  bars: Bar[]
}

/** What all panels have in common, so that their bars can be compared; otherwise each goes from 0 to its longest bar */
interface LogAxis {
  min: number
  max: number
  tick(value: number): string
}

interface Panels {
  title: string
  subtitle: string
  panels: Panel[]
  logAxis?: LogAxis
  /** Beside the longest bar, for its figure */
  figureWidth: number
}

/** As wide as pages show pictures, so that its letters stay as large as theirs */
const WIDTH = 880
const COLUMNS = 2
const HEAD_HEIGHT = 66
const PANEL_HEAD_HEIGHT = 26
const BAR_HEIGHT = 21
const AXIS_HEIGHT = 30
const NO_AXIS_HEIGHT = 10
/** The names, for which the panels of the first column have room */
const NAMES_WIDTH = 175
const PANEL_GAP = 25
const FOOT_HEIGHT = 8

const text = (fontSize: number): { color: string, fontSize: number } => ({ color: TEXT_COLOUR, fontSize })

export function drawPanels ({ title, subtitle, panels, logAxis, figureWidth }: Panels): string {
  const plotWidth = (WIDTH - NAMES_WIDTH - COLUMNS * PANEL_GAP) / COLUMNS
  const barsHeight = panels[0].bars.length * BAR_HEIGHT
  const panelHeight = PANEL_HEAD_HEIGHT + barsHeight + (logAxis == null ? NO_AXIS_HEIGHT : AXIS_HEIGHT)
  const height = HEAD_HEIGHT + Math.ceil(panels.length / COLUMNS) * panelHeight + FOOT_HEIGHT
  const placed = panels.map((panel, index) => ({
    ...panel,
    isFirst: index % COLUMNS === 0,
    left: NAMES_WIDTH + index % COLUMNS * (plotWidth + PANEL_GAP),
    top: HEAD_HEIGHT + Math.floor(index / COLUMNS) * panelHeight
  }))

  return renderSvg(WIDTH, height, {
    title: [
      { text: title, subtext: subtitle, left: 'center', textStyle: text(18), subtextStyle: text(13) },
      ...placed.map(({ title, left, top }) => ({ text: title, left: left - 5, top, padding: 5, textStyle: text(14) }))
    ],
    grid: placed.map(({ left, top }) => ({ left, top: top + PANEL_HEAD_HEIGHT, width: plotWidth - figureWidth, height: barsHeight })),
    xAxis: placed.map(({ bars }, gridIndex) => logAxis == null
      ? { gridIndex, type: 'value', min: 0, max: Math.max(...bars.map(({ value }) => value)), show: false }
      : { gridIndex, type: 'log', min: logAxis.min, max: logAxis.max, splitLine: { lineStyle: { color: GRID_COLOUR } }, axisLabel: { formatter: logAxis.tick, color: TEXT_COLOUR } }),
    yAxis: placed.map(({ bars, isFirst }, gridIndex) => ({
      gridIndex,
      type: 'category',
      inverse: true,
      data: bars.map(({ name }) => name),
      axisTick: { show: false },
      axisLabel: { show: isFirst, interval: 0, ...text(13) }
    })),
    series: placed.map(({ bars }, index) => ({
      type: 'bar',
      xAxisIndex: index,
      yAxisIndex: index,
      barCategoryGap: '22%',
      data: bars.map(({ value, figure, colour }) => ({ value, itemStyle: { color: colour }, label: { show: true, position: 'right', formatter: figure, ...text(13) } }))
    }))
  })
}
