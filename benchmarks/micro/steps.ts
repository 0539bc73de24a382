// What each step of the way costs a message of 100 bytes, in time and in memory: encode, schedule, lay out, decode, keep, give credit
// back, what a session does with all of them, and the way through the whole muxer in either direction.
//
// Run with a young generation that holds a whole run (list.ts), so that what a run allocates can be read
// off the heap: a collection in between would hide it, and ends the benchmark.
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { median } from 'simple-statistics'
import { parseRecordPath } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { figure, renderSamples } from '../harness/table.ts'
import { nsPerOperation } from './timed.ts'
import { createSteps, MESSAGE_BYTES, MESSAGES, MESSAGES_PER_STREAM, STREAMS } from './way.ts'
import type { Sample } from '../harness/samples.ts'
import type { Run } from './timed.ts'

const columns = [figure('ns', 'ns'), figure('bytes\nof heap', 'heapBytes'), figure('bytes\noutside', 'outsideBytes')]

let collections = 0
new PerformanceObserver(list => { collections += list.getEntries().length }).observe({ entryTypes: ['gc'] })

/** In the heap, the least of several runs: optimising allocates too. Outside of it, their median: what earlier runs have left is freed in between. */
async function allocatedBytes ({ run }: Run): Promise<{ heap: number, outside: number }> {
  const heap: number[] = []
  const outside: number[] = []

  for (let i = 0; i < 20; i++) {
    globalThis.gc?.()
    // the observer is told in a turn of its own
    await setImmediate()
    await setImmediate()
    collections = 0
    const before = process.memoryUsage()
    await run()
    const after = process.memoryUsage()
    await setImmediate()
    await setImmediate()

    if (collections > 0) {
      throw new Error('Garbage was collected while it was counted: run this with --min-semi-space-size=64')
    }

    heap.push(after.heapUsed - before.heapUsed)
    outside.push(after.arrayBuffers - before.arrayBuffers)
  }

  return { heap: Math.min(...heap), outside: median(outside) }
}

const json = parseRecordPath()
const steps = await createSteps()
const ns = await nsPerOperation(steps, MESSAGES, 1000)
const samples: Array<Sample<'ns' | 'heapBytes' | 'outsideBytes'>> = []

for (const [name, step] of Object.entries(steps)) {
  const { heap, outside } = await allocatedBytes(step)
  samples.push({ rowId: name, muxer: 'ours', round: 1, metrics: { ns: ns[name], heapBytes: heap / MESSAGES, outsideBytes: outside / MESSAGES } })
}

await report({
  tables: [renderSamples(samples, Object.keys(steps).map(id => ({ id, label: id })), [{ id: 'ours', label: 'ours' }], columns)],
  extent: 'each for a second',
  legend: `Of a message of ${MESSAGE_BYTES} B: ${STREAMS} streams have ${MESSAGES_PER_STREAM} each`,
  json,
  measured: { samples }
})
process.exit()
