// What is sent over the link, for how long, and by whom.
import { PEERS } from '../../peers/list.ts'
import { parseCount } from '../../testing/programs/names.ts'
import type { PeerKind } from '../../peers/list.ts'
import type { ContestantMuxer } from '../contestants.ts'
import type { Labelled } from '../harness/table.ts'
import type { Metrics } from '../report/metrics.ts'

export const BULK_MESSAGE_BYTES = 65_536
/** Opened ahead of the others */
export const URGENT_INDEX = 0
export const URGENT_MESSAGE_BYTES = 100
export const URGENT_INTERVAL_MS = 20

/** For queues to fill, of kernels and of the link, and for code to be compiled */
export const WARM_UP_MS = 4000
/** Beyond the last urgent message, for its echo. Who has none by then counts as that late. */
export const LATEST_ECHO_MS = 10_000

/** Of the reader that pauses: how often, and for how long */
export const PAUSE_EVERY_MS = 3000
export const PAUSE_MS = 1000

/** Of the busy sender: how long each turn of its event loop is */
export const BUSY_TURN_MS = 100

/** Of the link */
export interface Rate extends Labelled {
  /** Infinity is loopback, where there is no link */
  mbit: number
  /** Of the way back */
  backMbit: number
}

export const mbits = [2, 10, 50, 200]

export function rateOf (mbit: number, backMbit = mbit): Rate {
  return backMbit === mbit
    ? { id: String(mbit), label: mbit === Infinity ? 'loopback' : `${mbit} Mbit/s`, mbit, backMbit }
    : { id: `${mbit}-${backMbit}`, label: `${mbit} Mbit/s,\n${backMbit} back`, mbit, backMbit }
}

/** As the option names it: 10, 10/1 if the way back is slower, or loopback */
export function parseRate (text: string): Rate {
  const [mbit, ...back] = text.split('/')

  return text === 'loopback' ? rateOf(Infinity) : rateOf(parseCount('only', mbit), ...back.map(value => parseCount('only', value)))
}

export interface UplinkMetrics extends Pick<Metrics, 'p50Ms' | 'p99Ms' | 'inFlightMegabytes' | 'lateP99Ms' | 'besideMegabytesPerS' | 'senderCpuSPerGigabyte' | 'receiverCpuSPerGigabyte'> {
  /** Bulk of each way, and the lower of both */
  thereMegabytesPerS: number
  backMegabytesPerS: number
  lowerMegabytesPerS: number
}

export const MBIT_BYTES_PER_MS = 125
/** What TCP puts into a packet of 1500 bytes */
export const SEGMENT_BYTES = 1460

/** How TCP decides what it sends: what most kernels come with */
export const CONGESTION = 'cubic'

export interface Contestant extends Labelled {
  muxer: ContestantMuxer
  /** Of the end that sends bulk, if that has another: a muxer, or a program of `peers` */
  sender?: ContestantMuxer | PeerKind
  /** The urgent stream is marked as such, and so is its echo */
  isMarked: boolean
}

export const contestants: Contestant[] = [
  { id: 'ours-lanes', label: 'ours, marked urgent', muxer: 'ours', isMarked: true },
  { id: 'ours', label: 'ours', muxer: 'ours', isMarked: false },
  { id: 'ours-unbounded', label: 'ours, marked, no bound', muxer: 'ours-unbounded', isMarked: true },
  { id: 'stock', label: '@libp2p/yamux', muxer: 'stock', isMarked: false },
  { id: 'mplex', label: '@libp2p/mplex', muxer: 'mplex', isMarked: false },
  { id: 'quic', label: 'QUIC', muxer: 'quic', isMarked: false }
]

export const downlinkContestants: Contestant[] = [
  { id: 'withheld', label: 'ours, withholds', muxer: 'ours-withholding', isMarked: false },
  { id: 'ours', label: 'ours', muxer: 'ours', isMarked: false },
  { id: 'stock', label: '@libp2p/yamux', muxer: 'stock', isMarked: false }
]

/** Who sends, whatever the receiver has */
export const downlinkSenders: Array<Labelled & Required<Pick<Contestant, 'sender'>>> = [
  { id: 'stock', label: '@libp2p/yamux', sender: 'stock' },
  ...PEERS.filter(({ name }) => name === 'go-libp2p' || name === 'rust-libp2p').map(peer => ({ id: peer.toolchain, label: peer.name, sender: peer }))
]

export const scenarios = {
  plain: 'one connection, bulk goes one way',
  shared: 'two connections share the link; bulk is of both together, latencies are of either',
  both: 'bulk goes both ways, and is of both together',
  halved: 'the rate is halved, and only what comes after it counts',
  busy: `the program of the sender works ${BUSY_TURN_MS} ms in each turn of the event loop`,
  pause: `the reader of bulk pauses ${PAUSE_MS / 1000} s in every ${PAUSE_EVERY_MS / 1000} s`
}

export type Scenario = keyof typeof scenarios

/** Whose sender has to be JavaScript: programs of `peers` have no event loop to keep busy */
export const javaScriptScenarios: Scenario[] = ['busy']

/** Of a link that a process imitates, if there is one: it has one connection and one rate */
export function parseDelay (value: string | undefined, scenario: Scenario): number | undefined {
  if (value != null && (scenario === 'shared' || scenario === 'halved')) {
    throw new Error(`--delay has no scenario "${scenario}"`)
  }

  return value == null ? undefined : parseCount('delay', value)
}

export interface Work {
  scenario: Scenario
  /** That always have more to send */
  streams: number
  urgentIntervalMs: number
  warmUpMs: number
  measuredMs: number
}

/** By the monotonic clock that all processes share */
export interface Window {
  fromMs: number
  toMs: number
}
