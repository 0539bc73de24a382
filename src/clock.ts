/**
 * Time and turns of the event loop, in Node and in browsers. A turn runs from one task of `nextTurn` to the next.
 */

export interface Clock {
  /** Monotonic, finer than a millisecond */
  nowMs (): number
  /** Runs `task` when the event loop comes round, without the 1 to 4 ms of a timer */
  nextTurn (task: () => void): void
  /** A timer for less than this comes late */
  readonly shortestTimerMs: number
  setTimer (task: () => void, delayMs: number): unknown
  /** One that does not keep the process alive */
  setBackgroundTimer (task: () => void, delayMs: number): unknown
  clearTimer (timer: unknown): void
}

/** What bundlers put in the place of Node's own setImmediate is a timer */
const { process } = globalThis as { process?: { versions?: { node?: string } } }
const isNode = process?.versions?.node != null
/** Kept: with an application's fake timers time stands still, but turns of the event loop go on */
const { setImmediate } = globalThis

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  nextTurn: task => {
    // React Native has setImmediate alone, browsers only what bundlers put in its place
    if (!isNode && typeof MessageChannel === 'function') {
      postTask(task)
    } else {
      setImmediate(task)
    }
  },
  // browsers clamp timers that set timers
  shortestTimerMs: isNode ? 1 : 4,
  setTimer: (task, delayMs) => setTimeout(task, delayMs),
  setBackgroundTimer: (task, delayMs) => {
    const timer = setTimeout(task, delayMs) as { unref?: () => void }
    timer.unref?.()

    return timer
  },
  clearTimer: timer => { clearTimeout(timer as ReturnType<typeof setTimeout>) }
}

const tasks: Array<() => void> = []
let channel: MessageChannel | undefined

/** Browsers clamp nested timers to 4 ms, but not messages */
function postTask (task: () => void): void {
  if (channel == null) {
    channel = new MessageChannel()
    channel.port1.onmessage = () => { tasks.shift()?.() }
  }

  tasks.push(task)
  channel.port2.postMessage(undefined)
}
