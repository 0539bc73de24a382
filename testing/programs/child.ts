// Child processes and threads that answer commands: the parent's side and the child's.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parentPort, Worker } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import type { BirpcReturn, ChannelOptions } from 'birpc'
import type { MessagePort } from 'node:worker_threads'

export interface Child<Commands extends object> {
  pid: number
  commands: BirpcReturn<Commands>
  stop(): Promise<void>
}

interface ChildOptions {
  /** Instead of Node itself, with execArgv: what starts it */
  execPath?: string
  execArgv?: string[]
  /** It works in a worker whose young generation has this size, instead of in its main thread */
  youngGenerationMb?: number
  /** No command takes as long, unless something got lost on the way */
  timeoutMs?: number
}

export const COMMAND_TIMEOUT_MS = 30_000
export const EXIT_TIMEOUT_MS = 2000

const inWorker = new URL('in-worker.ts', import.meta.url)

/** `title` is what messages of errors call it */
export function startChild <Commands extends object> (module: URL, title: string, options: ChildOptions = {}): Child<Commands> {
  const { execPath = process.execPath, execArgv = [], timeoutMs = COMMAND_TIMEOUT_MS, youngGenerationMb } = options
  const [entry, args] = youngGenerationMb == null ? [module, []] : [inWorker, [module.href, String(youngGenerationMb)]]
  const child = fork(fileURLToPath(entry), args, { serialization: 'advanced', execPath, execArgv })
  const commands = createCommands<Commands>(title, timeoutMs, {
    // what cannot be sent to a child that is gone is rejected when it exits
    post: message => { child.send(message, () => {}) },
    on: listener => child.on('message', listener)
  })

  child.once('exit', (code, signal) => { commands.$close(new Error(`The ${title} has exited with ${signal ?? `code ${code}`}`)) })

  return {
    pid: child.pid ?? NaN,
    commands,

    async stop () {
      if (child.exitCode != null || child.signalCode != null) {
        return
      }

      const exited = once(child, 'exit')
      const killing = setTimeout(() => child.kill('SIGKILL'), EXIT_TIMEOUT_MS)

      if (child.connected) {
        child.disconnect()
      }

      await exited
      clearTimeout(killing)
    }
  }
}

/** The same in a thread of this process, which finds `port` as its workerData */
export function startThread <Commands extends object> (module: URL, title: string, port: MessagePort): Omit<Child<Commands>, 'pid'> {
  const worker = new Worker(module, { workerData: port, transferList: [port] })
  const commands = createCommands<Commands>(title, COMMAND_TIMEOUT_MS, {
    post: message => { worker.postMessage(message) },
    on: listener => worker.on('message', listener)
  })

  worker.once('exit', () => { commands.$close(new Error(`The ${title} has exited`)) })
  worker.once('error', err => { commands.$close(err) })

  return {
    commands,
    async stop () { await worker.terminate() }
  }
}

function createCommands <Commands extends object> (title: string, timeoutMs: number, channel: ChannelOptions): BirpcReturn<Commands> {
  return createBirpc<Commands>({}, {
    ...channel,
    timeout: timeoutMs,
    onTimeoutError (command) {
      throw new Error(`The ${title} did not finish "${command}" in ${timeoutMs / 1000} seconds`)
    }
  })
}

/** Makes this process, or this thread, the child that answers them */
export function answer (commands: object): void {
  const port = parentPort

  if (port != null) {
    createBirpc(commands, {
      post: message => { port.postMessage(message) },
      on: listener => port.on('message', listener)
    })

    return
  }

  createBirpc(commands, {
    // a reply to a parent that is gone gets lost, the end of the channel ends this process
    post: message => { process.send?.(message, undefined, undefined, () => {}) },
    on: listener => process.on('message', listener)
  })

  // the parent ends its children by closing the channel, Ctrl-C included
  process.on('SIGINT', () => {})
  process.on('disconnect', () => { process.exit() })
}
