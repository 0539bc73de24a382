// All groups of cases, as the specification has them.
import { framing } from './1-framing.ts'
import { streams } from './2-streams.ts'
import { flowControl } from './3-flow-control.ts'
import { pings } from './4-ping.ts'
import { goAways } from './5-go-away.ts'
import { limits } from './6-limits.ts'
import { robustness } from './7-robustness.ts'
import type { Case, Group } from '../case.ts'

export const GROUPS: Group[] = [framing, streams, flowControl, pings, goAways, limits, robustness]
export const CASES: Case[] = GROUPS.flatMap(({ cases }) => cases)

/** A case by its number, or all of a group */
export function select (number: string): Case[] {
  return CASES.filter(one => one.number === number || one.number.startsWith(`${number}.`))
}
