// What is published, by whom and when: the settings of the profile of gossipsub in go-libp2p.
import { Random } from '../../testing/simulation/random.ts'
import type { Labelled } from '../harness/table.ts'

export const HOSTS = 100
/** Connections of a host */
export const DEGREE = 10

interface Topic {
  name: string
  /** Of a host to subscribe */
  chance: number
}

export const topics: Topic[] = [
  { name: 'foo', chance: 0.7 },
  { name: 'bar', chance: 0.4 },
  { name: 'quix', chance: 0.8 }
]

/** Between two publications of a host, on a topic drawn each time */
const SHORTEST_PAUSE_MS = 100
const LONGEST_PAUSE_MS = 300

interface Sizes {
  minBytes: number
  maxBytes: number
}

export interface Row extends Labelled {
  isSigned: boolean
  sizes: Sizes
  /** How many times as long as the original's the pauses are: two cores do not bear all of it in each row */
  stretch: number
  /** How long messages are published; they are delivered until well after it */
  durationMs: number
}

const small: Sizes = { minBytes: 10, maxBytes: 10 }
const large: Sizes = { minBytes: 8 << 10, maxBytes: 16 << 10 }

export const rows: Row[] = [
  { id: 'small', label: '10 B', isSigned: false, sizes: small, stretch: 1, durationMs: 1500 },
  { id: 'small-slow', label: '10 B,\nat a tenth', isSigned: false, sizes: small, stretch: 10, durationMs: 3000 },
  { id: 'large', label: '8–16 KiB,\nat an eighth', isSigned: false, sizes: large, stretch: 8, durationMs: 2000 },
  { id: 'small-signed', label: '10 B, signed,\nat a quarter', isSigned: true, sizes: small, stretch: 4, durationMs: 1500 },
  { id: 'large-signed', label: '8–16 KiB, signed,\nat a tenth', isSigned: true, sizes: large, stretch: 10, durationMs: 2000 }
]

export interface Publication {
  host: number
  /** After the start of the run */
  atMs: number
  topic: string
  byteLength: number
}

function publicationsOf (host: number, row: Row, random: Random): Publication[] {
  const publications: Publication[] = []
  const pauseMs = (): number => row.stretch * (SHORTEST_PAUSE_MS + random.next() * (LONGEST_PAUSE_MS - SHORTEST_PAUSE_MS))
  const { minBytes, maxBytes } = row.sizes

  // hosts are somewhere in their first pause when the run starts
  for (let atMs = random.next() * pauseMs(); atMs < row.durationMs; atMs += pauseMs()) {
    publications.push({
      host,
      atMs,
      topic: random.pick(topics).name,
      byteLength: random.integer(minBytes, maxBytes)
    })
  }

  return publications
}

/** The same for each muxer and another for each round */
export function planRound (row: Row, round: number): Publication[] {
  const random = new Random(round)

  return Array.from({ length: HOSTS }, (_, host) => publicationsOf(host, row, random)).flat()
}
