// What a node's peers ask, and how often.
import type { Labelled } from '../harness/table.ts'

export const PEERS = 50
export const STREAMS_PER_PEER = 4
export const MESSAGE_BYTES = 300
/** From one question on a stream to the next */
export const PERIOD_MS = 20

export interface ManyPeersRow extends Labelled {
  /** Of a peer's streams; else each has its own time */
  asksTogether: boolean
  /** On each stream, in messages of their own */
  questions: number
}

export const manyPeersRows: ManyPeersRow[] = [
  { id: 'apart', label: 'one question at a time', asksTogether: false, questions: 1 },
  { id: 'together', label: 'four streams at once,\ntwo questions each', asksTogether: true, questions: 2 }
]
