// Many seeds, in threads of their own: each has its own clock, and one that hangs can be ended.
import { Worker } from 'node:worker_threads'
import { WIRE_DIGESTS } from './run-seed.ts'
import type { SeedResult } from './run-seed.ts'

/** Small enough that all threads end at nearly the same time */
const SEEDS_OF_A_BATCH = 20
/** A seed takes some milliseconds, and of one that takes a minute each event does */
const HANGS_AFTER_MS = 30_000

export interface Finding {
  seed: number
  message: string
}

/** How far a thread is: shared with it */
export interface Progress {
  /** The seed that is running */
  seed: Int32Array
  events: Int32Array
}

export interface Batch {
  first: number
  seeds: number
  /** See planOf */
  isLight?: boolean
}

/** What a thread says of a batch, up to its first finding */
export interface BatchResult extends SeedResult {
  seeds: number
  finding?: Finding
}

export interface SearchInit extends Batch {
  workers?: number
  onProgress? (seeds: number): void
}

export interface SearchResult extends SeedResult {
  seeds: number
  findings: Finding[]
}

/** Stops soon after a seed has failed */
export async function search ({ first, seeds, isLight, workers = 1, onProgress }: SearchInit): Promise<SearchResult> {
  const result: SearchResult = { seeds: 0, steps: 0, events: 0, bytes: 0, wireDigest: 0, findings: [] }
  let next = first

  const takeBatch = (): Batch | undefined => {
    const batch = { first: next, seeds: Math.min(SEEDS_OF_A_BATCH, first + seeds - next), isLight }
    next += batch.seeds

    return batch.seeds > 0 && result.findings.length === 0 ? batch : undefined
  }

  const add = (batch: BatchResult): void => {
    for (const key of ['seeds', 'steps', 'events', 'bytes'] as const) {
      result[key] += batch[key]
    }

    result.wireDigest = (result.wireDigest + batch.wireDigest) % WIRE_DIGESTS

    if (batch.finding != null) {
      result.findings.push(batch.finding)
    }

    onProgress?.(result.seeds)
  }

  await Promise.all(Array.from({ length: workers }, async () => runWorker(takeBatch, add)))
  result.findings.sort((a, b) => a.seed - b.seed)

  return result
}

async function runWorker (takeBatch: () => Batch | undefined, onResult: (result: BatchResult) => void): Promise<void> {
  const progress: Progress = { seed: new Int32Array(new SharedArrayBuffer(4)), events: new Int32Array(new SharedArrayBuffer(4)) }
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { workerData: progress })
  const nothing = { seeds: 0, steps: 0, events: 0, bytes: 0, wireDigest: 0 }

  try {
    for (let batch = takeBatch(); batch != null; batch = takeBatch()) {
      onResult(await Promise.race([
        runBatch(worker, batch),
        hang(progress).then(seed => ({ ...nothing, finding: { seed, message: `Hangs: nothing has come of it for ${HANGS_AFTER_MS} ms` } }))
      ]))
    }
  } finally {
    await worker.terminate()
  }
}

async function runBatch (worker: Worker, batch: Batch): Promise<BatchResult> {
  return new Promise((resolve, reject) => {
    worker.once('message', result => {
      worker.off('error', reject)
      resolve(result)
    })
    worker.once('error', reject)
    worker.postMessage(batch)
  })
}

/** Resolves to a seed of which nothing happens any more */
async function hang ({ seed, events }: Progress): Promise<number> {
  return new Promise(resolve => {
    const look = (eventsBefore: number): void => {
      setTimeout(() => {
        const eventsNow = Atomics.load(events, 0)

        if (eventsNow === eventsBefore) {
          resolve(Atomics.load(seed, 0))
        } else {
          look(eventsNow)
        }
      }, HANGS_AFTER_MS).unref()
    }

    look(-1)
  })
}
