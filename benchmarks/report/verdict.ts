// What a run of `npm start` comes to, in words: how this muxer does against others, and how far to trust it.
import { max } from 'simple-statistics'
import { fullNameOf } from '../contestants.ts'
import { ratioOf, samplesOf } from '../harness/samples.ts'
import { format } from '../harness/table.ts'
import type { Spread } from '../harness/samples.ts'
import type { Row } from '../rows.ts'
import type { CellSample } from './metrics.ts'
import type { TableRow } from './table.ts'

/** Some row of the table: one that is measured by its messages a second says of what kind they are */
type MeasuredRow = TableRow & Partial<Pick<Row, 'scenario' | 'messageBytes'>>

interface Theme {
  name: string
  /** Of which there are some times as many, or which is some times as fast */
  measure: 'many' | 'fast'
  has(row: MeasuredRow): boolean
}

/** From here on bytes cost more than messages do */
const LARGE_BYTES = 65_536

const isOfRequests = ({ scenario }: MeasuredRow): boolean => scenario === 'requests' || scenario === 'requests-on-one-stream'
const isOfMessages = ({ scenario, messageBytes = 0 }: MeasuredRow, areLarge: boolean): boolean =>
  (scenario === 'messages' || scenario === 'file') && (messageBytes >= LARGE_BYTES) === areLarge

export const isOfSmallMessages = (row: MeasuredRow): boolean => isOfMessages(row, false)

/** A sentence each: what the muxer is made for, and all else */
const sentences: Theme[][] = [
  [
    { name: 'small messages a second', measure: 'many', has: isOfSmallMessages },
    { name: 'urgent messages beside bulk', measure: 'fast', has: row => row.comparedBy != null }
  ],
  [
    { name: 'large messages a second', measure: 'many', has: row => isOfMessages(row, true) },
    { name: 'requests a second', measure: 'many', has: isOfRequests }
  ]
]

const others = ['stock', 'mplex'] as const

/** The chance that muxers which are alike end on the same side in every round halves with each: with 5 it is 1 in 16 */
const ENOUGH_ROUNDS = 5
/** Between the lowest and the highest ratio: the median of a few could as well be any of them */
const WIDE_FACTOR = 2

interface Standing {
  label: string
  other: typeof others[number]
  /** More is better */
  ratio: Spread
}

function standingsOf (samples: CellSample[], rows: MeasuredRow[]): Standing[] {
  return rows.flatMap(({ id, label, comparedBy }) => others.flatMap(other => {
    const ratio = ratioOf(samplesOf(samples, id, 'ours'), samplesOf(samples, id, other), comparedBy?.metric ?? 'messagesPerS')
    const name = label.replace('\n', ' ')

    // what rows are compared by instead is a time, and less of it is better
    return ratio == null
      ? []
      : [{ label: name, other, ratio: comparedBy == null ? ratio : { median: 1 / ratio.median, min: 1 / ratio.max, max: 1 / ratio.min } }]
  }))
}

/** Undecided are those whose rounds lie on both sides */
function outcomeOf ({ min, max }: Spread): 'ahead' | 'undecided' | 'behind' {
  return min > 1 ? 'ahead' : max < 1 ? 'behind' : 'undecided'
}

export const formatTimes = (ratio: number): string => ratio < 10 ? format(ratio) : Math.round(ratio).toLocaleString('en')

function rangeOf (standings: Standing[]): string {
  const medians = standings.map(({ ratio }) => ratio.median)

  return [...new Set([Math.min(...medians), Math.max(...medians)].map(formatTimes))].join(' to ')
}

const list = (items: string[]): string => new Intl.ListFormat('en').format(items)
const quote = (label: string): string => `"${label}"`

function describeTheme ({ name, measure }: Theme, standings: Standing[]): string {
  const { ahead = [], undecided = [], behind = [] } = Object.groupBy(standings, ({ ratio }) => outcomeOf(ratio))
  const byOther = [...Map.groupBy(standings, ({ other }) => other)]

  if (ahead.length === standings.length) {
    return `${name}: ${byOther.map(([other, beside]) => `${rangeOf(beside)} times as ${measure} as ${fullNameOf(other)}`).join(', ')}`
  }

  const apart = (word: string, standings: Standing[], describe: (ratio: Spread) => string): string => [...Map.groupBy(standings, ({ other }) => other)]
    .map(([other, beside]) => `${word} ${fullNameOf(other)} in ${list(beside.map(({ label, ratio }) => `${quote(label)} (${describe(ratio)})`))}`)
    .join(', ')
  const describeMedian = ({ median }: Spread): string => formatTimes(median)
  const parts = [
    { standings: undecided, text: apart('undecided against', undecided, ({ median, min, max }) => `${formatTimes(median)}, rounds from ${formatTimes(min)} to ${formatTimes(max)}`) },
    { standings: behind, text: apart('behind', behind, describeMedian) },
    { standings: ahead, text: apart('ahead of', ahead, describeMedian) }
  ]

  return `${name}: ${parts
    .filter(({ standings }) => standings.length > 0)
    .sort((a, b) => b.standings.length - a.standings.length)
    .map(({ text }) => text)
    .join(', ')}`
}

/** Two sentences, or one where there are only rows for one */
export function describeOutcome (samples: CellSample[], rows: MeasuredRow[]): string[] {
  const told = sentences.map(themes => themes
    .map(theme => ({ theme, standings: standingsOf(samples, rows.filter(row => theme.has(row))) }))
    .filter(({ standings }) => standings.length > 0)
    .map(({ theme, standings }) => describeTheme(theme, standings))
    .join('; '))
    .filter(sentence => sentence !== '')

  return told.length === 0
    ? ['Who is faster this run cannot say: it takes ours and one of stock and mplex in --muxers.']
    : told.map(sentence => `${sentence[0].toUpperCase()}${sentence.slice(1)}.`)
}

/** Reasons to trust it less, with what to do about them */
export function describeDoubts (samples: CellSample[], rows: MeasuredRow[]): string[] {
  const rounds = max(samples.map(({ round }) => round))
  const wide = standingsOf(samples, rows).filter(({ ratio }) => ratio.max > WIDE_FACTOR * ratio.min)

  return [...describeFew(rounds), ...describeWide(wide)]
}

function describeFew (rounds: number): string[] {
  if (rounds >= ENOUGH_ROUNDS) {
    return []
  }

  const chance = rounds === 1
    ? 'One round says nothing of how much rounds differ'
    : `${rounds} rounds say little: muxers that are alike would end on the same side in all of them one time in ${2 ** (rounds - 1)}`

  return [`${chance}. Add --rounds 9.`]
}

function describeWide (wide: Standing[]): string[] {
  if (wide.length === 0) {
    return []
  }

  const labels = [...new Set(wide.map(({ label }) => label))]

  return [`Rounds differ by more than twice in ${list(labels.map(quote))}: go by the brackets there, not by the medians. A quiet machine and more rounds narrow them.`]
}
