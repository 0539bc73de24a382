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

/** Each may be missing. Kept: with an application's fake timers time stands still, but turns of the event loop go on. */
const { process, setImmediate, setTimeout: setShortestTimer, MessageChannel } = globalThis as Partial<Globals>
const isNode = process?.versions?.node != null
/** Where bundlers bring a setImmediate it is a timer. React Native has no MessageChannel, and Jest's jsdom has neither, in spite of Node's `process`. */
const grantQuantum = (isNode && setImmediate) || (MessageChannel && postTask) || setImmediate || setShortestTimer

export const systemClock: Clock = {
  nowMs: () => performance.now(),
  nextTurn: task => { grantQuantum?.(task) },
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
let channel: Channel | undefined

/** Browsers clamp nested timers to 4 ms, but not messages */
function postTask (task: () => void): void {
  channel ??= openChannel()
  tasks.push(task)
  channel.port1.ref?.()
  channel.port2.postMessage(undefined)
}

/** A page that is imitated in Node may have Node's channel, which must not keep the process alive when no turn is awaited */
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
