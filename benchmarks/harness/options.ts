// The options that benchmarks share, and what they accept.
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { muxerNames } from '../contestants.ts'
import { benchmarks, start } from '../list.ts'
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

/** One that tells runs of a benchmark apart: if it is not as usual, it is in the name of the record */
interface OwnOption extends OptionInit {
  isVariant?: true
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

const folder = fileURLToPath(new URL('..', import.meta.url))

/** The benchmark that runs, as the list has it */
export function thisBenchmark (): Program & { name: string } {
  const { name, about } = [...benchmarks, start].find(({ module }) => process.argv[1] === folder + module) ?? { name: '<name>', about: '' }

  return { name, command: name === start.name ? 'npm start --' : `npm run bench ${name} --`, about }
}

export const recordOptions = {
  json: { takes: 'path', about: 'records all that was measured there' },
  record: { about: 'records it in benchmarks/record, in a file of the benchmark\'s name, unless --json says where' }
} as const

/** Of a benchmark with some options that are not as usual */
export function recordPathOf ({ json, record }: Values<typeof recordOptions>, variants: string[] = []): string | undefined {
  return json ?? (record ? join(folder, 'record', `${[thisBenchmark().name, ...variants].join('-')}.json`) : undefined)
}

/** For a benchmark that has no other options */
export function parseRecordPath (): string | undefined {
  return recordPathOf(readOptions(thisBenchmark(), recordOptions))
}

/** What tells a run apart in its record's name. An option without a default says nothing without its own name, and a flag has nothing else. */
function variantsOf (own: Record<string, OwnOption>, values: Record<string, unknown>): string[] {
  return Object.entries(own).flatMap(([name, { isVariant = false, takes, default: usual }]) => {
    const value = values[name] ?? false

    if (!isVariant || value === false || String(value) === usual) {
      return []
    }

    const words = takes === undefined ? [] : String(value).match(/\w+/g) ?? []

    return usual === undefined ? [name, ...words] : words
  })
}

/** --muxers, --json, --record, those that take a number, the benchmark's own, and names */
export function parseOptions <Contestant extends { id: string }, Count extends keyof typeof counts = never, const Own extends Record<string, OwnOption> = Record<never, never>> (
  { contestants, usual = contestants.map(({ id }) => id).join(), counts: byDefault, own, names }: Taken<Contestant, Count, Own>
): { muxers: Contestant[], json?: string, counts: Record<Count, number>, own: Values<Own>, names: string[] } {
  const countNames = Object.keys(byDefault) as Count[]
  const countOptions = Object.fromEntries(countNames.map(name => [name, { takes: 'number', about: counts[name], default: String(byDefault[name]) }]))
  const shared = {
    muxers: { takes: 'names', isList: true, about: `who is compared, of ${contestants.map(({ id }) => id).join(', ')}`, default: usual },
    ...recordOptions
  } as const
  const values = readOptions({ ...thisBenchmark(), names }, { ...shared, ...countOptions, ...own })
  const { muxers, ...paths } = values as unknown as Values<typeof shared>
  const numbers = values as unknown as Record<Count, string>

  return {
    muxers: muxers.map(id => byId('muxer', id, contestants)),
    json: recordPathOf(paths, variantsOf(own ?? {}, values)),
    counts: Object.fromEntries(countNames.map(name => [name, parseCount(name, numbers[name])])) as Record<Count, number>,
    own: values as unknown as Values<Own>,
    names: values.names
  }
}
