// The rows of the table: which scenario, and how much of it makes one unit of work.
import { statSync } from 'node:fs'

export interface Row {
  id: string
  label: string
  scenario: 'file' | 'messages' | 'requests' | 'requests-on-one-stream'
  streams: number
  messageBytes: number
  /** What one stream sends in one unit of work */
  unitBytesPerStream: number
  /** Before each request, so that it finds the connection idle */
  pauseMs?: number
}

/** A real file of about 100 MB that every machine which runs this has */
export const filePath = process.execPath

const KIB = 1024
const MIB = 1024 * KIB
const REQUEST_BYTES = 100

function messages (id: string, label: string, streams: number, messageBytes: number, perStream: number): Row {
  return { id, label, scenario: 'messages', streams, messageBytes, unitBytesPerStream: messageBytes * perStream }
}

function requests (id: string, label: string, scenario: Row['scenario'], perUnit: number): Row {
  return { id, label, scenario, streams: 1, messageBytes: REQUEST_BYTES, unitBytesPerStream: perUnit * REQUEST_BYTES }
}

export const rows: Row[] = [
  {
    id: 'file',
    label: 'file, 64 KiB',
    scenario: 'file',
    streams: 1,
    messageBytes: 64 * KIB,
    unitBytesPerStream: statSync(filePath).size
  },
  messages('1x100', '1 × 100 B', 1, 100, 15_000),
  messages('1000x100', '1,000 × 100 B', 1000, 100, 25),
  messages('1x4k', '1 × 4 KiB', 1, 4 * KIB, 2500),
  messages('1000x4k', '1,000 × 4 KiB', 1000, 4 * KIB, 5),
  messages('1x64k', '1 × 64 KiB', 1, 64 * KIB, 1200),
  messages('10x1m', '10 × 1 MiB', 10, MIB, 5),
  requests('requests-1', 'requests, 1 stream', 'requests-on-one-stream', 300),
  requests('requests', 'requests, a new one', 'requests', 50)
]

/** Longer than any muxer here holds output back for others to join */
const IDLE_PAUSE_MS = 5

/** The rows of the benchmark of lone requests on an idle connection */
export const idleRows: Row[] = [
  { ...requests('idle-1', 'one stream', 'requests-on-one-stream', 20), pauseMs: IDLE_PAUSE_MS },
  { ...requests('idle-new', 'a new stream each', 'requests', 20), pauseMs: IDLE_PAUSE_MS }
]

export function findRow (id: string): Row {
  const row = [...rows, ...idleRows].find(row => row.id === id)

  if (row == null) {
    throw new Error(`There is no row "${id}", only ${rows.map(row => row.id).join(', ')}`)
  }

  return row
}
