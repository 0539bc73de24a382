// What each step of the way costs a message of 100 bytes, in time and in memory: encode, decode, schedule,
// lay out, and the way through the whole muxer in either direction.
//
// Run with a young generation that holds a whole run (list.ts), so that what a run allocates can be read
// off the heap: a collection in between would hide it, and ends the benchmark.
import Table from 'cli-table3'
import { PerformanceObserver } from 'node:perf_hooks'
import { setImmediate } from 'node:timers/promises'
import { Batch } from '../../src/core/scheduler/batch.ts'
import { Decoder } from '../../src/core/wire/decoder.ts'
import { encodeHeader, FLAG_SYN, HEADER_BYTES, TYPE_DATA, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { yamux } from '../../src/index.ts'
import { createScheduler, createStream } from '../../testing/core/lanes.ts'
import { takeNoOptions } from '../harness/options.ts'
import { nsPerOperation } from './timed.ts'
import { frameOf, Transport } from './transport.ts'
import type { FrameSink } from '../../src/core/wire/decoder.ts'

/** All of it fits into one write */
const STREAMS = 50
const MESSAGES_PER_STREAM = 10
const MESSAGES = STREAMS * MESSAGES_PER_STREAM
const MESSAGE_BYTES = 100

type Step = () => void | Promise<void>

const message = new Uint8Array(MESSAGE_BYTES)
const ids = Array.from({ length: STREAMS }, (_, i) => i * 2 + 1)

/** One frame a message, for the streams in turn */
function createChunk (): Uint8Array {
  const frames = Array.from({ length: MESSAGES }, (_, i) => frameOf(TYPE_DATA, 0, ids[i % STREAMS], MESSAGE_BYTES, MESSAGE_BYTES))

  return Buffer.concat(frames)
}

function encode (): Step {
  const target = new Uint8Array(MESSAGES * HEADER_BYTES)

  return () => {
    let offset = 0

    for (let i = 0; i < MESSAGES; i++) {
      offset = encodeHeader(target, offset, TYPE_DATA, 0, ids[i % STREAMS], MESSAGE_BYTES)
    }
  }
}

function decode (): Step {
  const chunk = createChunk()
  let bodyBytes = 0
  const sink: FrameSink = {
    onHeader: () => true,
    onBody: piece => { bodyBytes += piece.byteLength },
    onBodyEnd: () => {}
  }
  const decoder = new Decoder(sink)

  return () => {
    bodyBytes = 0
    decoder.push(chunk)
    expectBytes(bodyBytes)
  }
}

/** Messages are queued, and frames of them chosen; `laysOut` also makes the write of them */
function schedule (laysOut: boolean): Step {
  let finished = 0
  const scheduler = createScheduler()
  const streams = ids.map(id => createStream(id))
  const batch = new Batch()
  const counting = { frameCount: 0, maxFrames: Infinity, roomBytes: 0, header () {}, piece (bytes: Uint8Array) { finished += bytes.byteLength } }

  return () => {
    finished = 0

    for (let i = 0; i < MESSAGES; i++) {
      const stream = streams[i % STREAMS]
      stream.sendQueue.push(message)
      scheduler.data.enlist(stream, MESSAGE_BYTES)
    }

    streams.forEach(stream => { stream.creditBytes += MESSAGES_PER_STREAM * MESSAGE_BYTES })

    if (laysOut) {
      batch.begin(2 * MESSAGES * MESSAGE_BYTES, Infinity)
      scheduler.fill(batch, 0, 0)
      finished = batch.finish().byteLength - STREAMS * HEADER_BYTES
    } else {
      counting.roomBytes = 2 * MESSAGES * MESSAGE_BYTES
      scheduler.fill(counting as unknown as Batch, 0, 0)
    }

    expectBytes(finished)
  }
}

/** From `send()` to the write of the whole turn */
async function send (): Promise<Step> {
  const transport = new Transport('outbound')
  // the other end answers no ping, so all that was ever sent would count as under way to it
  const muxer = yamux({ enableKeepAlive: false, coalesce: { maxQueueDelayMs: Infinity } })().createStreamMuxer(transport.asMessageStream)
  const streams = await Promise.all(ids.map(async () => muxer.createStream()))
  const grants = Buffer.concat(ids.map(id => frameOf(TYPE_WINDOW_UPDATE, 0, id, MESSAGES_PER_STREAM * MESSAGE_BYTES)))
  await setImmediate()

  return async () => {
    transport.writtenBytes = 0
    transport.deliver(grants)

    for (let i = 0; i < MESSAGES; i++) {
      streams[i % STREAMS].send(message)
    }

    await setImmediate()
    // a frame for each
    expectBytes(transport.writtenBytes - MESSAGES * HEADER_BYTES)
  }
}

/** From one chunk of frames to one `message` event a stream, and the window updates that follow */
async function deliver (): Promise<Step> {
  const transport = new Transport('inbound')
  const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(transport.asMessageStream)
  const chunk = createChunk()
  let receivedBytes = 0

  muxer.addEventListener('stream', ({ detail: stream }) => {
    stream.addEventListener('message', ({ data }) => { receivedBytes += data.byteLength })
  })
  ids.forEach(id => { transport.deliver(frameOf(TYPE_DATA, FLAG_SYN, id, 0)) })

  return async () => {
    receivedBytes = 0
    transport.deliver(chunk)
    await setImmediate()
    expectBytes(receivedBytes)
  }
}

function expectBytes (bytes: number): void {
  if (bytes !== MESSAGES * MESSAGE_BYTES) {
    throw new Error(`${bytes} bytes came through instead of ${MESSAGES * MESSAGE_BYTES}`)
  }
}

const steps: Record<string, Step> = {
  'encode a header': encode(),
  'decode a frame': decode(),
  'queue and schedule': schedule(false),
  'and lay out': schedule(true),
  'send, all of it': await send(),
  'deliver, all of it': await deliver()
}

let collections = 0
new PerformanceObserver(list => { collections += list.getEntries().length }).observe({ entryTypes: ['gc'] })

/** In the heap, and outside of it, of one run: the least of several, because optimising allocates too */
async function allocatedBytes (step: Step): Promise<{ heap: number, outside: number }> {
  const measured = { heap: Infinity, outside: Infinity }

  for (let run = 0; run < 20; run++) {
    globalThis.gc?.()
    // the observer is told in a turn of its own
    await setImmediate()
    await setImmediate()
    collections = 0
    const before = process.memoryUsage()
    await step()
    const after = process.memoryUsage()
    await setImmediate()
    await setImmediate()

    if (collections > 0) {
      throw new Error('Garbage was collected while it was counted: run this with --min-semi-space-size=64')
    }

    measured.heap = Math.min(measured.heap, after.heapUsed - before.heapUsed)
    measured.outside = Math.min(measured.outside, after.arrayBuffers - before.arrayBuffers)
  }

  return measured
}

takeNoOptions()

const ns = await nsPerOperation(steps, MESSAGES, 1000)
const table = new Table({ head: [`${STREAMS} streams, ${MESSAGES_PER_STREAM} messages of ${MESSAGE_BYTES} B each`, 'ns per message', 'bytes of heap', 'bytes outside'] })

for (const [name, step] of Object.entries(steps)) {
  const { heap, outside } = await allocatedBytes(step)
  table.push([name, ns[name].toFixed(1), (heap / MESSAGES).toFixed(1), (outside / MESSAGES).toFixed(1)])
}

console.info(table.toString())
process.exit()
