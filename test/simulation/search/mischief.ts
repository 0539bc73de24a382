// What few runs have beside the usual: all that applications, transports and metrics may do, and hardly ever do.
import type { ActionName, Plan } from './plan.ts'
import type { Random } from '../../../testing/simulation/random.ts'

export const MISCHIEFS = ['changedBytes', 'foreignViews', 'pausingListeners', 'busyMetrics', 'refusedWrite', 'oddFaults', 'floods', 'companions'] as const

export type Mischief = typeof MISCHIEFS[number]

/** Often together. Companions are drawn last and by themselves, so that seeds without them stay what they were. */
const PICKED = MISCHIEFS.filter(kind => kind !== 'companions')
const COMPANIONS_CHANCE = 0.1

/** Which write of a side its transport throws at */
export interface Refusal {
  isDialler: boolean
  /** The first, the second ... */
  write: number
  /** Only writes with a FIN count */
  ofFins: boolean
}

export interface MischiefPlan {
  kinds: Mischief[]
  refusal?: Refusal
  /** A second connection of the process, which nothing is wrong with */
  neighbour: 'turn' | 'off' | undefined
}

/** The laws are about usual runs first: most have nothing of this */
const CHANCE = 0.35
const CHANCE_OF_ANOTHER = 0.3
const NEIGHBOUR_CHANCE = 0.1
const MAX_REFUSED_WRITE = 40
const MAX_REFUSED_FIN = 4
const LEAST_FAULT_CHANCE = 0.05
/** What is sent and not merged has to fit, to be worth the law that it stays whole */
const WHOLE_MESSAGES_CHANCE = 0.4
const FRAME_BYTES = 16_384

const WEIGHTS: Partial<Record<Mischief, Partial<Record<ActionName, number>>>> = {
  changedBytes: { sendChanging: 8 },
  floods: { flood: 6 }
}

export function planMischief (random: Random, hasStock: boolean): MischiefPlan {
  const kinds = new Set<Mischief>()

  if (random.chance(CHANCE)) {
    do {
      kinds.add(random.pick(PICKED))
    } while (random.chance(CHANCE_OF_ANOTHER))
  }

  if (hasStock) {
    // what a stock muxer makes of it is its own affair
    kinds.delete('refusedWrite')
    kinds.delete('floods')
  }

  const ofFins = random.chance(0.5)
  const drawn = {
    refusal: kinds.has('refusedWrite')
      ? { isDialler: random.chance(0.5), write: random.integer(1, ofFins ? MAX_REFUSED_FIN : MAX_REFUSED_WRITE), ofFins }
      : undefined,
    neighbour: random.chance(kinds.has('changedBytes') || kinds.has('busyMetrics') ? 0.5 : NEIGHBOUR_CHANCE) ? random.pick(['turn', 'off'] as const) : undefined
  }

  return { ...drawn, kinds: random.chance(COMPANIONS_CHANCE) ? [...kinds, 'companions'] : [...kinds] }
}

/** Makes the rest of a plan such that its mischief comes to something */
export function applyMischief (plan: Plan, random: Random): void {
  const { sides, weights, mischief: { kinds } } = plan
  const allOptions = Object.values(sides).map(({ options }) => options)

  for (const kind of kinds) {
    Object.assign(weights, WEIGHTS[kind])
  }

  if (kinds.includes('oddFaults')) {
    plan.faultChance = Math.max(plan.faultChance, LEAST_FAULT_CHANCE)
  }

  if (kinds.includes('floods')) {
    // no peer of ours comes near a limit, however small, with what is late
    const unknownStreamFrames = { burst: random.pick([10, 100]), perSecond: 10 }

    for (const options of allOptions) {
      options.coalesce = { ...options.coalesce, mergeMessages: false }
      options.limits = { ...options.limits, unknownStreamFrames }
    }
  }

  if (allOptions.every(({ coalesce }) => coalesce?.mergeMessages === false) && random.chance(WHOLE_MESSAGES_CHANCE)) {
    plan.messageBytes = { min: 1, max: Math.min(...allOptions.map(({ maxMessageSize = FRAME_BYTES }) => maxMessageSize)) }
  }
}
