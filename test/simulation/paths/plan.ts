// What a seed draws: a node with connections, the links under them, and programs and peers of all kinds.
import { Random } from '../../../testing/simulation/random.ts'
import type { BottleneckStep } from '../../../testing/simulation/bottleneck.ts'
import type { Buffers } from './socket.ts'

/** How long a program works in each turn of its event loop, and in which part of them */
export interface Turns {
  meanMs: number
  busyPart: number
}

/** Which pings are answered, and when */
export type Answering =
  { kind: 'all' } |
  { kind: 'none' } |
  /** So many are dropped, as go-yamux does when it is busy */
  { kind: 'some', droppedPart: number } |
  { kind: 'few', perSecond: number } |
  /** Now and then one is late, and those behind it with it */
  { kind: 'late', part: number, minMs: number, maxMs: number } |
  /** Together, every so many milliseconds */
  { kind: 'clumps', everyMs: number }

export type Work =
  { kind: 'bulk' } |
  { kind: 'bursts', byteLength: number, everyMs: number } |
  /** The peer asks for so many answers at once, and for another when one has arrived */
  { kind: 'requests', atOnce: number, answerBytes: number }

export interface LinkPlan {
  steps: BottleneckStep[]
  /** From the peers to this node; the same if it is left out */
  backSteps?: BottleneckStep[]
  jitterMs: number
}

export interface ConnectionPlan {
  /** Of `links` */
  link: number
  buffers: Buffers
  peerTurns: Turns
  answering: Answering
  work: Work
  startMs: number
  /** The peer sends too */
  isTwoWay: boolean
  /** What it sends; the same if it is left out */
  peersWork?: Work
  /** Behind the link, there and back alike */
  furtherMs?: number
  /** The peer holds nothing back, as other muxers do */
  isPeerUnbounded?: boolean
}

export interface Plan {
  seed: number
  durationMs: number
  /** What comes sooner is not measured: the first round trips, and turns of programs */
  settledMs: number
  turns: Turns
  links: LinkPlan[]
  connections: ConnectionPlan[]
  urgentEveryMs: number
  /** Sealing or opening a megabyte takes so long */
  msPerMegabyte: number
}

const KIBIBYTE = 1024
const MBIT_BYTES_PER_MS = 125
/** 0.25 Mbit/s to 10 Gbit/s */
const RATES_BYTES_PER_MS = [0.25 * MBIT_BYTES_PER_MS, 10_000 * MBIT_BYTES_PER_MS] as const
const ROUND_TRIPS_MS = [0.1, 600] as const
const LARGEST_CHANGE = 100
const ANSWER_BYTES = [KIBIBYTE, 1024 * KIBIBYTE] as const
/** Noise takes so long */
const MS_PER_MEGABYTE = 2.5
const LONGEST_MS = 30_000
const SHORTEST_MS = 5000
/** No shorter than so many of the longest, and turns of programs; the first part of them is not measured */
const ROUND_TRIPS = 60
const TURNS = 40
const SETTLING_PART = 1 / 5
const LATEST_START_MS = 2000
/** Of a link; a mobile one has hundreds */
const DESCRIBED_STEPS = 5
/** As much as a run may carry, so that fast links do not take minutes */
const MOST_BYTES = 400_000_000

/** As many small figures as large ones */
export function between (random: Random, min: number, max: number): number {
  return Math.exp(Math.log(min) + random.next() * (Math.log(max) - Math.log(min)))
}

function within ([min, max]: readonly [number, number], value: number): number {
  return Math.min(max, Math.max(min, value))
}

function drawTurns (random: Random): Turns {
  return {
    meanMs: random.weighted([[6, 0], [1, between(random, 1, 20)], [1, between(random, 20, 100)], [1, between(random, 100, 500)]]),
    busyPart: random.weighted([[2, 1], [1, 0.2]])
  }
}

/** One of `links`, which together are not faster than programs */
function drawLink (random: Random, durationMs: number, links: number): LinkPlan {
  const rates = [RATES_BYTES_PER_MS[0], RATES_BYTES_PER_MS[1] / links ** 2] as const
  const rateBytesPerMs = between(random, ...rates)
  const roundTripMs = between(random, ...ROUND_TRIPS_MS)
  const first = { atMs: 0, rateBytesPerMs, delayMs: roundTripMs / 2 }
  const change = (): number => between(random, 1 / LARGEST_CHANGE, LARGEST_CHANGE)
  const atMs = durationMs * (0.2 + 0.4 * random.next())
  const changed = random.weighted<Partial<BottleneckStep> | undefined>([
    [4, undefined],
    [1, { rateBytesPerMs: within(rates, rateBytesPerMs * change()) }],
    [1, { delayMs: within(ROUND_TRIPS_MS, roundTripMs * change()) / 2 }]
  ])

  return {
    steps: changed === undefined ? [first] : [first, { ...first, ...changed, atMs }],
    jitterMs: random.weighted([[3, 0], [1, random.next() * roundTripMs / 4], [1, random.next() * 20]])
  }
}

