// The report as one page that needs nothing else: charts as SVG, tables, no scripts.
import { transportNames } from '../contestants.ts'
import { drawCharts } from './charts.ts'
import { describeComparison, legend } from './text.ts'
import { buildTables } from './tables.ts'
import type { Group } from '../harness/table.ts'
import type { Comparison } from './compare.ts'
import type { Results } from './results.ts'
import type { ComparisonText } from './text.ts'

const style = `
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em auto; max-width: 1400px; padding: 0 1em; color: #1d2129; background: #fff }
svg { max-width: 100%; height: auto; display: block; margin: 1em 0 }
.wide { overflow-x: auto }
table { border-collapse: collapse; font-size: 13px; font-variant-numeric: tabular-nums }
th, td { padding: 2px 8px; text-align: right; white-space: pre-line; vertical-align: bottom }
td { white-space: nowrap }
th.work { white-space: nowrap }
th.work, td.muxer, th.muxer { text-align: left; vertical-align: top }
thead th { border-bottom: 2px solid #888 }
tbody { border-bottom: 1px solid #ccc }
tr.ours { background: #e7f4ef }
pre { white-space: pre-wrap }
`

function escape (text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

function renderTable (headings: string[], groups: Group[]): string {
  const head = ['work', ...headings].map((heading, i) => `<th${i < 2 ? ' class="muxer"' : ''}>${escape(heading)}</th>`).join('')
  const bodies = groups.map(({ label, lines }) => {
    const rows = lines.map(([name, ...cells], i) => [
      `<tr${name === 'ours' ? ' class="ours"' : ''}>`,
      i === 0 ? `<th class="work" rowspan="${lines.length}">${escape(label)}</th>` : '',
      `<td class="muxer">${escape(name)}</td>`,
      ...cells.map(cell => `<td>${escape(cell)}</td>`),
      '</tr>'
    ].join(''))

    return `<tbody>${rows.join('\n')}</tbody>`
  })

  return `<div class="wide"><table><thead><tr>${head}</tr></thead>${bodies.join('\n')}</table></div>`
}

function renderComparison ({ summary, headings, groups }: ComparisonText): string {
  return `<h2>What changed</h2><p>${escape(summary)}</p>${groups.length > 0 ? renderTable(headings, groups) : ''}`
}

export function renderHtml (results: Results, comparison?: Comparison): string {
  const { samples, machine, startedAt, rounds, failures } = results
  const sections = transportNames.flatMap(transport => [
    ...drawCharts(samples, transport),
    ...buildTables(samples, transport).map(({ title, headings, groups }) => `<h2>${escape(title)}</h2>${renderTable(headings, groups)}`)
  ])

  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Benchmarks of libp2p-coalescing-yamux</title>',
    `<style>${style}</style></head><body><h1>Benchmarks of libp2p-coalescing-yamux</h1>`,
    `<p>${escape(machine)}; ${rounds} rounds; began ${escape(startedAt)}</p>`,
    ...failures.map(({ transport, muxer, message }) => `<p><strong>Failed and left out from then on: ${escape(`${muxer}, ${transport}: ${message}`)}</strong></p>`),
    ...comparison == null ? [] : [renderComparison(describeComparison(comparison))],
    ...sections,
    `<h2>How it was measured</h2><pre>${escape(legend)}</pre></body></html>\n`
  ].join('\n')
}
