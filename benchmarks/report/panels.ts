// Panels below each other, each with a value for every name: as bars from zero, or as dots where the axis is logarithmic.
import { renderSvg } from './svg.ts'
import type { Scheme } from './svg.ts'

export interface Value {
  name: string
  value: number
  /** Beside it */
  figure: string
  colour: string
}

export interface Panel {
  title: string
  subtitle?: string
  values: Value[]
}

/** What all panels have in common, so that they can be compared; otherwise each goes from 0 to its longest bar */
interface LogAxis {
  min: number
  max: number
  tick(value: number): string
}

export interface Panels {
  title: string
  subtitle: string
  panels: Panel[]
  logAxis?: LogAxis
  /** Beside the highest value, for its figure */
  figureWidth: number
}

/** Little more than a phone is wide, so that letters can be read there */
const WIDTH = 480
const HEAD_HEIGHT = 54
const TITLE_HEIGHT = 26
const SUBTITLE_HEIGHT = 18
const ROW_HEIGHT = 23
const AXIS_HEIGHT = 40
const NO_AXIS_HEIGHT = 14
const NAMES_WIDTH = 150
const RIGHT_MARGIN = 8
const DOT_SIZE = 11

/** In words, for who does not see it */
export function describePanels ({ title, panels }: Panels): string {
  const described = panels.map(({ title, values }) => `${title}: ${values.map(({ name, figure }) => `${figure} (${name})`).join(', ')}.`)

  return [`${title}.`, ...described].join(' ')
}

export function drawPanels (scheme: Scheme, { title, subtitle, panels, logAxis, figureWidth }: Panels): string {
  const text = (fontSize: number, color = scheme.ink): { color: string, fontSize: number, lineHeight: number } => ({ color, fontSize, lineHeight: Math.round(fontSize * 1.3) })
  const foot = logAxis == null ? NO_AXIS_HEIGHT : AXIS_HEIGHT
  let bottom = HEAD_HEIGHT + subtitle.split('\n').length * SUBTITLE_HEIGHT

  const placed = panels.map(panel => {
    const top = bottom
    const plotTop = top + TITLE_HEIGHT + (panel.subtitle == null ? 0 : SUBTITLE_HEIGHT)
    const height = panel.values.length * ROW_HEIGHT
    bottom = plotTop + height + foot

    return { ...panel, top, plotTop, height }
  })

  return renderSvg(WIDTH, bottom, {
    backgroundColor: scheme.paper,
    title: [
      { text: title, subtext: subtitle, left: 8, top: 12, padding: 0, textStyle: text(17), subtextStyle: text(13, scheme.quiet), itemGap: 4 },
      ...placed.map(({ title, subtitle, top }) => ({ text: title, subtext: subtitle, left: 8, top, padding: 0, itemGap: 2, textStyle: text(14), subtextStyle: text(13, scheme.quiet) }))
    ],
    grid: placed.map(({ plotTop, height }) => ({ left: NAMES_WIDTH, top: plotTop, width: WIDTH - NAMES_WIDTH - figureWidth - RIGHT_MARGIN, height })),
    xAxis: placed.map(({ values }, gridIndex) => logAxis == null
      ? { gridIndex, type: 'value', min: 0, max: Math.max(...values.map(({ value }) => value)), show: false }
      : {
          gridIndex,
          type: 'log',
          min: logAxis.min,
          max: logAxis.max,
          splitLine: { lineStyle: { color: scheme.grid } },
          axisLine: { show: false },
          axisTick: { show: false },
          axisLabel: { formatter: logAxis.tick, ...text(12, scheme.quiet) }
        }),
    yAxis: placed.map(({ values }, gridIndex) => ({
      gridIndex,
      type: 'category',
      inverse: true,
      data: values.map(({ name }) => name),
      axisLine: { lineStyle: { color: scheme.grid } },
      axisTick: { show: false },
      splitLine: { show: logAxis != null, lineStyle: { color: scheme.grid, type: 'dotted' } },
      axisLabel: { interval: 0, ...text(13) }
    })),
    series: placed.map(({ values }, index) => ({
      type: logAxis == null ? 'bar' : 'scatter',
      symbolSize: DOT_SIZE,
      xAxisIndex: index,
      yAxisIndex: index,
      barCategoryGap: '24%',
      data: values.map(({ value, figure, colour }, row) => ({
        value: logAxis == null ? value : [value, row],
        itemStyle: { color: colour, opacity: 1 },
        label: { show: true, position: 'right', formatter: figure, ...text(13) }
      }))
    }))
  })
}
