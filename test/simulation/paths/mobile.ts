// What a seed draws of mobile links: a rate that wanders, and gaps in which nothing passes, each way by itself.
import { Random } from '../../../testing/simulation/random.ts'
import { between } from './plan.ts'
import type { BottleneckStep } from '../../../testing/simulation/bottleneck.ts'
import type { Plan } from './plan.ts'

const MBIT_BYTES_PER_MS = 125
/** Of public recordings of LTE, 3G and EV-DO, over parts of 100 ms: the mean, the deviation of its logarithm, and how much of that is left a part later */
const MBITS = [0.5, 20] as const
const DEVIATIONS = [0.5, 1.6] as const
const REMEMBERED_PARTS = [0.4, 0.95] as const
/** Of their gaps of 100 ms and more: how much of the time they are, their median, and the longest of 80 s */
const GAP_PARTS = [0.005, 0.5] as const
const GAPS_MS = [120, 1000] as const
const LONGEST_GAP_MS = 6000
const GAP_DEVIATION = 0.7

export const STEP_MS = 100
const DELAY_MS = 20
/** While nothing passes */
const GAP_BYTES_PER_MS = 0.001
const DURATION_MS = 45_000
const SETTLED_MS = 5000
/** A router's, and a kernel's */
const SEND_BYTES = 1_250_000
const RECEIVE_BYTES = 3_000_000
const NO_TURNS = { meanMs: 0, busyPart: 1 }

/** Of a normal distribution */
function normal (random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random.next())) * Math.cos(2 * Math.PI * random.next())
}

/** By its mean rate */
export function drawMobileSteps (random: Random, bytesPerMs: number): BottleneckStep[] {
  const deviation = between(random, ...DEVIATIONS)
  const remembered = between(random, ...REMEMBERED_PARTS)
  const gapPart = between(random, ...GAP_PARTS)
  const gapMs = between(random, ...GAPS_MS)
  const steps: BottleneckStep[] = []
  let level = normal(random)
  let gapUntilMs = 0

  for (let atMs = 0; atMs < DURATION_MS; atMs += STEP_MS) {
    level = remembered * level + Math.sqrt(1 - remembered ** 2) * normal(random)

    if (atMs >= gapUntilMs && random.chance(gapPart * STEP_MS / gapMs)) {
      gapUntilMs = atMs + Math.min(LONGEST_GAP_MS, gapMs * Math.exp(GAP_DEVIATION * normal(random)))
    }

    const rateBytesPerMs = atMs < gapUntilMs ? GAP_BYTES_PER_MS : bytesPerMs * Math.exp(deviation * level - deviation ** 2 / 2)
    steps.push({ atMs, rateBytesPerMs, delayMs: DELAY_MS })
  }

  return steps
}

/** Bulk on one connection, half of them both ways */
export function drawMobile (seed: number): Plan {
  const random = new Random(seed)
  const bytesPerMs = between(random, ...MBITS) * MBIT_BYTES_PER_MS
  const connection = { link: 0, buffers: { sendBytes: SEND_BYTES, receiveBytes: RECEIVE_BYTES }, peerTurns: NO_TURNS, startMs: 100, isTwoWay: seed % 2 === 0 }

  return {
    seed,
    durationMs: DURATION_MS,
    settledMs: SETTLED_MS,
    turns: NO_TURNS,
    links: [{ steps: drawMobileSteps(random, bytesPerMs), backSteps: drawMobileSteps(random, bytesPerMs), jitterMs: 0 }],
    connections: [{ ...connection, answering: { kind: 'all' }, work: { kind: 'bulk' } }],
    urgentEveryMs: 50,
    msPerMegabyte: 2.5
  }
}
