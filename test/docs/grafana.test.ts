// docs/grafana.json and docs/alerts.yaml ask for what a node shows, and docs/operating.md says what that is.
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { root } from './fixtures/documents.ts'
import { readExpression } from './fixtures/promql.ts'
import { scrapeNode } from './fixtures/scrape.ts'
import type { Scraped } from './fixtures/scrape.ts'

interface Panel {
  type: string
  title: string
  description?: string
  targets?: Array<{ expr: string, legendFormat: string }>
  fieldConfig?: { defaults: { unit?: string } }
}

interface Dashboard {
  panels: Panel[]
  templating: { list: Array<{ name: string }> }
}

interface Alert {
  alert: string
  expr: string
  labels: Record<string, string>
  annotations: Record<string, string>
}

interface Query {
  where: string
  expr: string
  /** Labels that a legend or a text puts in */
  shown: string[]
}

/** That Prometheus adds to every sample */
const TARGET_LABELS = ['job', 'instance']
/** That Grafana knows by itself, and what they may be */
const GRAFANAS_OWN = { $__rate_interval: '5m', $__range: '1h' }
const PREFIX = 'libp2p_coalescing_yamux_'
/** It evaluates thirty hours, minute by minute */
const PROMTOOL_TIMEOUT_MS = 60_000
const PROMTOOL_TESTS = join(import.meta.dirname, 'alerts.promtool.yaml')

const text = readFileSync(join(root, 'docs/grafana.json'), 'utf8')
const dashboard = JSON.parse(text) as Dashboard
const panels = dashboard.panels.filter(({ type }) => type !== 'row')
const { groups } = parse(readFileSync(join(root, 'docs/alerts.yaml'), 'utf8')) as { groups: Array<{ rules: Alert[] }> }
const alerts = groups.flatMap(({ rules }) => rules)
const hasPromtool = spawnSync('promtool', ['--version']).status === 0

const shownByPanels = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr, legendFormat }): Query => ({
  where: `the panel '${title}'`,
  expr: Object.entries(GRAFANAS_OWN).reduce((expr, [name, value]) => expr.replaceAll(name, value), expr),
  shown: [...legendFormat.matchAll(/{{(\w+)}}/g)].map(([, label]) => label)
})))
const queries = [...shownByPanels, ...alerts.map(({ alert, expr, annotations }): Query => ({
  where: `the alert ${alert}`,
  expr,
  shown: Object.values(annotations).flatMap(text => [...text.matchAll(/\$labels\.(\w+)/g)].map(([, label]) => label))
}))]

describe('beside a scrape', () => {
  let metrics: Map<string, Scraped>
  let samples: Map<string, Array<Record<string, string>>>

  beforeAll(async () => {
    metrics = await scrapeNode()
    samples = new Map([...metrics.values()].flatMap(({ samples }) => [...samples]))
  })

  test.each(queries)('$where asks in PromQL for metrics, labels and their values that there are', ({ expr, shown }) => {
    const { errors, selectors, grouping } = readExpression(expr)
    expect(errors).toEqual([])
    expect(selectors).not.toEqual([])
    const labelsOf = (metric: string): string[] => [...TARGET_LABELS, ...(samples.get(metric) ?? []).flatMap(labels => Object.keys(labels))]

    for (const { metric, matchers } of selectors) {
      expect([...samples.keys()]).toContain(metric)

      for (const { label, operator, value } of matchers) {
        expect(labelsOf(metric), `${metric} has ${label}`).toContain(label)

        if (operator === '=') {
          expect(samples.get(metric)?.map(labels => labels[label]), `${metric} has a ${label} of ${value}`).toContain(value)
        }
      }
    }

    expect(selectors.flatMap(({ metric }) => labelsOf(metric))).toEqual(expect.arrayContaining([...grouping, ...shown]))
  })

  test('the dashboard shows every metric', () => {
    const shown = new Set(shownByPanels.flatMap(({ expr }) => readExpression(expr).selectors.map(({ metric }) => metric)))
    const isShown = ({ samples }: Scraped): boolean => [...samples.keys()].some(name => shown.has(name))

    expect([...metrics].filter(([, metric]) => !isShown(metric)).map(([name]) => name)).toEqual([])
  })

  test('docs/operating.md says of every metric what its type and its label are', () => {
    const rows = readFileSync(join(root, 'docs/operating.md'), 'utf8').matchAll(/^\| (`\w+`(?:, `\w+`)*) \| (counter|gauge|histogram)(?:, by `(\w+)`)?/gm)
    const said = [...rows].flatMap(([, names, type, label]) => [...names.matchAll(/\w+/g)].map(([name]) => [PREFIX + name, { type, label }]))
    const labelOf = ({ samples }: Scraped): string | undefined => Object.keys([...samples.values()][0][0]).find(label => label !== 'le')

    expect(Object.fromEntries(said)).toEqual(Object.fromEntries([...metrics].map(([name, metric]) => [name, { type: metric.type, label: labelOf(metric) }])))
  })
})

test('the dashboard defines the variables that it uses', () => {
  const used = [...text.matchAll(/\$(\w+)|\${(\w+)}/g)].map(([, plain, braced]) => plain ?? braced)
  const known = [...dashboard.templating.list.map(({ name }) => name), ...Object.keys(GRAFANAS_OWN).map(name => name.slice(1)), '__all']

  expect(used.filter(name => !known.includes(name))).toEqual([])
})

test.each(panels)('the panel \'$title\' asks for something, has a unit and says what to do', ({ targets, fieldConfig, description = '' }) => {
  expect(targets).not.toEqual([])
  expect(fieldConfig?.defaults.unit).toMatch(/\w/)
  expect(description).toMatch(/\w.*\./)
})

test.each(alerts)('the alert $alert has a severity, says what is wrong and what to do', ({ labels, annotations }) => {
  expect(['warning', 'info']).toContain(labels.severity)
  expect(Object.keys(annotations)).toEqual(['summary', 'description'])
  expect(Object.values(annotations)).toEqual([expect.stringMatching(/\w/), expect.stringMatching(/\w.*\./)])
})

test('docs/operating.md names the alerts that there are', () => {
  const named = readFileSync(join(root, 'docs/operating.md'), 'utf8').match(/(?<=^\| `)Yamux[A-Z]\w+(?=` \|)/gm)

  expect(named).toEqual(alerts.map(({ alert }) => alert))
})

// it comes with Prometheus
test.skipIf(!hasPromtool)('each alert fires at what it is for, and leaves a healthy node alone', { timeout: PROMTOOL_TIMEOUT_MS }, () => {
  expect(execFileSync('promtool', ['test', 'rules', PROMTOOL_TESTS], { encoding: 'utf8' })).toContain('SUCCESS')
})
