// What an application is to this benchmark: some processes that are connected, and work that is the same for every muxer.
import type { ContestantMuxer, TransportName } from '../contestants.ts'

export interface EndInit {
  muxer: ContestantMuxer
  transport: TransportName
  /** Less of everything, to see that it runs */
  isShort: boolean
}

/** What runs in one of the processes; ends that have nothing to do in a step leave it out */
export interface End {
  addresses: string[]
  /** `addresses` has those of each end */
  connect? (addresses: string[][]): Promise<void>
  /** Before the clock starts; returns what other ends have to know */
  prepare? (round: number): Promise<unknown>
  /** What is measured; `told` has what each end has returned */
  work? (told: unknown[]): Promise<Worked>
}

export interface Worked {
  /** Of each request, if it consists of any */
  latenciesMs?: number[]
  /** Whether what came is right, behind the clock; throws if not */
  check? (): void
}

export type StartEnd = (init: EndInit) => Promise<End>

/** So many at a time; returns how long each took */
export async function timeEach <Item> (items: Iterable<Item>, atOnce: number, task: (item: Item) => Promise<void>): Promise<number[]> {
  const latenciesMs: number[] = []
  // one iterator for all, so each takes the next when it is done
  const iterator = Iterator.from(items)

  async function keepGoing (): Promise<void> {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      const startMs = performance.now()
      await task(next.value)
      latenciesMs.push(performance.now() - startMs)
    }
  }

  await Promise.all(Array.from({ length: atOnce }, keepGoing))

  return latenciesMs
}
