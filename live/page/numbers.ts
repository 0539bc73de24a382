/**
 * The table, the large figures with their bars, and the sentence that a screen reader hears.
 */
import { toBytes, toCount, toComparison, toPercent, toTime } from './text.ts'
import type { Comparison } from './text.ts'
import type { ContestantName } from '../setup.ts'
import type { Figures } from './statistics.ts'
import type { Report } from '../report.ts'

export interface Shown {
  figures: Figures
  report: Report
}

export type Both = Record<ContestantName, Shown>

interface Row {
  id: string
  label: string
  value (shown: Shown): number | undefined
  print (value: number): string
  /** In which words, where it says something that one is less than the other */
  compared?: Comparison
  /** Says nothing of a link without a limit, where the threads of the muxers are what is busy */
  isOfLimited?: true
}

const roundTrip: Comparison = { above: 'slower', below: 'faster' }
const count: Comparison = { above: 'more', below: 'fewer' }
const amount: Comparison = { above: 'more', below: 'less' }

const rows: Row[] = [
  { id: 'median', label: 'Urgent message, median round trip', value: ({ figures }) => figures.medianMs, print: toTime, compared: roundTrip, isOfLimited: true },
  { id: 'p99', label: '99 of 100 round trips take at most', value: ({ figures }) => figures.p99Ms, print: toTime, compared: roundTrip, isOfLimited: true },
  { id: 'used', label: 'Link used', value: ({ figures }) => figures.usedPart, print: toPercent, isOfLimited: true },
  { id: 'messages', label: 'Messages a second', value: ({ figures }) => figures.messagesPerS, print: toCount, compared: count },
  { id: 'carried', label: 'Carried, Mbit/s', value: ({ figures }) => figures.mbitPerS, print: toCount, compared: amount },
  { id: 'writes', label: 'Writes a second', value: ({ figures }) => figures.writesPerS, print: toCount, compared: count },
  { id: 'frames', label: 'Frames in a write', value: ({ figures }) => figures.framesPerWrite, print: toCount, compared: count },
  { id: 'in-flight', label: 'In flight, cannot be overtaken', value: ({ figures }) => figures.inFlightBytes, print: toBytes, compared: amount },
  { id: 'queued', label: 'Queued, can still be overtaken', value: ({ figures }) => figures.waitingBytes, print: toBytes },
  { id: 'all-frames', label: 'Frames since the start', value: ({ report }) => report.wire.frames, print: toCount },
  { id: 'own-frames', label: 'The same by the muxer’s metrics', value: ({ report }) => report.own?.frames, print: toCount },
  { id: 'all-bytes', label: 'Bytes since the start', value: ({ report }) => report.wire.bytes, print: toCount },
  { id: 'own-bytes', label: 'The same by the muxer’s metrics', value: ({ report }) => report.own?.bytes, print: toCount }
]

const names: ContestantName[] = ['ours', 'stock']
const NONE = '–'

export class Numbers {
  /** Of each number all the places that show it */
  readonly #places = new Map<string, HTMLElement[]>()
  readonly #verdict: HTMLElement

  constructor (body: HTMLElement, verdict: HTMLElement) {
    this.#verdict = verdict

    for (const { id, label, isOfLimited } of rows) {
      const row = body.appendChild(Object.assign(document.createElement('tr'), { className: isOfLimited === true ? 'if-limited' : '' }))
      row.appendChild(Object.assign(document.createElement('th'), { scope: 'row', textContent: label }))

      for (const column of [...names, 'comparison']) {
        row.appendChild(document.createElement('td')).dataset.shows = `${id}-${column}`
      }
    }

    for (const place of document.querySelectorAll<HTMLElement>('[data-shows]')) {
      const shown = place.dataset.shows ?? ''
      this.#places.set(shown, [...this.#places.get(shown) ?? [], place])
    }
  }

  show (both: Both): void {
    for (const { id, value, print, compared } of rows) {
      const [ours, stock] = names.map(name => value(both[name]))
      this.#write(`${id}-ours`, toText(ours, print))
      this.#write(`${id}-stock`, toText(stock, print))
      this.#write(`${id}-comparison`, compared != null && ours != null && stock != null ? toComparison(ours, stock, compared) : '')
    }

    this.#fillBars({ ours: both.ours.figures.usedPart, stock: both.stock.figures.usedPart })
  }

  /** Before there is anything to show */
  clear (): void {
    this.#places.forEach(places => { places.forEach(place => { place.textContent = NONE }) })
    this.#fillBars({})
  }

  /** Said aloud, so not more often than somebody wants to hear it */
  say ({ ours, stock }: Both): void {
    const time = ({ figures }: Shown): string => figures.medianMs == null ? `more than ${toTime(figures.latencyMs)}` : toTime(figures.medianMs)
    const isLimited = ours.figures.usedPart != null

    this.#verdict.textContent = isLimited
      ? `Median round trip of an urgent message: ${time(ours)} with coalescing-yamux, ${time(stock)} with @libp2p/yamux.`
      : `Messages a second: ${toCount(ours.figures.messagesPerS)} with coalescing-yamux, ${toCount(stock.figures.messagesPerS)} with @libp2p/yamux.`
  }

  #fillBars (usedParts: Partial<Record<ContestantName, number>>): void {
    for (const bar of document.querySelectorAll<HTMLElement>('[data-fills]')) {
      bar.style.width = `${(usedParts[bar.dataset.fills as ContestantName] ?? 0) * 100}%`
    }
  }

  #write (shown: string, text: string): void {
    this.#places.get(shown)?.forEach(place => { place.textContent = text })
  }
}

function toText (value: number | undefined, print: (value: number) => string): string {
  return value == null || !Number.isFinite(value) ? NONE : print(value)
}
