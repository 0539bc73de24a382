// How recorded figures get into documents.
import { describe, expect, it, test } from 'vitest'
import { renderMarkdown } from '../../benchmarks/render/markdown.ts'
import { Texts } from '../../benchmarks/render/texts.ts'
import type { BenchmarkRecord } from '../../benchmarks/harness/record.ts'
import type { Figure } from '../../benchmarks/render/figures.ts'
import type { Sources } from '../../benchmarks/render/markdown.ts'
import type { Table } from '../../benchmarks/render/tables.ts'

const sources: Sources = {
  figure: address => address === 'one' ? '1' : address === 'range' ? '1,000–2,000' : fail(`no figure ${address}`),
  table: name => name === 'small' ? '| a |\n| --- |\n| 1 |' : fail(`no table ${name}`),
  description: chart => chart === 'recorded' ? 'What it shows' : undefined
}

function fail (message: string): never {
  throw new Error(message)
}

const render = (text: string): string => renderMarkdown('docs/page.md', text, sources).text

describe('a figure', () => {
  test.each([
    ['a number', 'takes 13.6<!--=one--> KiB', 'takes 1<!--=one--> KiB'],
    ['a number with commas', 'takes 5,210<!--=one-->', 'takes 1<!--=one-->'],
    ['a range', '3–4.5<!--=range-->', '1,000–2,000<!--=range-->'],
    ['what is not known yet', '?<!--=one-->', '1<!--=one-->'],
    ['one of several', '4<!--=one--> to 5<!--=one-->, 6', '1<!--=one--> to 1<!--=one-->, 6'],
    ['one in a cell', '| a | b |\n| --- | --- |\n| 2<!--=one--> | 3 |', '| a | b |\n| --- | --- |\n| 1<!--=one--> | 3 |'],
    ['a bold one', '**2<!--=one-->** ms', '**1<!--=one-->** ms'],
    ['one in a link', '[2<!--=one--> ms](page.md)', '[1<!--=one--> ms](page.md)']
  ])('replaces %s in front of its comment', (_, text, rendered) => {
    expect(render(text)).toBe(rendered)
  })

  it('stays as it is in code', () => {
    const text = '`2<!--=other-->`\n\n```\n2<!--=other-->\n```\n'

    expect(render(text)).toBe(text)
  })

  it('has to stand directly in front', () => {
    expect(() => render('\n\ntakes 13 <!--=one-->')).toThrow('docs/page.md:3: there is no figure directly in front of <!--=one-->')
    expect(() => render('takes **13**<!--=one-->')).toThrow('docs/page.md:1: there is no figure directly in front of <!--=one-->')
  })

  it('that nobody knows is an error that says where', () => {
    expect(() => render('a\n2<!--=other-->')).toThrow('docs/page.md:2: no figure other')
  })
})

describe('a table', () => {
  it('replaces what is between its comments', () => {
    expect(render('<!-- table: small -->\n\n| old |\n\n<!-- /table -->\nmore')).toBe('<!-- table: small -->\n| a |\n| --- |\n| 1 |\n<!-- /table -->\nmore')
    expect(render('<!-- table: small -->\n<!-- /table -->')).toBe('<!-- table: small -->\n| a |\n| --- |\n| 1 |\n<!-- /table -->')
  })

  it('has to end before another one begins', () => {
    expect(() => render('<!-- table: small -->\n\n<!-- table: small -->\n<!-- /table -->')).toThrow('docs/page.md:1: <!-- /table --> is missing')
  })

  it('that nobody knows is an error that says where', () => {
    expect(() => render('<!-- table: large -->\n<!-- /table -->')).toThrow('docs/page.md:1: no table large')
  })
})

test('a chart that is recorded is described', () => {
  const picture = (name: string, alt: string): string => `<picture>\n  <img src="charts/${name}.svg" width="9" alt="${alt}">\n</picture>`

  expect(render(picture('recorded', 'old'))).toBe(picture('recorded', 'What it shows'))
  expect(render(picture('other', 'old'))).toBe(picture('other', 'old'))
})

const record = (benchmark: string, values: Record<string, number[]>): BenchmarkRecord => ({
  benchmark,
  command: '',
  commit: 'abc',
  isChanged: false,
  date: '2026-01-02',
  machine: { model: 'a processor', cores: 2, calibrationMs: 99.9 },
  node: '24.0.0',
  versions: {},
  extent: '3 rounds',
  samples: Object.entries(values).flatMap(([muxer, each]) => each.map((ms, index) => ({ rowId: 'row', muxer, round: index + 1, metrics: { ms } })))
})

