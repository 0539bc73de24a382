// The options that benchmarks share, and what they accept.
import { fileURLToPath } from 'node:url'
import { muxerNames } from '../contestants.ts'
import { benchmarks } from '../list.ts'
import { byId, oneOf, parseCount } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import type { MuxerName } from '../contestants.ts'
import type { OptionInit, Program, Values } from '../../testing/programs/options.ts'

export function parseMuxers (names: string[]): MuxerName[] {
  return names.map(name => oneOf('muxer', name, muxerNames))
}

/** For a benchmark that compares muxers as they are */
export const plainContestants = muxerNames.map(muxer => ({ id: muxer, label: muxer, muxer }))

/** What takes a number */
const counts = {
  rounds: 'how often each is measured',
  seconds: 'how long a measurement takes',
  streams: 'how many streams carry bulk'
}

interface Taken<Contestant, Count extends string, Own> {
  /** Who can be chosen with --muxers */
  contestants: Contestant[]
  /** Who is, if nobody is chosen; all if it is left out */
  usual?: string
  /** Options that take a number, with what they are if nothing is said */
  counts: Record<Count, number>
  own?: Own
  /** What it takes beside options, if it does */
  names?: string
}

/** The benchmark that runs, as the list has it */
export function thisBenchmark (): Program {
  const folder = fileURLToPath(new URL('..', import.meta.url))
  const { name, about } = benchmarks.find(({ module }) => process.argv[1] === folder + module) ?? { name: '<name>', about: '' }

  return { command: `npm run bench ${name} --`, about }
}

/** For a benchmark that has none but --help */
export function takeNoOptions (): void {
  readOptions(thisBenchmark(), {})
}

/** --muxers, --json, those that take a number, the benchmark's own, and names */
export function parseOptions <Contestant extends { id: string }, Count extends keyof typeof counts = never, const Own extends Record<string, OptionInit> = Record<never, never>> (
  { contestants, usual = contestants.map(({ id }) => id).join(), counts: byDefault, own, names }: Taken<Contestant, Count, Own>
): { muxers: Contestant[], json?: string, counts: Record<Count, number>, own: Values<Own>, names: string[] } {
  const countNames = Object.keys(byDefault) as Count[]
  const countOptions = Object.fromEntries(countNames.map(name => [name, { takes: 'number', about: counts[name], default: String(byDefault[name]) }]))
  const shared = {
    muxers: { takes: 'names', isList: true, about: `who is compared, of ${contestants.map(({ id }) => id).join(', ')}`, default: usual },
    json: { takes: 'path', about: 'writes all that was measured there' }
  } as const
  const values = readOptions({ ...thisBenchmark(), names }, { ...shared, ...countOptions, ...own })
  const { muxers, json } = values as unknown as Values<typeof shared>
  const numbers = values as unknown as Record<Count, string>

  return {
    muxers: muxers.map(id => byId('muxer', id, contestants)),
    json,
    counts: Object.fromEntries(countNames.map(name => [name, parseCount(name, numbers[name])])) as Record<Count, number>,
    own: values as unknown as Values<Own>,
    names: values.names
  }
}
