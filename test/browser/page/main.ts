/**
 * A page that dials when it is told to, by itself or in a worker.
 */
import { dialAndExchange } from './dial.ts'
import type { Task } from './dial.ts'

export type { Task }

export interface DiallingPage {
  dialAndExchange (task: Task): Promise<void>
  dialAndExchangeInWorker (task: Task): Promise<void>
}

async function dialAndExchangeInWorker (task: Task): Promise<void> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })

  return new Promise<void>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<string>) => { data === 'done' ? resolve() : reject(new Error(data)) }
    worker.onerror = ({ message }) => { reject(new Error(message)) }
    worker.postMessage(task)
  }).finally(() => { worker.terminate() })
}

Object.assign(globalThis, { dialAndExchange, dialAndExchangeInWorker } satisfies DiallingPage)
