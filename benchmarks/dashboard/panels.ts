// docs/grafana.json, as far as the picture draws it, and what Prometheus answers to its panels.
import { readFile } from 'node:fs/promises'
import type { Prometheus, Series } from './prometheus.ts'

/** Of a picture: how fine its lines are */
const POINTS = 120

export interface Panel {
  type: 'row' | 'stat' | 'timeseries'
  title: string
  gridPos: { x: number, y: number, w: number, h: number }
  targets?: Array<{ expr: string, legendFormat: string }>
  fieldConfig?: {
    defaults: {
      unit: string
      decimals?: number
      thresholds?: { steps: Array<{ color: string, value: number | null }> }
      custom?: { stacking?: { mode: string }, lineInterpolation?: string, scaleDistribution?: { log: number } }
    }
  }
}

export interface Dashboard {
  title: string
  panels: Panel[]
}

export interface Line {
  name: string
  values: Series['values']
}

export async function readDashboard (path: URL): Promise<Dashboard> {
  return JSON.parse(await readFile(path, 'utf8')) as Dashboard
}

/** A line for each series that a panel's queries have, in the last seconds before now */
export async function linesOf ({ type, targets = [] }: Panel, prometheus: Prometheus, fromS: number, toS: number): Promise<Line[]> {
  const rangeS = Math.round(toS - fromS)
  // as Grafana fills them in when all instances are chosen; a rate needs some scrapes
  const variables = { $job: '.+', $instance: '.+', $__rate_interval: '10s', $__range: `${rangeS}s` }

  const lines = await Promise.all(targets.map(async ({ expr, legendFormat }) => {
    const query = Object.entries(variables).reduce((query, [name, value]) => query.replaceAll(name, value), expr)
    const series = type === 'stat'
      ? await prometheus.queryAt(query, toS)
      : await prometheus.queryRange(query, fromS, toS, rangeS / POINTS)

    return series.map(({ labels, values }) => ({ name: legendFormat.replace(/{{(\w+)}}/g, (_, label) => labels[label]), values }))
  }))

  return lines.flat()
}
