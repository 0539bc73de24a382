// Renders figures and tables from records, and remembers which were used: an unused one is an error.
import { ratioOf, samplesOf, spreadOf } from '../harness/samples.ts'
import { oneOf } from '../../testing/programs/names.ts'
import { findRecord } from './records.ts'
import type { BenchmarkRecord } from '../harness/record.ts'
import type { Spread } from '../harness/samples.ts'
import type { Figure } from './figures.ts'
import type { Records } from './records.ts'
import type { Line, Table } from './tables.ts'

interface Definitions {
  figures: Record<string, Record<string, Figure>>
  tables: Record<string, Table>
}

/** What was not measured */
const MISSING = '-'
const PARTS = ['median', 'lowest', 'highest', 'range'] as const

export class Texts {
  readonly #records: Records
  readonly #definitions: Definitions
  readonly #used = new Set<string>()

  constructor (records: Records, definitions: Definitions) {
    this.#records = records
    this.#definitions = definitions
  }

  /** An address is record/row/muxer/figure, and may end with which part of the figure it is */
  figure (address: string): string {
    const [recordName, row, muxer, name, part = 'median', ...rest] = address.split('/')

    if (name === undefined || rest.length > 0) {
      throw new Error(`${address} is not record/row/muxer/figure, or that and one of ${PARTS.join(', ')}`)
    }

    const record = this.#use(recordName)
    const { show, ...figure } = this.#findFigure(record, name)
    const spread = spreadOfFigure(record, oneOf('row', row, idsOf(record, 'rowId')), oneOf('muxer', muxer, idsOf(record, 'muxer')), figure)

    if (spread === undefined) {
      throw new Error(`${name} of ${row} with ${muxer} was not measured`)
    }

    const texts = { median: show(spread.median), lowest: show(spread.min), highest: show(spread.max), range: printRange(spread, show) }

    return texts[oneOf('part', part, PARTS)]
  }

  table (name: string): string {
    const { record: usual, heading, lines, columns } = this.#definitions.tables[oneOf('table', name, Object.keys(this.#definitions.tables))]
    this.#used.add(`table ${name}`)
    const cell = ({ row, muxer = 'ours' }: Line, { figure, muxers = [muxer], record = usual }: Table['columns'][number]): string => {
      const measured = this.#use(record)
      const { show, base, metric } = this.#findFigure(measured, figure)

      // the record of another machine may be older than a row
      if (record === usual) {
        oneOf('row', row, idsOf(measured, 'rowId'))
      }

      const texts = muxers.map(muxer => muxer === base ? '1' : printCell(spreadOfFigure(measured, row, muxer, { base, metric }), show, base !== undefined))

      return texts.every(text => text === MISSING) ? MISSING : texts.join(' / ')
    }
    const cells = [[heading, ...columns.map(({ heading }) => heading)], ['---', ...columns.map(() => '---')], ...lines.map(line => [line.label, ...columns.map(column => cell(line, column))])]
    const records = new Set(columns.map(({ record = usual }) => record))

    return [...cells.map(line => `| ${line.join(' | ')} |`), '', `<sub>${[...records].map(name => printOrigin(findRecord(this.#records, name))).join('<br>')}</sub>`].join('\n')
  }

  /** Of what is drawn */
  record (name: string): BenchmarkRecord | undefined {
    return this.#records.has(name) ? this.#use(name) : undefined
  }

  /** Definitions that nothing has asked for, though there is a record for them, and such records */
  unused (): string[] {
    const { figures, tables } = this.#definitions
    const benchmarks = new Set([...this.#records.values()].map(({ benchmark }) => benchmark))
    const all = [
      ...[...this.#records.keys()].map(name => `record ${name}`),
      ...[...benchmarks].flatMap(benchmark => Object.keys(figures[benchmark] ?? {}).map(name => `figure ${name} of ${benchmark}`)),
      ...Object.entries(tables).filter(([, { record }]) => this.#records.has(record)).map(([name]) => `table ${name}`)
    ]

    return all.filter(name => !this.#used.has(name))
  }

  #use (name: string): BenchmarkRecord {
    this.#used.add(`record ${name}`)

    return findRecord(this.#records, name)
  }

  #findFigure ({ benchmark }: BenchmarkRecord, name: string): Figure {
    const known = this.#definitions.figures[benchmark] ?? {}
    this.#used.add(`figure ${name} of ${benchmark}`)

    return known[oneOf(`figure of ${benchmark}`, name, Object.keys(known))]
  }
}

function idsOf ({ samples }: BenchmarkRecord, kind: 'rowId' | 'muxer'): string[] {
  return [...new Set(samples.map(sample => sample[kind]))]
}

function spreadOfFigure ({ samples }: BenchmarkRecord, row: string, muxer: string, { metric, base }: Pick<Figure, 'metric' | 'base'>): Spread | undefined {
  const own = samplesOf(samples, row, muxer)

  return base === undefined ? spreadOf(own.map(({ metrics }) => metrics[metric])) : ratioOf(own, samplesOf(samples, row, base), metric)
}

function printRange ({ min, max }: Spread, show: Figure['show']): string {
  const [lowest, highest] = [show(min), show(max)]

  return lowest === highest ? lowest : `${lowest}–${highest}`
}

/** Of ratios, how much rounds differ is a part of what they say */
function printCell (spread: Spread | undefined, show: Figure['show'], isRatio: boolean): string {
  if (spread === undefined) {
    return MISSING
  }

  const [median, range] = [show(spread.median), printRange(spread, show)]

  return isRatio && range !== median ? `${median} (${range})` : median
}

function printOrigin ({ extent, machine: { model, cores, calibrationMs }, node, commit, isChanged, date }: BenchmarkRecord): string {
  return `${extent.replace(/^1 rounds/, '1 round')}; ${cores} cores of ${model}, which take ${Math.round(calibrationMs)} ms for a fixed loop; Node ${node}; ${commit}${isChanged ? ' with changes' : ''}, ${date}`
}
