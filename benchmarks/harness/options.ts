// The options that all benchmarks share, and what they accept.
import { findMuxer } from '../muxers.ts'
import type { MuxerName } from '../muxers.ts'

export function parseMuxers (names: string): MuxerName[] {
  return names.split(',').map(name => findMuxer(name))
}

/** Of those that a benchmark compares, by their ids */
export function parseContestants <Contestant extends { id: string }> (ids: string, contestants: Contestant[]): Contestant[] {
  return ids.split(',').map(id => {
    const found = contestants.find(contestant => contestant.id === id)

    if (found == null) {
      throw new Error(`There is no muxer "${id}", only ${contestants.map(({ id }) => id).join(', ')}`)
    }

    return found
  })
}

export function parseCount (option: string, value: string): number {
  const count = Number(value)

  if (!Number.isInteger(count) || count < 1) {
    throw new Error(`--${option} takes a number from 1 on, not "${value}"`)
  }

  return count
}
