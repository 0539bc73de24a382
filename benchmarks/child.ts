// Child processes that answer commands: the parent's side and the child's.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { createBirpc } from 'birpc'
import type { BirpcReturn } from 'birpc'

export interface Child<Commands extends object> {
  pid: number
  commands: BirpcReturn<Commands>
  stop(): Promise<void>
}

interface ChildOptions {
  execArgv?: string[]
  /** No command takes as long, unless something got lost on the way */
  timeoutMs?: number
}

const COMMAND_TIMEOUT_MS = 30_000
const EXIT_TIMEOUT_MS = 2000

/** `title` is what messages of errors call it */
export function startChild <Commands extends object> (module: URL, title: string, options: ChildOptions = {}): Child<Commands> {
  const { execArgv = [], timeoutMs = COMMAND_TIMEOUT_MS } = options
  const child = fork(fileURLToPath(module), { serialization: 'advanced', execArgv })
  const commands = createBirpc<Commands>({}, {
    // what cannot be sent to a child that is gone is rejected when it exits
    post: message => { child.send(message, () => {}) },
    on: listener => child.on('message', listener),
    timeout: timeoutMs,
    onTimeoutError (command) {
      throw new Error(`The ${title} did not finish "${command}" in ${timeoutMs / 1000} seconds`)
    }
  })

  child.once('exit', () => { commands.$close(new Error(`The ${title} has exited`)) })

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

/** Makes this process the child that answers them */
export function answer (commands: object): void {
  createBirpc(commands, {
    // a reply to a parent that is gone gets lost, the end of the channel ends this process
    post: message => { process.send?.(message, undefined, undefined, () => {}) },
    on: listener => process.on('message', listener)
  })

  // the parent ends its children by closing the channel, Ctrl-C included
  process.on('SIGINT', () => {})
  process.on('disconnect', () => { process.exit() })
}
