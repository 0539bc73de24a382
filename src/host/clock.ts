/**
 * Time, and turns of the event loop, in Node and in browsers. A turn runs from one task of `nextTurn` to the next.
 */

export interface Clock {
  /** Never goes back, and is finer than a millisecond */
  nowMs (): number
  /** Runs `task` in the next turn of the event loop, without the 1 to 4 ms of a timer */
  nextTurn (task: () => void): void
  /** A timer with a shorter delay fires late */
  readonly shortestTimerMs: number
  setTimer (task: () => void, delayMs: number): unknown
  /** The timer does not keep the process alive */
  setBackgroundTimer (task: () => void, delayMs: number): unknown
  clearTimer (timer: unknown): void
}

interface Globals {
  process: { versions?: { node?: string } }
  setImmediate (task: () => void): unknown
  setTimeout (task: () => void): unknown
  MessageChannel: typeof globalThis.MessageChannel
}

interface Channel {
  port1: Pick<MessagePort, 'onmessage'> & { ref?(): void, unref?(): void }
  port2: Pick<MessagePort, 'postMessage'>
}

/** Any of them may be missing. Read once, so that turns go on if an application installs fake timers. */
const { process, setImmediate, setTimeout: setShortestTimer, MessageChannel } = globalThis as Partial<Globals>
const isNode = process?.versions?.node != null
/**
 * A bundler's setImmediate is a timer, so only Node's comes first. React Native has no MessageChannel. Jest's jsdom has Node's `process`, but
 * neither of the two.
 */
const runNextTurn = (isNode && setImmediate) || (MessageChannel && postTask) || setImmediate || setShortestTimer

export const systemClock: Clock = {
  nowMs,
  nextTurn: task => { runNextTurn?.(task) },
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

let lastMs = 0
let addedMs = 0
let lastNow: unknown = performance.now

/**
 * Fake timers replace `performance.now()` and restore it. Time then goes on from where it was, at the speed of the new source. No other code checks
 * for a clock that was set back. Hot.
 */
function nowMs (): number {
  const source = performance
  const readingMs = source.now()

  if (source.now !== lastNow || readingMs + addedMs < lastMs) {
    addedMs = lastMs - readingMs
    lastNow = source.now
  } else {
    lastMs = readingMs + addedMs
  }

  return lastMs
}

const tasks: Array<() => void> = []
let channel: Channel | undefined

/** Browsers clamp nested timers to 4 ms, but not messages */
function postTask (task: () => void): void {
  channel ??= openChannel()
  tasks.push(task)
  channel.port1.ref?.()
  channel.port2.postMessage(undefined)
}

/** jsdom may have Node's MessageChannel, which must not keep the process alive while no turn is awaited */
function openChannel (): Channel {
  const channel: Channel = new globalThis.MessageChannel()

  channel.port1.onmessage = () => {
    if (tasks.length === 1) {
      channel.port1.unref?.()
    }

    tasks.shift()?.()
  }

  return channel
}
