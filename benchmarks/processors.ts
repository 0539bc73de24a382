// What other programs took of the processors while something was measured.
import { cpus } from 'node:os'
import { sum } from 'simple-statistics'

/** Over all processors */
export interface Watched {
  elapsedMs: number
  /** Of every program on the machine */
  busyMs: number
  /** Of the benchmark, its children included */
  ownMs: number
}

/** A sender and a receiver, one each */
const NEEDED = 2
/** Of these two. A quiet system takes a few percent for itself, and what it says of the time comes in steps of 10 ms */
const QUIET_PERCENT = 10

/** Waiting for a disk is idle; interrupts are left out, as most of them are the benchmark's own packets */
function busyMs (): number {
  return sum(cpus().map(({ times: { user, nice, sys } }) => user + nice + sys))
}

/** Starts watching, the returned function tells what was taken since: it is told what this process's children took */
export function watchProcessors (): (childrenMs: number) => Watched {
  const [startMs, busyBeforeMs, ownBefore] = [performance.now(), busyMs(), process.cpuUsage()]

  return childrenMs => {
    const { user, system } = process.cpuUsage(ownBefore)

    return { elapsedMs: performance.now() - startMs, busyMs: busyMs() - busyBeforeMs, ownMs: (user + system) / 1000 + childrenMs }
  }
}

/** How much of the processors that it needs a benchmark did not get. With more of them others are in nobody's way */
export function percentTakenByOthers (watched: Watched[], processors: number): number {
  if (watched.length === 0) {
    return 0
  }

  const othersMs = sum(watched.map(({ busyMs, ownMs }) => busyMs - ownMs))
  const taken = othersMs / sum(watched.map(({ elapsedMs }) => elapsedMs))
  const needed = Math.min(NEEDED, processors)

  return Math.max(0, taken - (processors - needed)) / needed * 100
}

/** Nothing of a machine that was quiet */
export function describeOthers (percent: number): string[] {
  return percent < QUIET_PERCENT
    ? []
    : [`Other programs took ${Math.round(percent)} % of the processors that this needs while it ran: the ratios may be off by as much. Close them and run it again.`]
}
