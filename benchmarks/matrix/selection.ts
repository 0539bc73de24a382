// Which cells are measured: rows x muxers x transports, less what cannot be or says nothing.
import { parseArgs } from 'node:util'
import { findContestantMuxer, findTransport, isCarriedBy, isMuxer, isNative, nativeNames, transportNames } from '../contestants.ts'
import { parseCount } from '../../testing/programs/names.ts'
import { findRow, matrixRows } from '../rows.ts'
import { idleConnections } from './idle-connections.ts'
import { SHORT } from './short.ts'
import type { ContestantMuxer, TransportName } from '../contestants.ts'
import type { Row } from '../rows.ts'

/** The pairs of a transport live at the same time and take turns */
export interface Group {
  transport: TransportName
  rows: Row[]
  muxers: ContestantMuxer[]
  /** Measured beside the rows, in processes of their own */
  hasIdleConnections: boolean
}

export interface Options {
  groups: Group[]
  rounds: number
  isShort: boolean
  jsonPath?: string
  htmlPath?: string
  comparePath?: string
}

const MUXERS = ['ours', 'stock', 'mplex', 'none', 'quic', 'http2', ...nativeNames].join()
const ROUNDS = '3'

/** A unit of this is a gigabyte */
const LONGEST = '1000x1m'
const sizes = matrixRows.filter(({ id, isBothWays, scenario }) => scenario === 'messages' && isBothWays !== true && id !== LONGEST).map(({ id }) => id)
const few = ['1x100', '1000x100', '1x4k', '1x64k', '10x1m']

const defaultRows: Record<TransportName, string[]> = {
  'tcp-noise': [...matrixRows.map(({ id }) => id).filter(id => id !== LONGEST), idleConnections.id],
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
  const rows = rowIds.filter(id => id !== idleConnections.id).map(id => findRow(id, matrixRows))

  return {
    transport,
    rows,
    muxers: muxers.filter(muxer => isCarriedBy(muxer, transport) && (isMuxer(muxer) || rows.some(row => canRun(muxer, row)))),
    hasIdleConnections: transport === 'tcp-noise' && rowIds.includes(idleConnections.id)
  }
}

const split = (values: string[]): string[] => values.flatMap(value => value.split(','))

export function parseOptions (): Options {
  const { values } = parseArgs({
    options: {
      muxers: { type: 'string' },
      transports: { type: 'string' },
      only: { type: 'string', multiple: true },
      rounds: { type: 'string' },
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      html: { type: 'string' },
      compare: { type: 'string' }
    }
  })

  if (values.short && (values.only ?? values.muxers ?? values.transports) != null) {
    throw new Error('--short chooses the cells itself')
  }

  const muxers = split([values.muxers ?? (values.short ? SHORT.muxers : MUXERS)]).map(findContestantMuxer)
  const transports = split([values.transports ?? (values.short ? SHORT.transports : transportNames.join())]).map(findTransport)
  const rowIds = values.only != null ? split(values.only) : values.short ? Object.keys(SHORT.lowestRatios) : undefined

  const groups = transports.map(transport => selectGroup(transport, muxers, rowIds ?? defaultRows[transport]))

  return {
    groups: groups.filter(({ muxers }) => muxers.length > 0),
    rounds: parseCount('rounds', values.rounds ?? (values.short ? SHORT.rounds : ROUNDS)),
    isShort: values.short,
    jsonPath: values.json,
    htmlPath: values.html,
    comparePath: values.compare
  }
}
