// Rounds in which everyone who is compared takes a turn, so that a slow moment of the machine meets all of them. Another begins each round: who
// comes first finds another machine than who comes last.
import { named } from '../../testing/programs/run.ts'
import type { Sample } from './samples.ts'
import type { Labelled } from './table.ts'

interface Rounds<Contestant, Metrics> {
  row: Labelled
  contestants: Contestant[]
  rounds: number
  /** One more round comes first, which does not count */
  hasWarmUp?: boolean
  measure(contestant: Contestant, round: number): Promise<Metrics>
  /** The figure to show meanwhile */
  describe(metrics: Metrics): string
}

interface Measured<Metrics> extends Omit<Sample, 'metrics'> {
  metrics: Metrics
}

/** Errors say in whose turn they came */
export async function runRounds <Contestant extends Labelled, Metrics> ({ row, contestants, rounds, hasWarmUp = false, measure, describe }: Rounds<Contestant, Metrics>): Promise<Array<Measured<Metrics>>> {
  const samples: Array<Measured<Metrics>> = []

  for (let round = hasWarmUp ? 0 : 1; round <= rounds; round++) {
    for (const contestant of rotated(contestants, round)) {
      const title = `${row.label}, ${contestant.label}`.replaceAll('\n', ' ')
      const metrics = await named(title, async () => measure(contestant, round))

      if (round > 0) {
        samples.push({ rowId: row.id, muxer: contestant.id, round, metrics })
      }

      console.info(`${round === 0 ? 'Warm up' : `Round ${round} of ${rounds}`}, ${title}: ${describe(metrics)}`)
    }
  }

  return samples
}

/** Whose turn it is first changes with each round */
export function rotated<Item> (items: Item[], by: number): Item[] {
  const first = by % items.length

  return [...items.slice(first), ...items.slice(0, first)]
}
