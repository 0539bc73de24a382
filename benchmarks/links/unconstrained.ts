// A link of any speed, in CPU time: what updates cost where nothing but the muxers is slow.
import { median } from 'simple-statistics'
import { collectGarbage } from '../../test/fixtures/garbage.ts'
import { format, renderGroups } from '../report/table.ts'
import { simulateTransfers } from './simulated.ts'
import { findVariant } from './variants.ts'
import { payloadBytes, plainWorks } from './works.ts'
import type { Link } from './links.ts'
import type { Variant } from './variants.ts'
import type { Work } from './works.ts'

const COMPARED = ['ours', 'half', 'zero', 'stock', 'mplex'].map(findVariant)
const ROUNDS = 12
const WARM_UP_ROUNDS = 2
/** Of one measurement; shorter works are repeated */
const AT_LEAST_BYTES = 40_000_000
/** Any number of bytes in no time, and the round trip of a loopback interface */
const UNCONSTRAINED: Link = { id: 'unconstrained', label: 'unconstrained', bytesPerMs: Infinity, roundTripMs: 0.1 }

export interface Unconstrained {
  work: Work
  variant: Variant
  /** One for each round */
  megabytesPerS: number[]
}

async function measure (work: Work, variant: Variant): Promise<number> {
  const repetitions = Math.max(1, Math.round(AT_LEAST_BYTES / payloadBytes(work)))
  // virtual time stands still meanwhile; nothing but this process's work is counted, whatever else the machine does
  await collectGarbage()
  const before = process.cpuUsage()
  await simulateTransfers(UNCONSTRAINED, work, variant, repetitions)
  const { user, system } = process.cpuUsage(before)

  return repetitions * payloadBytes(work) / (user + system)
}

/** Variants in turn, each first as often as the others; the first rounds warm up */
export async function measureUnconstrained (): Promise<Unconstrained[]> {
  const results = plainWorks.flatMap(work => COMPARED.map((variant): Unconstrained => ({ work, variant, megabytesPerS: [] })))

  for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
    for (let i = 0; i < results.length; i++) {
      const { work, variant, megabytesPerS } = results[(i + results.length + round) % results.length]
      const measured = await measure(work, variant)

      if (round >= 0) {
        megabytesPerS.push(measured)
      }
    }
  }

  return results
}

export function renderUnconstrained (results: Unconstrained[]): string {
  const groups = plainWorks.map(work => {
    const ofWork = results.filter(result => result.work === work)
    const zero = ofWork.find(({ variant }) => variant.id === 'zero') as Unconstrained

    return {
      label: `unconstrained\n${work.label}`,
      lines: ofWork.map(({ variant, megabytesPerS }) => [
        variant.label,
        format(median(megabytesPerS)),
        format(median(megabytesPerS.map((measured, round) => measured / zero.megabytesPerS[round])))
      ])
    }
  })

  return `${renderGroups(['muxer', 'MB per\nCPU s', '× at zero'], groups)}\n\nMedians of ${ROUNDS} interleaved rounds, both muxers in one process, the simulation itself included.`
}
