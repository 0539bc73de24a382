/**
 * The thread of a contestant.
 */
import { Contestant } from './contestant.ts'
import { REPORT_EVERY_MS } from '../report.ts'
import type { ContestantName, LinkSetup, Setup } from '../setup.ts'
import type { FromContestant } from '../report.ts'

export type ToContestant =
  { start: ContestantName, setup: Setup } |
  { link: LinkSetup } |
  { isPaused: boolean }

let contestant: Promise<Contestant>

function tell (message: FromContestant, transfer: Transferable[] = []): void {
  postMessage(message, { transfer })
}

function onFailure (err: unknown): void {
  tell({ failure: err instanceof Error ? err.message : String(err) })
}

async function start (name: ContestantName, setup: Setup): Promise<Contestant> {
  const contestant = await Contestant.start(name, setup, onFailure)
  setInterval(report, REPORT_EVERY_MS, contestant)

  return contestant
}

function report (contestant: Contestant): void {
  const report = contestant.report()
  const { cells, lastWrites } = report
  tell({ report }, [...Object.values(cells), ...Object.values(lastWrites)].map(({ buffer }) => buffer))
}

globalThis.onmessage = ({ data }: MessageEvent<ToContestant>) => {
  if ('start' in data) {
    contestant = start(data.start, data.setup)
    contestant.catch(onFailure)
  } else {
    contestant.then(contestant => {
      'link' in data ? contestant.changeLink(data.link) : contestant.setPaused(data.isPaused)
    }, () => {})
  }
}
