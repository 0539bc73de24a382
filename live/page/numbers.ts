/**
 * The table, the two large figures and the sentence that a screen reader hears.
 */
import { toBytes, toCount, toComparison, toTime } from './text.ts'
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
  /** Whether it says something that one is less than the other */
  isCompared: boolean
}

const rows: Row[] = [
  { id: 'median', label: 'Urgent message, median of 10 s', value: ({ figures }) => figures.medianMs, print: toTime, isCompared: true },
  { id: 'p99', label: '99th percentile', value: ({ figures }) => figures.p99Ms, print: toTime, isCompared: true },
  { id: 'messages', label: 'Messages a second', value: ({ figures }) => figures.messagesPerS, print: toCount, isCompared: true },
  { id: 'carried', label: 'Carried, Mbit/s', value: ({ figures }) => figures.mbitPerS, print: toCount, isCompared: true },
  { id: 'writes', label: 'Writes a second', value: ({ figures }) => figures.writesPerS, print: toCount, isCompared: true },
  { id: 'frames', label: 'Frames in a write', value: ({ figures }) => figures.framesPerWrite, print: toCount, isCompared: true },
  { id: 'under-way', label: 'Under way, cannot be overtaken', value: ({ figures }) => figures.underWayBytes, print: toBytes, isCompared: true },
  { id: 'waiting', label: 'Waits in its stream, can be', value: ({ figures }) => figures.waitingBytes, print: toBytes, isCompared: false },
  { id: 'all-frames', label: 'Since the start: frames', value: ({ report }) => report.wire.frames, print: toCount, isCompared: false },
  { id: 'own-frames', label: 'By the muxer’s own metrics', value: ({ report }) => report.own?.frames, print: toCount, isCompared: false },
  { id: 'all-bytes', label: 'Since the start: bytes', value: ({ report }) => report.wire.bytes, print: toCount, isCompared: false },
  { id: 'own-bytes', label: 'By the muxer’s own metrics', value: ({ report }) => report.own?.bytes, print: toCount, isCompared: false }
]

const names: ContestantName[] = ['ours', 'stock']

export class Numbers {
  /** Of each number all the places that show it */
  readonly #places = new Map<string, HTMLElement[]>()
  readonly #verdict: HTMLElement

  constructor (body: HTMLElement, verdict: HTMLElement) {
    this.#verdict = verdict

    for (const { id, label } of rows) {
      const row = body.appendChild(document.createElement('tr'))
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
    for (const { id, value, print, isCompared } of rows) {
      const [ours, stock] = names.map(name => value(both[name]))
      this.#write(`${id}-ours`, toText(ours, print))
      this.#write(`${id}-stock`, toText(stock, print))
      this.#write(`${id}-comparison`, isCompared && ours != null && stock != null ? toComparison(ours, stock) : '')
    }
  }

  /** Said aloud, so not more often than somebody wants to hear it */
  say ({ ours, stock }: Both): void {
    const time = ({ figures }: Shown): string => figures.medianMs == null ? `more than ${toTime(figures.latencyMs)}` : toTime(figures.medianMs)

    this.#verdict.textContent = `Urgent message: ${time(ours)} with coalescing-yamux, ${time(stock)} with @libp2p/yamux. ` +
      `Messages a second: ${toCount(ours.figures.messagesPerS)} and ${toCount(stock.figures.messagesPerS)}.`
  }

  #write (shown: string, text: string): void {
    this.#places.get(shown)?.forEach(place => { place.textContent = text })
  }
}

function toText (value: number | undefined, print: (value: number) => string): string {
  return value == null || !Number.isFinite(value) ? '–' : print(value)
}
