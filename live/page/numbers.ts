/**
 * The table, the two large figures and the sentence that a screen reader hears.
 */
import { toBytes, toCount, toRatio, toTime } from './text.ts'
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
  /** Whether it says something to divide one by the other */
  hasRatio: boolean
}

const rows: Row[] = [
  { id: 'median', label: 'Urgent message, median of 10 s', value: ({ figures }) => figures.medianMs, print: toTime, hasRatio: true },
  { id: 'p99', label: '99th percentile', value: ({ figures }) => figures.p99Ms, print: toTime, hasRatio: true },
  { id: 'messages', label: 'Messages a second', value: ({ figures }) => figures.messagesPerS, print: toCount, hasRatio: true },
  { id: 'carried', label: 'Carried, Mbit/s', value: ({ figures }) => figures.mbitPerS, print: toCount, hasRatio: true },
  { id: 'writes', label: 'Writes a second', value: ({ figures }) => figures.writesPerS, print: toCount, hasRatio: true },
  { id: 'frames', label: 'Frames in a write', value: ({ figures }) => figures.framesPerWrite, print: toCount, hasRatio: true },
  { id: 'under-way', label: 'Under way, cannot be overtaken', value: ({ figures }) => figures.underWayBytes, print: toBytes, hasRatio: true },
  { id: 'waiting', label: 'Waits in its stream, can be', value: ({ figures }) => figures.waitingBytes, print: toBytes, hasRatio: false },
  { id: 'all-frames', label: 'Frames since the start', value: ({ report }) => report.wire.frames, print: toCount, hasRatio: false },
  { id: 'own-frames', label: 'The same by the muxer’s own metrics', value: ({ report }) => report.own?.frames, print: toCount, hasRatio: false }
]

const names: ContestantName[] = ['ours', 'stock']

export class Numbers {
  readonly #cells = new Map<string, HTMLElement>()
  readonly #verdict: HTMLElement

  constructor (body: HTMLElement, latency: HTMLElement, rate: HTMLElement, verdict: HTMLElement) {
    this.#verdict = verdict

    for (const { id, label } of rows) {
      const row = body.appendChild(document.createElement('tr'))
      const head = row.appendChild(document.createElement('th'))
      head.scope = 'row'
      head.textContent = label

      for (const column of [...names, 'ratio']) {
        this.#cells.set(`${id}-${column}`, row.appendChild(document.createElement('td'))).get(`${id}-${column}`)?.setAttribute('id', `${id}-${column}`)
      }
    }

    this.#addFigure(latency, 'An urgent message takes', 'median')
    this.#addFigure(rate, 'Messages a second', 'messages')
  }

  show (both: Both): void {
    for (const { id, value, print, hasRatio } of rows) {
      const [ours, stock] = names.map(name => value(both[name]))

      names.forEach((name, i) => {
        const text = toText([ours, stock][i], print)
        this.#write(`${id}-${name}`, text)
        this.#write(`figure-${id}-${name}`, text)
      })
      this.#write(`${id}-ratio`, hasRatio && ours != null && stock != null ? toRatio(ours / stock) : '')
    }
  }

  /** Said aloud, so not more often than somebody wants to hear it */
  say ({ ours, stock }: Both): void {
    const time = ({ figures }: Shown): string => figures.medianMs == null ? `more than ${toTime(figures.latencyMs)}` : toTime(figures.medianMs)

    this.#verdict.textContent = `Urgent message: ${time(ours)} with coalescing-yamux, ${time(stock)} with @libp2p/yamux. ` +
      `Messages a second: ${toCount(ours.figures.messagesPerS)} and ${toCount(stock.figures.messagesPerS)}.`
  }

  #addFigure (list: HTMLElement, title: string, id: string): void {
    list.innerHTML = `<dt class="title">${title}</dt>`

    for (const [name, label] of [['ours', 'coalescing-yamux'], ['stock', '@libp2p/yamux']]) {
      const group = list.appendChild(document.createElement('div'))
      group.innerHTML = `<dd class="${name}"></dd><dt>${label}</dt>`
      this.#cells.set(`figure-${id}-${name}`, group.firstElementChild as HTMLElement)
    }
  }

  #write (cell: string, text: string): void {
    const element = this.#cells.get(cell)

    if (element != null && element.textContent !== text) {
      element.textContent = text
    }
  }
}

function toText (value: number | undefined, print: (value: number) => string): string {
  return value == null || !Number.isFinite(value) ? '–' : print(value)
}
