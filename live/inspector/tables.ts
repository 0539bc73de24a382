/**
 * The two tables: where a connection waited, and what each row has in the window. They are also the picture's alternative for screen readers.
 */
import { toBytes, toCount, toTime } from '../page/text.ts'
import { longestWaits, nameOf, summarise, toOffset } from './summary.ts'
import { lengthUs } from './window.ts'
import type { Wait } from './summary.ts'
import type { Capture, Connection } from './timeline.ts'
import type { TimeWindow } from './window.ts'

const MOST_WAITS = 6
const MOST_ROWS = 20
const US_PER_MS = 1000
const SHORT_DECIMALS = 3
const NONE = '–'

export function showWaits (body: HTMLElement, capture: Capture, connection: Connection, onChosen: (wait: Wait) => void): void {
  // who is about to press a button keeps it
  if (body.contains(document.activeElement)) {
    return
  }

  body.replaceChildren(...longestWaits(capture, connection, MOST_WAITS).map(wait => {
    const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Show' })
    button.setAttribute('aria-label', `Show ${wait.what} of ${nameOf(wait.row)} at ${toOffset(wait.fromUs - capture.fromUs)}`)
    button.addEventListener('click', () => { onChosen(wait) })

    const name = document.createElement('span')
    name.append(nameOf(wait.row), Object.assign(document.createElement('small'), { textContent: wait.what }))

    return row([name, toOffset(wait.fromUs - capture.fromUs, SHORT_DECIMALS), toTime(lengthUs(wait) / US_PER_MS), button])
  }))
}

export function showNumbers (body: HTMLElement, note: HTMLElement, capture: Capture, connection: Connection, window: TimeWindow): void {
  const summaries = summarise(capture, connection, window)
  const left = summaries.length - MOST_ROWS
  const [from, to] = [window.fromUs, window.toUs].map(us => toOffset(us - capture.fromUs, SHORT_DECIMALS))
  note.textContent = `From ${from} to ${to}.${left > 0 ? ` ${toCount(left)} more streams have frames there.` : ''}`
  body.replaceChildren(...summaries.slice(0, MOST_ROWS).map(({ row: subject, sentFrames, sentBytes, receivedFrames, receivedBytes, updates, withoutCreditUs }) => row([
    nameOf(subject),
    toFrames(sentFrames, sentBytes),
    toFrames(receivedFrames, receivedBytes),
    toCount(updates),
    withoutCreditUs === 0 ? NONE : toTime(withoutCreditUs / US_PER_MS)
  ])))
}

function toFrames (frames: number, bytes: number): string {
  return frames === 0 ? NONE : bytes === 0 ? toCount(frames) : `${toCount(frames)}, ${toBytes(bytes)}`
}

function row ([name, ...cells]: Array<string | Node>): HTMLElement {
  const element = document.createElement('tr')
  const head = element.appendChild(document.createElement('th'))
  head.scope = 'row'
  head.append(name)
  cells.forEach(cell => { element.appendChild(document.createElement('td')).append(cell) })

  return element
}
