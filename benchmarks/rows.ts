// The rows of the table: which scenario, and how much of it makes one unit of work.
import { statSync } from 'node:fs'
import { byId } from '../testing/programs/names.ts'

export type ScenarioName = 'file' | 'messages' | 'requests' | 'requests-on-one-stream'

export interface Row {
  id: string
  label: string
  scenario: ScenarioName
  streams: number
  messageBytes: number
  /** What one stream sends in one unit of work */
  unitBytesPerStream: number
  /** Before each request, so that it finds the connection idle */
  pauseMs?: number
  /** Each side opens streams and sends on them at the same time */
  isBothWays?: boolean
  /** How long the receiver works, without a break, for each 4 MB that arrive */
  receiverWorksMs?: number
}

/** A real file of about 100 MB that every machine which runs this has */
export const filePath = process.execPath

const KIB = 1024
const MIB = 1024 * KIB
const REQUEST_BYTES = 100

function messages (id: string, label: string, streams: number, messageBytes: number, perStream: number): Row {
  return { id, label, scenario: 'messages', streams, messageBytes, unitBytesPerStream: messageBytes * perStream }
}

function requests (id: string, label: string, scenario: ScenarioName, perUnit: number, messageBytes = REQUEST_BYTES): Row {
  return { id, label, scenario, streams: 1, messageBytes, unitBytesPerStream: perUnit * messageBytes }
}

/** The rows of the benchmark of bulk in new processes, by units of 48 MiB */
export const bulkRows: Row[] = [
  messages('10x1m', '10 × 1 MiB', 10, MIB, 5),
  messages('1x1m', '1 × 1 MiB', 1, MIB, 48),
  messages('1x64k', '1 × 64 KiB', 1, 64 * KIB, 768),
  { ...messages('10x1m-works', '10 × 1 MiB, the\nreceiver works', 10, MIB, 5), receiverWorksMs: 60 },
  { ...messages('1x64k-works', '1 × 64 KiB, the\nreceiver works', 1, 64 * KIB, 768), receiverWorksMs: 60 }
]

/** Requests that have the connection to themselves: for their latency both processes stay awake */
export function isOfLoneRequests ({ scenario }: Row): boolean {
  return scenario === 'requests' || scenario === 'requests-on-one-stream'
}

/** Longer than any muxer here holds output back for others to join */
const IDLE_PAUSE_MS = 5

/** The rows of the benchmark of lone requests on an idle connection */
export const idleRows: Row[] = [
  { ...requests('idle-1', 'one stream', 'requests-on-one-stream', 20), pauseMs: IDLE_PAUSE_MS },
  { ...requests('idle-new', 'a new stream each', 'requests', 20), pauseMs: IDLE_PAUSE_MS }
]

export const FIRST_REQUESTS_PER_UNIT = 250

/** The rows of the benchmark of the first requests of new processes */
export const firstRequestsRows: Row[] = [
  requests('first-1', 'one stream', 'requests-on-one-stream', FIRST_REQUESTS_PER_UNIT),
  requests('first-new', 'a new stream each', 'requests', FIRST_REQUESTS_PER_UNIT),
  requests('first-200k', 'a new stream each, 200 kB', 'requests', FIRST_REQUESTS_PER_UNIT, 200_000)
]

/** The grid of the matrix: units of 1.5 MB of small messages and 20 to 40 MB of others, but where one message on each stream is more */
const sizes: Array<[id: string, label: string, bytes: number, unitMessages: number]> = [
  ['100', '100 B', 100, 15_000],
  ['4k', '4 KiB', 4 * KIB, 5000],
  ['64k', '64 KiB', 64 * KIB, 640],
  ['1m', '1 MiB', MIB, 40]
]

const grid = [1, 10, 1000].flatMap(streams => sizes.map(([id, label, bytes, unitMessages]) =>
  messages(`${streams}x${id}`, `${streams.toLocaleString('en')} × ${label}`, streams, bytes, Math.ceil(unitMessages / streams))))

export const matrixRows: Row[] = [
  ...grid,
  { ...messages('both-ways', '10 × 4 KiB, both ways', 10, 4 * KIB, 250), isBothWays: true },
  requests('requests-1', 'requests, 1 stream', 'requests-on-one-stream', 300),
  requests('requests', 'requests, new streams', 'requests', 50),
  requests('requests-60k', 'requests of 60 KB, 1 stream', 'requests-on-one-stream', 100, 60_000),
  ...idleRows.map(row => ({ ...row, label: `requests 5 ms apart, ${row.label}` }))
]

/** The rows of `npm start`: some of the matrix, and a file */
export const rows: Row[] = [
  {
    id: 'file',
    label: 'file, 64 KiB',
    scenario: 'file',
    streams: 1,
    messageBytes: 64 * KIB,
    unitBytesPerStream: statSync(filePath).size
  },
  ...['1x100', '1000x100', '1x4k', '1000x4k', '1x64k', '10x1m', 'requests-1', 'requests'].map(id => findRow(id, matrixRows))
]

/** The payload of a whole Noise record */
const RECORD_BYTES = 65_519

/** The same bytes, to the next whole record, for who has one stream and nothing to gain from small messages */
export function asOneStream (row: Row): Row {
  if (row.scenario !== 'messages') {
    return row
  }

  const records = Math.ceil(row.streams * row.unitBytesPerStream / RECORD_BYTES)

  return { ...row, streams: 1, messageBytes: RECORD_BYTES, unitBytesPerStream: records * RECORD_BYTES }
}

/** Tables have no room for "streams" */
export function inWords (label: string): string {
  return label.replace(/^([\d,]+) × /, (_, count: string) => `${count} ${count === '1' ? 'stream' : 'streams'} × `)
}

export function findRow <Known extends { id: string }> (id: string, known: Known[]): Known {
  return byId('row', id, known)
}
