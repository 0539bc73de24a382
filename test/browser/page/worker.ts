/**
 * A worker that dials when it is told to.
 */
import { dialAndExchange } from './dial.ts'
import type { Task } from './dial.ts'

globalThis.onmessage = ({ data: task }: MessageEvent<Task>) => {
  dialAndExchange(task).then(() => { postMessage('done') }, (err: Error) => { postMessage(String(err.stack)) })
}
