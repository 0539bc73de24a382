// Of `npm run simulate`: the bound on bytes in flight on many paths, or one of them with all that happens.
import { quantile } from 'simple-statistics'
import { judge } from './judge.ts'
import { drawMobile } from './mobile.ts'
import { describePlan, drawPlan, drawRequests } from './plan.ts'
import { run } from './run.ts'
import type { CreatePathControl } from '../../../src/path-control.ts'
import type { Verdict } from './judge.ts'
import type { Plan } from './plan.ts'

const WORST = 10
const STEP_PART = 1 / 30

const groups: Array<[name: string, isMeant: (verdict: Verdict) => boolean]> = [
  ['all', () => true],
  ['one connection', ({ isAlone, isTwoWay }) => isAlone && !isTwoWay],
  ['one connection, both ways', ({ isAlone, isTwoWay }) => isAlone && isTwoWay],
  ['several connections', ({ isAlone, isTwoWay }) => !isAlone && !isTwoWay],
  ['several connections, both ways', ({ isAlone, isTwoWay }) => !isAlone && isTwoWay]
]

const draws: Array<[work: string, draw: (seed: number) => Plan]> = [['bulk and bursts', drawPlan], ['requests', drawRequests], ['bulk on mobile links', drawMobile]]

/** Each link of the plans of so many seeds, and commands that replay those that lose most; with the muxer's own control unless there is another */
export function searchPaths (first: number, seeds: number, createControl?: () => CreatePathControl, replayOptions = ''): void {
  for (const [work, draw] of draws) {
    console.info(`${work}:`)
    tell(Array.from({ length: seeds }, (_, index) => judge(draw(first + index), createControl)).flat(), replayOptions)
  }
}

function tell (verdicts: Verdict[], replayOptions: string): void {
  for (const [name, isMeant] of groups) {
    const meant = verdicts.filter(isMeant)

    if (meant.length > 0) {
      console.info(`${name}: ${meant.length} links; what they carry, compared with no bound: ${spread(meant.map(({ goodput }) => goodput), [0, 0.01, 0.05, 0.1, 0.5])}`)
    }
  }

  const slow = verdicts.filter(({ isSlow }) => isSlow).map(({ urgent }) => urgent)
  console.info(`urgent messages, p99 compared with no bound: ${spread(verdicts.map(({ urgent }) => urgent).filter(Number.isFinite), [0.5, 0.95, 0.99, 1])}`)

  if (slow.length > 0) {
    console.info(`the same on ${slow.length} slow links: ${spread(slow, [0.5, 0.9, 1])}`)
  }

  for (const { seed, link, goodput } of verdicts.sort((a, b) => a.goodput - b.goodput).slice(0, WORST)) {
    console.info(`npm run simulate -- --path ${seed}${replayOptions}   link ${link}: ${goodput.toFixed(3)}`)
  }
}

/** What is in flight on each connection, and what has arrived */
export function replayPath (seed: number, createControl?: () => CreatePathControl): void {
  for (const [, draw] of draws) {
    replay(draw(seed), createControl)
  }
}

function replay (plan: Plan, createControl?: () => CreatePathControl): void {
  console.info(describePlan(plan))
  judge(plan, createControl).forEach(({ link, goodput, urgent }) => { console.info(`link ${link}: carries ${goodput.toFixed(3)}, urgent ${urgent.toFixed(3)}`) })

  run(plan, {
    maxQueueDelayMs: 10,
    createControl,
    stepMs: plan.durationMs * STEP_PART,
    onStep (nowMs, own) {
      const connections = own.map(({ control }) => {
        const { inFlightBytes = 0, boundBytes = Infinity, bytesPerMs = 0, roundTripMs = 0 } = control.figures(nowMs) ?? {}

        return `${kilobytes(inFlightBytes)} of ${kilobytes(boundBytes)} KB${control.isHeld ? ', held' : ''}, ${Math.round(bytesPerMs)} KB/s, ${roundTripMs === 0 ? '-' : roundTripMs.toFixed(1)} ms`
      })
      console.info(`${Math.round(nowMs)} ms  ${connections.join('  |  ')}`)
    }
  })
}

function kilobytes (bytes: number): string {
  return bytes === Infinity ? 'any' : String(Math.round(bytes / 1000))
}

function spread (values: number[], at: number[]): string {
  return at.map(part => `${part === 0 ? 'least' : part === 0.5 ? 'median' : part === 1 ? 'most' : `${part * 100} %`} ${quantile(values, part).toFixed(3)}`).join(', ')
}
