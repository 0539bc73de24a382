// A link of any speed, in CPU time: where nothing but the muxers is slow.
import { median } from 'simple-statistics'
import { startChild } from '../../harness/child.ts'
import { format, renderGroups } from '../../harness/table.ts'
import { findVariant } from './variants.ts'
import { plainWorks } from './works.ts'
import type { Child } from '../../harness/child.ts'
import type { Stoppable } from '../../harness/run.ts'
import type { UnconstrainedCommands } from './unconstrained-process.ts'
import type { Variant } from './variants.ts'
import type { Work } from './works.ts'

const COMPARED = ['ours', 'stock', 'mplex'].map(findVariant)
/** Which of two equal processes is the faster one is decided for its whole life: what was compiled when, how its heap has grown */
const GENERATIONS = 5
/** Of each generation */
const ROUNDS = 4
const WARM_UP_ROUNDS = 2

export interface Unconstrained {
  work: Work
  variant: Variant
  /** One for each round */
  megabytesPerS: number[]
}

/** A process for each variant: what others leave in a shared one, in its heap and its call sites, made up to a third of a cell */
function startGeneration (): Array<Child<UnconstrainedCommands>> {
  const module = new URL('unconstrained-process.ts', import.meta.url)

  return COMPARED.map(({ label }) => startChild<UnconstrainedCommands>(module, label, { execArgv: ['--expose-gc'] }))
}

/** Variants in turn, each first as often as the others; the first rounds of each generation warm up */
export async function measureUnconstrained (stopAtEnd: (started: Stoppable[]) => void): Promise<Unconstrained[]> {
  const results = plainWorks.flatMap(work => COMPARED.map((variant): Unconstrained => ({ work, variant, megabytesPerS: [] })))

  for (let generation = 0; generation < GENERATIONS; generation++) {
    const children = startGeneration()
    stopAtEnd(children)

    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (let i = 0; i < results.length; i++) {
        const { work, variant, megabytesPerS } = results[(i + results.length + round) % results.length]
        const measured = await children[COMPARED.indexOf(variant)].commands.measure(variant.id, work.id)

        if (round >= 0) {
          megabytesPerS.push(measured)
        }
      }
    }

    await Promise.all(children.map(async child => child.stop()))
  }

  return results
}

export function renderUnconstrained (results: Unconstrained[]): string {
  const groups = plainWorks.map(work => {
    const ofWork = results.filter(result => result.work === work)
    const stock = ofWork.find(({ variant }) => variant.id === 'stock') as Unconstrained

    return {
      label: `unconstrained\n${work.label}`,
      lines: ofWork.map(({ variant, megabytesPerS }) => [
        variant.label,
        format(median(megabytesPerS)),
        format(median(megabytesPerS.map((measured, round) => measured / stock.megabytesPerS[round])))
      ])
    }
  })

  return `${renderGroups(['muxer', 'MB per\nCPU s', '× stock'], groups)}\n\nMedians of ${ROUNDS} interleaved rounds in each of ${GENERATIONS} processes, which have both muxers; the simulation itself included.`
}
