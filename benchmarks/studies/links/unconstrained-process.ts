// A child process of the unconstrained link: what one variant carries per second of its CPU time.
import { collectGarbage } from '../../../test/fixtures/garbage.ts'
import { answer } from '../../harness/child.ts'
import { simulateTransfers } from './simulated.ts'
import { findVariant } from './variants.ts'
import { findWork, payloadBytes } from './works.ts'
import type { Link } from './links.ts'

/** Of one measurement; shorter works are repeated */
const AT_LEAST_BYTES = 40_000_000
/** Any number of bytes in no time, and the round trip of a loopback interface */
const UNCONSTRAINED: Link = { id: 'unconstrained', label: 'unconstrained', bytesPerMs: Infinity, roundTripMs: 0.1 }

const commands = {
  /** In MB per second of CPU time, the threads of the garbage collector included */
  async measure (variantId: string, workId: string): Promise<number> {
    const work = findWork(UNCONSTRAINED, workId)
    const repetitions = Math.max(1, Math.round(AT_LEAST_BYTES / payloadBytes(work)))
    // virtual time stands still meanwhile; nothing but this process's work is counted, whatever else the machine does
    await collectGarbage()
    const before = process.cpuUsage()
    await simulateTransfers(UNCONSTRAINED, work, findVariant(variantId), repetitions)
    const { user, system } = process.cpuUsage(before)

    return repetitions * payloadBytes(work) / (user + system)
  }
}

export type UnconstrainedCommands = typeof commands

answer(commands)
