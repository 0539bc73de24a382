/**
 * Both contestants, each in a worker, and what they have reported.
 */
import { Statistics } from './statistics.ts'
import type { ToContestant } from '../contestant/worker.ts'
import type { FromContestant, Report } from '../report.ts'
import type { ContestantName, LinkSetup, Setup } from '../setup.ts'

interface Contestant {
  worker: Worker
  statistics: Statistics
  report?: Report
  /** By the clock of the page */
  reportedAtMs: number
}

const names: ContestantName[] = ['ours', 'stock']

export class Contest {
  readonly #contestants: Record<ContestantName, Contestant>

  constructor (setup: Setup, onFailure: (name: ContestantName, failure: string) => void) {
    const start = (name: ContestantName): Contestant => {
      const worker = new Worker(new URL('../contestant/worker.ts', import.meta.url), { type: 'module', name })
      const contestant: Contestant = { worker, statistics: new Statistics(), reportedAtMs: 0 }
      worker.onmessage = ({ data }: MessageEvent<FromContestant>) => {
        if ('failure' in data) {
          onFailure(name, data.failure)
          return
        }

        contestant.report = data.report
        contestant.reportedAtMs = performance.now()
        contestant.statistics.add(data.report)
      }
      worker.onerror = ({ message }) => { onFailure(name, message) }
      worker.postMessage({ start: name, setup } satisfies ToContestant)

      return contestant
    }

    this.#contestants = { ours: start('ours'), stock: start('stock') }
  }

  of (name: ContestantName): Readonly<Contestant> {
    return this.#contestants[name]
  }

  changeLink (link: LinkSetup): void {
    this.#tell({ link })
  }

  setPaused (isPaused: boolean): void {
    this.#tell({ isPaused })

    for (const name of names) {
      // what comes after a pause has nothing to do with what was before it
      this.#contestants[name].statistics = new Statistics()
    }
  }

  end (): void {
    names.forEach(name => { this.#contestants[name].worker.terminate() })
  }

  #tell (message: ToContestant): void {
    names.forEach(name => { this.#contestants[name].worker.postMessage(message) })
  }
}
