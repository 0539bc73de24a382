// The options that benchmarks share, and what they accept.
import { parseArgs } from 'node:util'
import { muxerNames } from '../contestants.ts'
import { byId, oneOf, parseCount } from '../../testing/programs/names.ts'
import type { ParseArgsOptionsConfig } from 'node:util'
import type { MuxerName } from '../contestants.ts'

export function parseMuxers (names: string): MuxerName[] {
  return names.split(',').map(name => oneOf('muxer', name, muxerNames))
}

/** For a benchmark that compares muxers as they are */
export const plainContestants = muxerNames.map(muxer => ({ id: muxer, label: muxer, muxer }))

interface Taken<Contestant, Counts, Own> {
  /** Who can be chosen with --muxers */
  contestants: Contestant[]
  /** Who is, if nobody is chosen; all if it is left out */
  usual?: string
  /** Options that take a number, with what they are if nothing is said: rounds, seconds */
  counts: Counts
  own?: Own
}

type Values<Own extends ParseArgsOptionsConfig> = ReturnType<typeof parseArgs<{ options: Own }>>['values']

/** --muxers, --json, those that take a number, and the benchmark's own */
export function parseOptions <Contestant extends { id: string }, Counts extends Record<string, number>, const Own extends ParseArgsOptionsConfig = Record<never, never>> (
  { contestants, usual = contestants.map(({ id }) => id).join(), counts, own }: Taken<Contestant, Counts, Own>
): { muxers: Contestant[], json?: string, counts: { [Name in keyof Counts]: number }, own: Values<Own> } {
  const countOptions = Object.entries(counts).map(([name, count]) => [name, { type: 'string', default: String(count) }] as const)
  const options: ParseArgsOptionsConfig = { muxers: { type: 'string', default: usual }, json: { type: 'string' }, ...Object.fromEntries(countOptions), ...own }
  const { muxers, json, ...values } = parseArgs({ options }).values as Record<string, string>
  const parsed = Object.keys(counts).map(name => [name, parseCount(name, values[name])])

  return { muxers: muxers.split(',').map(id => byId('muxer', id, contestants)), json, counts: Object.fromEntries(parsed), own: values as Values<Own> }
}
