/**
 * The option `priority`: the lane of a protocol's streams.
 */
import { LANES, NORMAL } from '../core/scheduler/lane.ts'
import { checkObject, choice } from './rules.ts'
import type { Lane } from '../core/scheduler/lane.ts'

/**
 * An object that maps protocol patterns to lanes, or a function. In a pattern `*` stands for any characters, and the first pattern that
 * matches counts. All other protocols are 'normal'.
 */
export type Priority = Record<string, Lane> | ((protocol: string) => Lane | undefined)

const isLane = choice(...LANES)

/** Returns the index of a protocol's lane in LANES */
export type LaneOf = (protocol: string) => number

/** Throws InvalidParametersError for an unknown lane: at once if it is in a table, or when the function returns it */
export function createLaneOf (priority: Priority = {}): LaneOf {
  if (typeof priority === 'function') {
    return protocol => toLaneIndex(priority(protocol) ?? 'normal', `priority(${JSON.stringify(protocol)})`)
  }

  checkObject(priority, 'priority', 'an object that maps protocol patterns to lanes, or a function')
  const patterns = Object.entries(priority).map(([pattern, lane]) => ({
    matcher: toMatcher(pattern),
    lane: toLaneIndex(lane, `priority[${JSON.stringify(pattern)}]`)
  }))

  return protocol => patterns.find(({ matcher }) => matcher.test(protocol))?.lane ?? NORMAL
}

/** Throws InvalidParametersError for an unknown lane; `name` is the option's name in the message */
export function toLaneIndex (lane: Lane, name: string): number {
  return LANES.indexOf(isLane(lane, name))
}

function toMatcher (pattern: string): RegExp {
  const literals = pattern.split('*').map(literal => literal.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))

  return new RegExp(`^${literals.join('.*')}$`, 's')
}
