// All documents and charts of this repository as the records have them.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { oneOf } from '../../testing/programs/names.ts'
import { describePanels, drawPanels } from '../report/panels.ts'
import { dark, light } from '../report/svg.ts'
import { charts } from './charts.ts'
import { figures } from './figures.ts'
import { renderMarkdown } from './markdown.ts'
import { readRecords } from './records.ts'
import { tables } from './tables.ts'
import { Texts } from './texts.ts'
import type { Rendered, Sources } from './markdown.ts'

export const root = fileURLToPath(new URL('../..', import.meta.url))

/** Whether a document may ask for anything: most do not, and take long to parse */
const ASKS = /<!--=|<!-- table: |charts\//

/** Also what is recorded or defined, and used nowhere */
export function renderTree (): { files: Rendered[], unused: string[] } {
  const texts = new Texts(readRecords(), { figures, tables })
  const files = [...renderDocuments(texts), ...renderCharts(texts)]

  return { files, unused: texts.unused().map(name => `no document uses ${name}: use it, or remove it from benchmarks/record and benchmarks/render`) }
}

function renderDocuments (texts: Texts): Rendered[] {
  const sources: Sources = {
    figure: address => texts.figure(address),
    table: name => texts.table(name),
    description (chart) {
      const { record: name, draw } = charts[oneOf('chart', chart, Object.keys(charts))]
      const record = texts.record(name)

      return record === undefined ? undefined : escapeHtml(describePanels(draw(light, record)))
    }
  }
  const paths = execFileSync('git', ['-c', 'safe.directory=*', 'ls-files', '-z', '*.md'], { cwd: root, encoding: 'utf8' }).split('\0').filter(path => path !== '')

  return paths
    .map(path => ({ path, text: readFileSync(join(root, path), 'utf8') }))
    .filter(({ text }) => ASKS.test(text))
    .map(({ path, text }) => renderMarkdown(path, text, sources))
}

function escapeHtml (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function renderCharts (texts: Texts): Rendered[] {
  return Object.entries(charts).flatMap(([name, { record: recordName, draw }]) => {
    const record = texts.record(recordName)

    return record === undefined
      ? []
      : Object.entries({ [name]: light, [`${name}-dark`]: dark }).map(([file, scheme]) => renderChart(`benchmarks/charts/${file}.svg`, drawPanels(scheme, draw(scheme, record))))
  })
}

function renderChart (path: string, text: string): Rendered {
  const isSame = existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8') === text

  return { path, text, differences: isSame ? [] : [`${path}: the chart is not as recorded`] }
}
