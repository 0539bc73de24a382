// Child processes and threads that answer commands: the parent's side and the child's.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { parentPort, Worker } from 'node:worker_threads'
import { createBirpc } from 'birpc'
import { postToParent, SIGN_OF_LIFE } from './parent.ts'
import type { BirpcReturn } from 'birpc'
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
}

/** A command may take any time, but its child has to show life this often */
const SILENCE_MS = 60_000
export const EXIT_TIMEOUT_MS = 2000

const entry = new URL('entry.ts', import.meta.url)
const inWorker = new URL('in-worker.ts', import.meta.url)

/** `title` is what messages of errors call it */
export function startChild <Commands extends object> (module: URL, title: string, options: ChildOptions = {}): Child<Commands> {
  const { execPath = process.execPath, execArgv = [], youngGenerationMb } = options
  const [program, args] = youngGenerationMb == null ? [entry, []] : [inWorker, [String(youngGenerationMb)]]
  const child = fork(fileURLToPath(program), [module.href, ...args], { serialization: 'advanced', execPath, execArgv })
  const { commands, end } = createCommands<Commands>(title, {
    // what cannot be sent to a child that is gone is rejected when it exits
    post: message => { child.send(message, () => {}) },
    on: listener => child.on('message', listener)
  })

  child.once('exit', (code, signal) => { end(new Error(`The ${title} has exited with ${signal ?? `code ${code}`}`)) })

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
  const worker = new Worker(entry, { argv: [module.href], workerData: port, transferList: [port] })
  const { commands, end } = createCommands<Commands>(title, {
    post: message => { worker.postMessage(message) },
    on: listener => worker.on('message', listener)
  })

  worker.once('exit', () => { end(new Error(`The ${title} has exited`)) })
  worker.once('error', end)

  return {
    commands,
    async stop () { await worker.terminate() }
  }
}

interface Channel {
  post(message: any): void
  on(listener: (message: unknown) => void): void
}

/** `end` rejects the commands that wait and those that come later */
export function createCommands <Commands extends object> (title: string, { post, on }: Channel): { commands: BirpcReturn<Commands>, end(err: Error): void } {
  const waiting = new Set<{ silence: NodeJS.Timeout, reject(err: Error): void }>()
  let ended: Error | undefined

  const commands = createBirpc<Commands>({}, {
    post,

    on: listener => {
      on(message => {
        waiting.forEach(({ silence }) => { silence.refresh() })

        if (message !== SIGN_OF_LIFE) {
          listener(message)
        }
      })
    },

    async onRequest ({ m: command }, send) {
      if (ended != null) {
        throw ended
      }

      const { promise, reject } = Promise.withResolvers<never>()
      const silence = setTimeout(() => {
        reject(new Error(`The ${title} has done nothing for ${SILENCE_MS / 1000} seconds in "${command}". Close other programs and run it again. If that does not help, report it as a bug.`))
      }, SILENCE_MS)
      const wait = { silence, reject }
      waiting.add(wait)

      try {
        await Promise.race([send(), promise])
      } finally {
        clearTimeout(silence)
        waiting.delete(wait)
      }
    },

    // its own would not begin anew with each sign of life
    timeout: -1
  })

  return {
    commands,

    end (err) {
      ended ??= err
      waiting.forEach(({ reject }) => { reject(err) })
    }
  }
}

/** Makes this process, or this thread, the child that answers them */
export function answer (commands: object): void {
  createBirpc(commands, { post: postToParent, on: listener => parentPort == null ? process.on('message', listener) : parentPort.on('message', listener) })

  if (parentPort == null) {
    // the parent ends its children by closing the channel, Ctrl-C included
    process.on('SIGINT', () => {})
    process.on('disconnect', () => { process.exit() })
  }
}
