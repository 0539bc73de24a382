// What a busy process is sent, what it answers, and how long it works in each turn of its event loop.
import type { Labelled } from '../harness/table.ts'

/** What is longer goes in messages of this size, as fast as back-pressure lets it */
export const SENT_MESSAGE_BYTES = 65_536
const REQUEST_BYTES = 100

const KIB = 1024
const MIB = 1024 * KIB

export interface BusyRow extends Labelled {
  /** Of the busy process, in each turn */
  workMs: number
  /** All are open before it begins to work */
  streams: number
  /** To the busy process, on each stream */
  sentBytes: number
  /** Its answer to that, in one message. 0 is none. */
  answerBytes: number
}

export interface BusyMetrics {
  /** Of the busy process, until everything has arrived */
  turns: number
  /** The same for a server that gets all requests once more */
  laterTurns?: number
}

function reader (workMs: number, mebibytes: number): BusyRow {
  return { id: `reader-${workMs}`, label: `reader, ${workMs} ms a turn:\n${mebibytes} MiB`, workMs, streams: 1, sentBytes: mebibytes * MIB, answerBytes: 0 }
}

function server (answers: number, answerBytes: number): BusyRow {
  const [id, size] = answerBytes < MIB ? [`${answerBytes / KIB}k`, `${answerBytes / KIB} KiB`] : [`${answerBytes / MIB}m`, `${answerBytes / MIB} MiB`]

  return { id: `server-${answers}x${id}`, label: `server, 50 ms a turn:\n${answers} answers of ${size}`, workMs: 50, streams: answers, sentBytes: REQUEST_BYTES, answerBytes }
}

export const busyRows: BusyRow[] = [
  reader(100, 24),
  reader(200, 8),
  reader(500, 8),
  server(20, 256 * KIB),
  server(4, MIB),
  server(10, 16 * KIB)
]
