// The parent, as its child sees it. Signs of life tell it a child that is slow from one that hangs: a slow one works, one that misses a message waits.
import { performance } from 'node:perf_hooks'
import { parentPort } from 'node:worker_threads'

export const SIGN_OF_LIFE = 'working'

const SIGN_INTERVAL_MS = 1000
/** Of the event loop. A libp2p node that waits uses 0.05 % for its timers */
const WORKING_UTILIZATION = 0.005

/** From a child process or a thread. What is sent to a parent that is gone gets lost */
export function postToParent (message: unknown): void {
  if (parentPort != null) {
    parentPort.postMessage(message)
  } else {
    process.send?.(message, undefined, undefined, () => {})
  }
}

/** Posts a sign for each second in which this thread has worked */
export function showLife (post: (sign: string) => void): void {
  let before = performance.eventLoopUtilization()

  setInterval(() => {
    const now = performance.eventLoopUtilization()

    if (performance.eventLoopUtilization(now, before).utilization >= WORKING_UTILIZATION) {
      post(SIGN_OF_LIFE)
    }

    before = now
  }, SIGN_INTERVAL_MS).unref()
}
