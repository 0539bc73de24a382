// What the bound on bytes in flight does to a plan, beside what happens without it.
import { run } from './run.ts'
import type { CreatePathControl } from '../../../src/path-control.ts'
import type { ConnectionPlan, Plan } from './plan.ts'

const MAX_QUEUE_DELAY_MS = 10
/** With less than this of bulk there is nothing to compare */
const LEAST_BYTES = 20_000
/** Where a path is slow, and kernels take much of it */
const SLOW_BYTES_PER_MS = 6250
const LARGE_BUFFER_BYTES = 1_048_576
/** It is the path that is slow when the message takes so much longer beside bulk than alone */
const SLOWER = 8

/** Of a link and all connections on it */
export interface Verdict {
  seed: number
  link: number
  /** Several connections, over this link or others */
  isAlone: boolean
  isTwoWay: boolean
  /** What bulk carries with the bound, of what it does without */
  goodput: number
  /** The 99th percentile of an urgent message, beside what it is without */
  urgent: number
  /** The link is slow, not the programs: there the bound has to help */
  isSlow: boolean
}

/** `createControl` makes the control of this node; by default it is the muxer's own */
export function judge (plan: Plan, createControl?: () => CreatePathControl): Verdict[] {
  const bounded = run(plan, { maxQueueDelayMs: MAX_QUEUE_DELAY_MS, createControl })
  const unbounded = run(plan, { maxQueueDelayMs: Infinity })
  const alone = run(plan, { maxQueueDelayMs: Infinity, isIdle: true })

  return plan.links.flatMap(({ steps }, link) => {
    const connections = plan.connections.filter(connection => connection.link === link)
    const withoutMs = unbounded[link].urgentP99Ms

    return unbounded[link].deliveredBytes < LEAST_BYTES
      ? []
      : [{
          seed: plan.seed,
          link,
          isAlone: plan.connections.length === 1,
          isTwoWay: connections.some(({ isTwoWay }) => isTwoWay),
          goodput: bounded[link].deliveredBytes / unbounded[link].deliveredBytes,
          urgent: bounded[link].urgentP99Ms / withoutMs,
          isSlow: steps.every(({ rateBytesPerMs }) => rateBytesPerMs <= SLOW_BYTES_PER_MS) && connections.every(isPlain) && withoutMs > SLOWER * alone[link].urgentP99Ms
        }]
  })
}

/** Always more to send, over a large buffer, to a peer that answers */
function isPlain ({ buffers, answering, work, isTwoWay }: ConnectionPlan): boolean {
  return buffers.sendBytes >= LARGE_BUFFER_BYTES && answering.kind === 'all' && work.kind === 'bulk' && !isTwoWay
}
