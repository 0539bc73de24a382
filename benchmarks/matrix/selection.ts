// Which cells are measured: rows x muxers x transports, less what cannot be or says nothing.
import { findContestantMuxer, findTransport, isCarriedBy, isNative, nativeNames, transportNames } from '../contestants.ts'
import { recordOptions, recordPathOf, thisBenchmark } from '../harness/options.ts'
import { parseCount } from '../../testing/programs/names.ts'
import { readOptions } from '../../testing/programs/options.ts'
import { findRow, matrixRows } from '../rows.ts'
import { SHORT } from './short.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { Row } from '../rows.ts'

/** The pairs of a transport live at the same time and take turns */
export interface Group {
  transport: TransportName
  rows: Row[]
  muxers: ContestantMuxer[]
}

export interface Options {
  groups: Group[]
  rounds: number
  isShort: boolean
  json?: string
}

const MUXERS = ['ours', 'stock', 'mplex', 'none', 'quic', 'http2', ...nativeNames]
const ROUNDS = '3'

/** A unit of this is a gigabyte */
const LONGEST = '1000x1m'
const sizes = matrixRows.filter(({ id, isBothWays, scenario }) => scenario === 'messages' && isBothWays !== true && id !== LONGEST).map(({ id }) => id)
const few = ['1x100', '1000x100', '1x4k', '1x64k', '10x1m']

const defaultRows: Record<TransportName, string[]> = {
  'tcp-noise': matrixRows.map(({ id }) => id).filter(id => id !== LONGEST),
  tcp: [...sizes, 'requests-1', 'requests'],
  'ws-noise': few,
  memory: few
}

export function canRun (muxer: ContestantMuxer, { scenario, isBothWays = false, pauseMs }: Row): boolean {
  if (muxer === 'none') {
    return (scenario === 'messages' && !isBothWays) || scenario === 'requests-on-one-stream'
  }

  if (isNative(muxer)) {
    return ['messages', 'requests', 'requests-on-one-stream'].includes(scenario) && !isBothWays && pauseMs == null
  }

  // a server of HTTP/2 opens no streams
  return muxer !== 'http2' || !isBothWays
}

function selectGroup (transport: TransportName, muxers: ContestantMuxer[], rowIds: string[]): Group {
  const rows = rowIds.map(id => findRow(id, matrixRows))

  return {
    transport,
    rows,
    muxers: muxers.filter(muxer => isCarriedBy(muxer, transport) && rows.some(row => canRun(muxer, row)))
  }
}

export function parseOptions (): Options {
  const values = readOptions(thisBenchmark(), {
    muxers: { takes: 'names', isList: true, about: `who is compared, of ${MUXERS.join(', ')} and variants of ours; all of these if it is left out` },
    transports: { takes: 'names', isList: true, about: `of ${transportNames.join(', ')}; all if it is left out` },
    only: { takes: 'rows', isList: true, about: `of ${matrixRows.map(({ id }) => id).join(', ')}; some for each transport if it is left out` },
    rounds: { takes: 'number', about: `how often each is measured; ${ROUNDS} if it is left out` },
    short: { about: 'what CI runs: a few cells, which fail on gross loss' },
    ...recordOptions
  })

  if (values.short && values.only.length + values.muxers.length + values.transports.length > 0) {
    throw new Error('--short chooses the cells itself')
  }

  const chosen = (given: string[], short: string[], all: string[]): string[] => given.length > 0 ? given : values.short ? short : all
  const muxers = chosen(values.muxers, SHORT.muxers, MUXERS).map(findContestantMuxer)
  const transports = chosen(values.transports, SHORT.transports, transportNames).map(findTransport)
  const rowIds = chosen(values.only, Object.keys(SHORT.lowestRatios), [])

  const groups = transports.map(transport => selectGroup(transport, muxers, rowIds.length > 0 ? rowIds : defaultRows[transport]))

  return {
    groups: groups.filter(({ muxers }) => muxers.length > 0),
    rounds: parseCount('rounds', values.rounds ?? (values.short ? SHORT.rounds : ROUNDS)),
    isShort: values.short,
    json: recordPathOf(values, values.short ? ['short'] : values.transports)
  }
}
