/**
 * Time and turns of the event loop: the one place where Node and browsers differ.
 */

export interface Clock {
  /** Monotonic, finer than a millisecond */
  nowMs (): number
  /** Runs `task` when the event loop comes round, without the 1 to 4 ms of a timer */
  nextTurn (task: () => void): void
  setTimer (task: () => void, delayMs: number): unknown
  clearTimer (timer: unknown): void
}

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  nextTurn: task => {
    if (typeof globalThis.setImmediate === 'function') {
      globalThis.setImmediate(task)
    } else {
      postTask(task)
    }
  },
  setTimer: (task, delayMs) => setTimeout(task, delayMs),
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
