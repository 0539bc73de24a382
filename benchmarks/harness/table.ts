// Tables in the terminal: a group of lines for each row, in it a line for each muxer, and what columns say of it.
import { availableParallelism, cpus } from 'node:os'
import Table from 'cli-table3'
import { medianOf, ratioOf, samplesOf } from './samples.ts'
import type { RoundSample, Sample, Spread } from './samples.ts'

/** A row of the table, or a muxer in it */
export interface Labelled {
  id: string
  label: string
}

export interface Column<Metric extends string> {
  heading: string
  /** Of a muxer's samples of a row, beside those of others by their ids */
  text(own: Array<RoundSample<Metric>>, of: (muxer: string) => Array<RoundSample<Metric>>): string
}

/** The lines of one row of the table, which stay together */
export interface Group {
  label: string
  lines: string[][]
}

/** More digits than three are of chance, and hard to read */
const ROUNDED_FROM = 1000

export function format (value: number | undefined): string {
  if (value == null) {
    return '-'
  }

  if (value >= ROUNDED_FROM) {
    return value.toLocaleString('en', { maximumSignificantDigits: 3 })
  }

  const fractionDigits = value < 10 ? 2 : value < 100 ? 1 : 0
  return value.toLocaleString('en', { minimumFractionDigits: fractionDigits, maximumFractionDigits: fractionDigits })
}

export function formatRatio (ratio: Spread | undefined): string {
  if (ratio?.min === ratio?.max) {
    return format(ratio?.median)
  }

  return ratio == null ? '-' : `${format(ratio.median)} (${format(ratio.min)}–${format(ratio.max)})`
}

/** Median over the rounds, in another unit if it is said how many of it one is */
export function figure <Metric extends string> (heading: string, metric: Metric, factor = 1): Column<Metric> {
  return {
    heading,
    text (own) {
      const value = medianOf(own, metric)

      return format(value == null ? undefined : value * factor)
    }
  }
}

/** Within each round */
export function times <Metric extends string> (what: string, metric: Metric, base: string, label = base): Column<Metric> {
  return { heading: `${what}\n× ${label}`, text: (own, of) => formatRatio(ratioOf(own, of(base), metric)) }
}

/** Who was not measured in a row has no line there */
export function renderSamples <Metric extends string> (samples: Array<Sample<Metric>>, rows: Labelled[], muxers: Labelled[], columns: Array<Column<Metric>>): string {
  return renderGroups(['muxer', ...columns.map(({ heading }) => heading)], rows.map(({ id: rowId, label }) => ({
    label,
    lines: muxers.filter(({ id }) => samplesOf(samples, rowId, id).length > 0).map(muxer => [
      muxer.label,
      ...columns.map(({ text }) => text(samplesOf(samples, rowId, muxer.id), base => samplesOf(samples, rowId, base)))
    ])
  })))
}

export function renderGroups (headings: string[], groups: Group[]): string {
  const table = new Table({
    head: ['work', ...headings],
    colAligns: ['left', 'left', ...headings.slice(1).map(() => 'right' as const)],
    style: { head: [], border: [] }
  })

  for (const { label, lines } of groups) {
    // one cell of the table per column keeps the lines of a group together
    const cells = lines[0].map((_, column) => lines.map(line => line[column]).join('\n'))

    table.push([label, ...cells])
  }

  return table.toString()
}

export function renderMachine (): string {
  const model = cpus()[0]?.model ?? 'unknown CPU'
  return `${model}, ${availableParallelism()} cores, Node ${process.versions.node}`
}