function drawAnswering (random: Random): Answering {
  return random.weighted<Answering>([
    [6, { kind: 'all' }],
    [1, { kind: 'none' }],
    [1, { kind: 'some', droppedPart: 0.1 + 0.85 * random.next() }],
    [1, { kind: 'few', perSecond: between(random, 1, 20) }],
    [1, { kind: 'late', part: 0.05 * random.next(), minMs: 100, maxMs: 300 }],
    [1, { kind: 'clumps', everyMs: between(random, 10, 300) }]
  ])
}

function drawConnection (random: Random, link: number): ConnectionPlan {
  return {
    link,
    buffers: { sendBytes: between(random, 64 * KIBIBYTE, 16_384 * KIBIBYTE), receiveBytes: between(random, 64 * KIBIBYTE, 6144 * KIBIBYTE) },
    peerTurns: drawTurns(random),
    answering: drawAnswering(random),
    work: random.weighted<Work>([[3, { kind: 'bulk' }], [1, { kind: 'bursts', byteLength: between(random, 16 * KIBIBYTE, 4096 * KIBIBYTE), everyMs: between(random, 50, 2000) }]]),
    startMs: random.weighted([[2, 100], [1, random.next() * 2000]]),
    isTwoWay: random.chance(0.15)
  }
}

export function drawPlan (seed: number): Plan {
  const random = new Random(seed)
  const count = random.weighted([[3, 1], [1, random.integer(2, 4)], [1, random.integer(5, 20)]])
  const isShared = random.chance(0.5)
  const linkCount = isShared ? 1 : count
  const links = Array.from({ length: linkCount }, () => drawLink(random, LONGEST_MS, linkCount))
  const connections = Array.from({ length: count }, (_, index) => drawConnection(random, isShared ? 0 : index))
  const fastest = Math.min(1e6 / MS_PER_MEGABYTE, Math.max(...links.flatMap(({ steps }) => steps.map(({ rateBytesPerMs }) => rateBytesPerMs))))
  const longest = 2 * Math.max(...links.flatMap(({ steps }) => steps.map(({ delayMs }) => delayMs)))
  const turns = drawTurns(random)
  const longestTurn = Math.max(turns.meanMs, ...connections.map(({ peerTurns, answering }) => Math.max(peerTurns.meanMs, answering.kind === 'few' ? 1000 / answering.perSecond : 0)))
  const measuredMs = Math.max(ROUND_TRIPS * longest, TURNS * longestTurn)
  const durationMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, LATEST_START_MS + measuredMs, MOST_BYTES / fastest))
  const settledMs = LATEST_START_MS + Math.min(SETTLING_PART * measuredMs, LONGEST_MS / 4)

  for (const { steps } of links) {
    steps.forEach(step => { step.atMs *= durationMs / LONGEST_MS })
  }

  return { seed, durationMs, settledMs, turns, links, connections, urgentEveryMs: between(random, 20, 100), msPerMegabyte: MS_PER_MEGABYTE }
}

/** The same, but for what its connections do */
export function drawRequests (seed: number): Plan {
  const plan = drawPlan(seed)
  const random = new Random(seed)
  const drawWork = (): Work => ({ kind: 'requests', atOnce: random.integer(1, 20), answerBytes: Math.round(between(random, ...ANSWER_BYTES)) })

  return { ...plan, connections: plan.connections.map(connection => ({ ...connection, work: drawWork(), isTwoWay: false })) }
}

export function describePlan ({ links, connections, turns, durationMs }: Plan): string {
  const link = ({ steps, jitterMs }: LinkPlan): string => `${steps.slice(0, DESCRIBED_STEPS).map(({ atMs, rateBytesPerMs, delayMs }) => `${atMs > 0 ? `from ${Math.round(atMs)} ms ` : ''}${(rateBytesPerMs / MBIT_BYTES_PER_MS).toPrecision(3)} Mbit/s ${(2 * delayMs).toPrecision(3)} ms`).join(', ')}${steps.length > DESCRIBED_STEPS ? ` and ${steps.length - DESCRIBED_STEPS} more` : ''} jitter ${jitterMs.toFixed(1)}`
  const connection = ({ buffers, peerTurns, answering, work, isTwoWay, startMs }: ConnectionPlan): string => `from ${Math.round(startMs)} ms ${JSON.stringify(work)}${isTwoWay ? ' both ways' : ''}, kernels ${Math.round(buffers.sendBytes / KIBIBYTE)} and ${Math.round(buffers.receiveBytes / KIBIBYTE)} KiB, peer's turns ${peerTurns.meanMs.toFixed(0)} ms in ${peerTurns.busyPart}, answers ${JSON.stringify(answering)}`

  return [`${Math.round(durationMs)} ms, own turns ${turns.meanMs.toFixed(0)} ms in ${turns.busyPart}`, ...links.map(plan => `  link ${link(plan)}`), ...connections.slice(0, 5).map(plan => `  connection ${plan.link}: ${connection(plan)}`)].join('\n')
}
