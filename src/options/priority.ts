/**
 * The option `priority`: which lane a protocol's streams go out in.
 */
import { LANES, NORMAL } from '../core/scheduler/lane.ts'
import { check, choice } from './rules.ts'
import type { Lane } from '../core/scheduler/lane.ts'

/**
 * A table from protocol pattern to lane, in which `*` stands for any characters and the first
 * pattern that fits counts, or a function. What neither knows is 'normal'.
 */
export type Priority = Record<string, Lane> | ((protocol: string) => Lane | undefined)

const isLane = choice(...LANES)

/** The place of a protocol's lane among the LANES */
export type LaneOf = (protocol: string) => number

/** Throws InvalidParametersError for an unknown lane: of a table at once, of a function when it answers */
export function createLaneOf (priority: Priority = {}): LaneOf {
  if (typeof priority === 'function') {
    return protocol => toLaneIndex(priority(protocol) ?? 'normal', `priority(${JSON.stringify(protocol)})`)
  }

  check(typeof priority === 'object', 'priority', priority, 'a table from protocol pattern to lane, or a function')
  const patterns = Object.entries(priority).map(([pattern, lane]) => ({
    matcher: toMatcher(pattern),
    lane: toLaneIndex(lane, `priority[${JSON.stringify(pattern)}]`)
  }))

  return protocol => patterns.find(({ matcher }) => matcher.test(protocol))?.lane ?? NORMAL
}

/** Throws InvalidParametersError; `name` is what the user calls it */
export function toLaneIndex (lane: Lane, name: string): number {
  return LANES.indexOf(isLane(lane, name))
}

function toMatcher (pattern: string): RegExp {
  const literals = pattern.split('*').map(literal => literal.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))

  return new RegExp(`^${literals.join('.*')}$`, 's')
}
