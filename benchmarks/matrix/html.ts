// The report as one page that needs nothing else and no scripts: what it comes to, the ratios as bars, and all tables below.
import { transportNames, transports } from '../contestants.ts'
import { renderMachine } from '../harness/table.ts'
import { describeOthers } from '../processors.ts'
import { escape } from '../report/escape.ts'
import { describeDoubts, describeOutcome } from '../report/verdict.ts'
import { matrixRows } from '../rows.ts'
import { drawRatioBars, worksOf } from './ratio-bars.ts'
import { ofTransport } from './results.ts'
import { style } from './style.ts'
import { describeComparison, method, terms } from './text.ts'
import { buildTables } from './tables.ts'
import type { TransportName } from '../contestants.ts'
import type { Group } from '../harness/table.ts'
import type { CellSample } from '../report/metrics.ts'
import type { Comparison } from './compare.ts'
import type { Results } from './results.ts'
import type { ComparisonText } from './text.ts'

/** What most want to know, and where this muxer does worst */
const FIRST_ROWS = ['1x100', '1000x100', '1x4k', '1x64k', '10x1m', 'requests', 'mixed-urgent']

/** The urgent one is about its latency */
const spokenRows = matrixRows.map(row => row.isUrgent === true ? { ...row, comparedBy: { metric: 'p99Ms', label: 'p99' } as const } : row)

const key = `<dl class="key">
<dt><i class="bar"></i></dt><dd>from 1, where ours and the other are alike, to the median of the rounds: to the right ours is better, to the left the other, of times and CPU too</dd>
<dt><i class="spread"></i></dt><dd>from the lowest round to the highest</dd>
<dt>ahead, behind</dt><dd>all rounds are on that side; <b>undecided</b>: they are on both sides</dd>
<dt>1, 10, 100</dt><dd>each line of the grid is ten times the one before</dd>
<dt>p50, p99</dt><dd>how long every other request takes at most, and all but one in a hundred</dd>
</dl>`

function renderTable (title: string, headings: string[], groups: Group[]): string {
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

  // a keyboard can scroll what it can get to
  return `<div class="wide" tabindex="0" role="region" aria-label="${escape(title)}"><table><thead><tr>${head}</tr></thead>${bodies.join('\n')}</table></div>`
}

function renderComparison ({ summary, headings, groups }: ComparisonText): string {
  return `<h2>What changed</h2><p>${escape(summary)}</p>${groups.length > 0 ? renderTable('What changed', headings, groups) : ''}`
}

function renderFirst ({ samples, takenPercent = 0 }: Results, transport: TransportName): string[] {
  const ofThis = ofTransport(samples, transport)
  const first = worksOf(samples, transport, { rowIds: FIRST_ROWS, bases: ['stock', 'mplex'] })

  return [
    ...describeOutcome(ofThis, spokenRows).map(sentence => `<p class="lead">${escape(sentence)}</p>`),
    ...[...describeOthers(takenPercent), ...describeDoubts(ofThis, spokenRows)].map(doubt => `<p class="warning">${escape(doubt)}</p>`),
    ...first.length > 0 ? [drawRatioBars(`How many times as good this muxer is over ${transports[transport]}`, first), key] : []
  ]
}

function renderDetails (samples: CellSample[], transport: TransportName): string {
  const works = worksOf(samples, transport)

  return [
    `<details><summary>${escape(transports[transport])}: all that was measured</summary>`,
    ...works.length > 0 ? [drawRatioBars('This muxer compared with each other one', works)] : [],
    ...buildTables(samples, transport).map(({ title, headings, groups }) => `<h3>${escape(title)}</h3>${renderTable(title, headings, groups)}`),
    '</details>'
  ].join('\n')
}

function renderMethod (): string {
  const list = terms.map(([term, meaning]) => `<dt>${escape(term)}</dt><dd>${escape(meaning)}</dd>`).join('\n')

  return `<details><summary>How it was measured, and what the columns mean</summary><p>${escape(method.join(' '))}</p><dl>${list}</dl></details>`
}

export function renderHtml (results: Results, comparison?: Comparison): string {
  const { samples, startedAt, rounds, failures } = results
  const measured = transportNames.filter(transport => ofTransport(samples, transport).length > 0)
  const began = `${new Date(startedAt).toLocaleString('en', { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' })} UTC`

  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    `<title>libp2p-coalescing-yamux compared with other muxers, ${escape(began)}</title><style>${style}</style></head><body><main>`,
    '<h1>libp2p-coalescing-yamux compared with other muxers</h1>',
    `<p class="faint">${escape(began)}, ${rounds} ${rounds === 1 ? 'round' : 'rounds'}, ${escape(renderMachine())}</p>`,
    ...failures.map(({ transport, muxer, message }) => `<p class="warning">${escape(`${muxer} failed over ${transports[transport]} and was left out from then on: ${message}`)}</p>`),
    ...measured.slice(0, 1).flatMap(transport => renderFirst(results, transport)),
    ...comparison == null ? [] : [renderComparison(describeComparison(comparison))],
    '<h2>All figures</h2>',
    ...measured.map(transport => renderDetails(samples, transport)),
    renderMethod(),
    '</main></body></html>\n'
  ].join('\n')
}
