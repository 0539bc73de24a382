// A child process that leaves its work to a worker, as Lodestar does with its network: the worker's module, and the size of its young generation.
import { Worker } from 'node:worker_threads'

const [module, youngGenerationMb] = process.argv.slice(2)
const worker = new Worker(new URL('entry.ts', import.meta.url), { argv: [module], resourceLimits: { maxYoungGenerationSizeMb: Number(youngGenerationMb) } })

process.on('message', message => { worker.postMessage(message) })
// a reply to a parent that is gone gets lost
worker.on('message', message => { process.send?.(message, undefined, undefined, () => {}) })
worker.on('error', err => { throw err })

process.on('SIGINT', () => {})
process.on('disconnect', () => { process.exit() })