const figures: Record<string, Record<string, Figure>> = {
  bench: {
    ms: { metric: 'ms', show: value => value.toFixed(1) },
    ratio: { metric: 'ms', base: 'stock', show: value => value.toFixed(2) }
  }
}
const table: Table = {
  record: 'bench',
  heading: 'work',
  lines: [{ label: 'it', row: 'row' }, { label: 'stock', row: 'row', muxer: 'stock' }],
  columns: [{ heading: 'ms', figure: 'ms' }, { heading: '× stock', figure: 'ratio' }, { heading: 'both', figure: 'ms', muxers: ['ours', 'stock'] }]
}
const records = new Map([['bench', record('bench', { ours: [1, 3, 2], stock: [2, 2, 8] })], ['bench-slow', record('bench', { ours: [10] })]])

const texts = (tables: Record<string, Table> = {}): Texts => new Texts(records, { figures, tables })

describe('a figure\'s address', () => {
  test.each([
    ['bench/row/ours/ms', '2.0'],
    ['bench/row/ours/ms/lowest', '1.0'],
    ['bench/row/ours/ms/highest', '3.0'],
    ['bench/row/ours/ms/range', '1.0–3.0'],
    // 0.5, 1.5 and 0.25
    ['bench/row/ours/ratio', '0.50'],
    ['bench/row/ours/ratio/range', '0.25–1.50'],
    ['bench-slow/row/ours/ms/range', '10.0']
  ])('%s is %s', (address, figure) => {
    expect(texts().figure(address)).toBe(figure)
  })

  test.each([
    ['bench/row', 'is not record/row/muxer/figure'],
    ['other/row/ours/ms', 'there is no benchmarks/record/other.json'],
    ['bench/other/ours/ms', 'There is no row "other", only row'],
    ['bench/row/other/ms', 'There is no muxer "other", only ours, stock'],
    ['bench/row/ours/other', 'There is no figure of bench "other", only ms, ratio'],
    ['bench/row/ours/ms/most', 'There is no part "most"'],
    ['bench-slow/row/ours/ratio', 'ratio of row with ours was not measured']
  ])('%s is an error', (address, message) => {
    expect(() => texts().figure(address)).toThrow(message)
  })
})

describe('a table of a record', () => {
  it('has medians, of ratios the rounds too, and where they come from', () => {
    expect(texts({ table }).table('table').split('\n')).toEqual([
      '| work | ms | × stock | both |',
      '| --- | --- | --- | --- |',
      '| it | 2.0 | 0.50 (0.25–1.50) | 2.0 / 2.0 |',
      '| stock | 2.0 | 1 | 2.0 / 2.0 |',
      '',
      '<sub>3 rounds; 2 cores of a processor, which take 100 ms for a fixed loop; Node 24.0.0; abc, 2026-01-02</sub>'
    ])
  })

  it('may have a column of another record, and no figure where nothing was measured', () => {
    const [, , line] = texts({ table: { ...table, columns: [{ heading: 'slow', figure: 'ms', record: 'bench-slow', muxers: ['ours', 'stock'] }] } }).table('table').split('\n')

    expect(line).toBe('| it | 10.0 / - |')
  })

  it('is an error without the record, and without the row', () => {
    expect(() => texts({ table: { ...table, record: 'other' } }).table('table')).toThrow('there is no benchmarks/record/other.json')
    expect(() => texts({ table: { ...table, lines: [{ label: '', row: 'other' }] } }).table('table')).toThrow('There is no row "other"')
  })
})

test('what has a record and is used nowhere is named', () => {
  const rendered = texts({ table, other: { ...table, record: 'other' } })

  expect(rendered.unused()).toEqual(['record bench', 'record bench-slow', 'figure ms of bench', 'figure ratio of bench', 'table table'])
  rendered.table('table')
  expect(rendered.unused()).toEqual(['record bench-slow'])
  rendered.figure('bench-slow/row/ours/ms')
  expect(rendered.unused()).toEqual([])
})

test('what differs is told by its file and line, and what is right is not', () => {
  const document = '1<!--=one-->\n2<!--=one-->\n\n<!-- table: small -->\n<!-- /table -->\n<img src="charts/recorded.svg" alt="">'

  expect(renderMarkdown('README.md', document, sources).differences).toEqual([
    'README.md:2: 2 is recorded as 1 (one)',
    'README.md:4: the table small is not as recorded',
    'README.md:6: the description of the chart recorded is not as recorded'
  ])
  expect(renderMarkdown('README.md', render(document), sources).differences).toEqual([])
})
