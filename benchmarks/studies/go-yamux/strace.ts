// Counts the system calls of a process with strace, where there is one that may watch it.
import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Column 4 of its summary is the number of calls */
const summaryLine = /^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s.*\bwritev?$/

/** Resolves when it watches, or with undefined when it cannot. The returned function ends it and tells the count. */
export async function countWriteCalls (pid: number): Promise<(() => Promise<number>) | undefined> {
  const strace = spawn('strace', ['-c', '-f', '-e', 'trace=write,writev', '-p', String(pid)], { stdio: ['ignore', 'ignore', 'pipe'] })
  const attached = Promise.withResolvers<boolean>()
  let calls = 0

  const ended = new Promise<void>(resolve => {
    strace.once('error', () => { resolve() })
    strace.once('close', () => { resolve() })
  })

  createInterface(strace.stderr).on('line', line => {
    if (/ attached/.test(line)) {
      attached.resolve(true)
    }

    calls += Number(summaryLine.exec(line)?.[1] ?? 0)
  })

  ended.then(() => { attached.resolve(false) }, () => {})

  if (!await attached.promise) {
    return undefined
  }

  return async () => {
    strace.kill('SIGINT')
    await ended
    return calls
  }
}
