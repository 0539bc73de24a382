// Runs the cells: one transport after the other, on each of them rounds in which the muxers take turns at every row.
import { rotated } from '../harness/rounds.ts'
import { startPair } from '../pair/pair.ts'
import { toMetrics } from '../report/metrics.ts'
import { canRun } from './selection.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { Pair } from '../pair/pair.ts'
import type { Watched } from '../processors.ts'
import type { CellSample, Metrics } from '../report/metrics.ts'
import type { Row } from '../rows.ts'
import type { Group } from './selection.ts'

const AT_LEAST_MS = 300

/** Who fails is not measured any further on that transport */
interface Failure {
  transport: TransportName
  muxer: ContestantMuxer
  message: string
}

export function describeFailures (failures: Failure[]): string {
  return failures.map(({ transport, muxer, message }) => `${muxer} on ${transport}: ${message}`).join('\n')
}

export interface Measuring {
  samples: CellSample[]
  failures: Failure[]
  /** While each sample was measured */
  processors: Watched[]
  report(line: string): void
}

export interface GroupInit {
  group: Group
  measuring: Measuring
  /** Those in other languages that this machine has */
  programs?: PeerKind[]
  /** For all Node processes that are measured */
  nodeOptions?: string[]
  /** How long each row is measured */
  atLeastMs?: number
}

/** All pairs of a transport, from their start to their end */
export class GroupRun {
  readonly #group: Group
  readonly #measuring: Measuring
  readonly #pairs: Pair[]
  readonly #atLeastMs: number
  #rounds = 0
  #isStopped = false

  constructor ({ group, measuring, programs = [], nodeOptions, atLeastMs = AT_LEAST_MS }: GroupInit) {
    const { transport, muxers } = group
    this.#group = group
    this.#measuring = measuring
    this.#atLeastMs = atLeastMs
    this.#pairs = muxers.map(muxer => startPair({ muxer, transport, nodeOptions, program: programs.find(({ name }) => name === muxer) }))
  }

  /** All of them at once, as any may fail first */
  async connect (): Promise<void> {
    await Promise.all(this.#pairs.map(async pair => this.#attempt(pair, async () => pair.ready)))
  }

  async warmUp (): Promise<void> {
    await this.#eachCell('warm up', async (pair, row) => pair.warmUp(row))
  }

  async measureRound (): Promise<void> {
    const round = ++this.#rounds

    await this.#eachCell(`round ${round}`, async (pair, row) => {
      const measured = await pair.measure(row, this.#atLeastMs)

      this.#add(pair, row.id, toMetrics(row, measured))
      this.#measuring.processors.push(measured.processors)
    })
  }

  #add ({ muxer, transport }: Pair, rowId: string, metrics: Metrics): void {
    this.#measuring.samples.push({ rowId, muxer, transport, round: this.#rounds, metrics })
  }

  async stop (): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#pairs.splice(0).map(async pair => pair.stop()))
  }

  async #eachCell (what: string, run: (pair: Pair, row: Row) => Promise<void>): Promise<void> {
    for (const row of this.#group.rows) {
      for (const pair of rotated(this.#pairs.filter(({ muxer }) => canRun(muxer, row)), this.#rounds)) {
        this.#measuring.report(`${what}: ${row.label}, ${pair.muxer}`)
        await this.#attempt(pair, async () => run(pair, row))
      }
    }
  }

  /** Others go on without who fails: what state it is in nobody knows */
  async #attempt (pair: Pair, run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (err) {
      if (this.#isStopped) {
        throw err
      }

      const { transport, muxer } = pair
      this.#measuring.failures.push({ transport, muxer, message: err instanceof Error ? err.message : String(err) })
      this.#pairs.splice(this.#pairs.indexOf(pair), 1)
      await pair.stop()
    }
  }
}
