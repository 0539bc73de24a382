// A thread of a search.
import { parentPort, workerData } from 'node:worker_threads'
import { runSeed, WIRE_DIGESTS } from './run-seed.ts'
import type { Batch, BatchResult, Progress } from './search.ts'

const { seed: current, events: happened } = workerData as Progress

async function run ({ first, seeds, isLight }: Batch): Promise<BatchResult> {
  const total: BatchResult = { seeds: 0, steps: 0, events: 0, bytes: 0, wireDigest: 0 }

  for (let seed = first; seed < first + seeds; seed++) {
    Atomics.store(current, 0, seed)
    total.seeds++

    try {
      const { steps, events, bytes, wireDigest } = await runSeed(seed, { isLight, onEvent: () => { Atomics.add(happened, 0, 1) } })
      total.steps += steps
      total.events += events
      total.bytes += bytes
      total.wireDigest = (total.wireDigest + wireDigest) % WIRE_DIGESTS
    } catch (err: any) {
      return { ...total, finding: { seed, message: String(err?.stack ?? err) } }
    }
  }

  return total
}

parentPort?.on('message', batch => {
  run(batch).then(result => { parentPort?.postMessage(result) }, err => { throw err })
})
