// A child process: one end of a connection. Either end sends bulk and echoes urgent messages.
import { setTimeout as sleep } from 'node:timers/promises'
import { pEvent } from 'p-event'
import { answer } from '../../testing/programs/child.ts'
import { eachInterval, nowMs } from '../../testing/programs/clock.ts'
import { startCounting } from '../pair/counters.ts'
import { createLibp2pEndpoint } from '../pair/endpoints/libp2p.ts'
import { REPLY_BYTES } from '../pair/scenarios/messages.ts'
import { bytesAt, isAt, startOfStream } from '../../testing/verified/pattern.ts'
import { onIndexed, sendIndex } from '../../testing/verified/stream-index.ts'
import { openStreams, readPieces, viewsOf } from '../../testing/verified/streams.ts'
import { sampleWatched, watchMuxer } from './in-flight.ts'
import { BULK_MESSAGE_BYTES, BUSY_TURN_MS, LATEST_ECHO_MS, PAUSE_EVERY_MS, PAUSE_MS, URGENT_INDEX, URGENT_MESSAGE_BYTES } from './workload.ts'
import type { Endpoint } from '../pair/endpoints/endpoint.ts'
import type { Instant } from './in-flight.ts'
import type { Contestant, Window } from './workload.ts'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

export interface Watched {
  bulkBytes: number
  /** Of what this end sends, if a program of `peers` tells it */
  verifiedBytes: number
  cpuMs: number
  instants: Instant[]
}

/** One entry for each urgent message of the window */
export interface Urgent {
  latenciesMs: Float64Array
  /** How late send() was called */
  lateMs: Float64Array
}

/** What a sender says of the window */
export type Sent = Urgent & Watched

/** An end that sends bulk: a process of this module, or a program that does the same */
export interface Sender {
  commands: {
    start(as: Contestant, host: string): Promise<string[]>
    dial(addresses: string[]): Promise<void>
    open(bulkStreams: number): Promise<void>
    startBulk(): Promise<void>
    startWorking?(): Promise<void>
    measure(window: Window, urgentIntervalMs: number): Promise<Sent>
  }
  stop(): Promise<void>
}

const POLL_MS = 10

/** As applications do it, to a muxer that knows what it means */
function markUrgent (stream: Stream): void {
  if ('priority' in stream) {
    stream.priority = 'urgent'
  }
}

let contestant: Contestant
let endpoint: Endpoint
let streams: Stream[] = []
const received: Stream[] = []
let receivedBytes = 0
let verifiedBytes = 0
let failure: unknown

function check (isRight: boolean, index: number): void {
  if (!isRight) {
    failure ??= new Error(`Wrong bytes on stream ${index}`)
  }
}

/** Bulk ends by an error of its stream, which may be that of its close event */
function fail (err: Error | StreamCloseEvent, index: number): void {
  failure ??= err instanceof Error ? err : new Error(`Stream ${index} closed: ${err.error?.message ?? 'without an error'}`)
}

async function until (isDone: () => boolean): Promise<void> {
  while (!isDone()) {
    if (failure != null) {
      throw failure
    }

    await sleep(POLL_MS)
  }
}

function verifier (index: number): (bytes: Uint8Array) => void {
  let position = startOfStream(index)

  return bytes => {
    check(isAt(position, bytes), index)
    position += bytes.byteLength
    receivedBytes += bytes.byteLength
  }
}

function onStream (stream: Stream): void {
  onIndexed(stream, index => {
    if (index !== URGENT_INDEX) {
      received.push(stream)

      return verifier(index)
    }

    if (contestant.isMarked) {
      markUrgent(stream)
    }

    return bytes => { stream.send(bytes) }
  })
}

async function saturate (stream: Stream, index: number): Promise<void> {
  for (let position = startOfStream(index); ; position += BULK_MESSAGE_BYTES) {
    if (!stream.send(bytesAt(position, BULK_MESSAGE_BYTES))) {
      // onDrain() of @libp2p/yamux resolves at once after its first use
      await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
    }
  }
}

const commands = {
  /** Returns the addresses to dial */
  async start (as: Contestant, host: string): Promise<string[]> {
    contestant = as
    endpoint = await createLibp2pEndpoint(contestant.muxer, 'tcp-noise', host, watchMuxer)
    await endpoint.handle(onStream)

    return endpoint.listen()
  },

  async dial (addresses: string[]): Promise<void> {
    await endpoint.dial(addresses)
  },

  /** While nothing is in flight: negotiating takes round trips */
  async open (bulkStreams: number): Promise<void> {
    streams = await openStreams(async () => endpoint.openStream(), 1 + bulkStreams)
    streams.forEach(sendIndex)

    if (contestant.isMarked) {
      markUrgent(streams[URGENT_INDEX])
    }
  },

  /** A program of `peers` verifies what this end sends. Each of its replies tells how much of every stream is right. */
  startCountingReplies (): void {
    const [urgent, ...bulk] = streams

    readPieces(urgent, REPLY_BYTES, reply => {
      const rightBytes = Buffer.from(reply).readDoubleBE()
      check(rightBytes >= 0, URGENT_INDEX)
      verifiedBytes = bulk.length * rightBytes
    })
  },

  startBulk (): void {
    streams.forEach((stream, index) => {
      if (index !== URGENT_INDEX) {
        saturate(stream, index).catch(err => { fail(err, index) })
      }
    })
  },

  startWorking (): void {
    const untilMs = nowMs() + BUSY_TURN_MS

    while (nowMs() < untilMs) {
      // a program that computes
    }

    setImmediate(commands.startWorking)
  },

  startPausing (): void {
    setInterval(() => {
      received.forEach(stream => { stream.pause() })
      setTimeout(() => { received.forEach(stream => { stream.resume() }) }, PAUSE_MS)
    }, PAUSE_EVERY_MS)
  },

  /** What is received and spent in the window */
  async watch ({ fromMs, toMs }: Window): Promise<Watched> {
    await until(() => nowMs() >= fromMs)
    const before = { receivedBytes, verifiedBytes }
    const spentSince = startCounting()
    const instants = await sampleWatched(toMs)
    await until(() => nowMs() >= toMs)

    return { bulkBytes: receivedBytes - before.receivedBytes, verifiedBytes: verifiedBytes - before.verifiedBytes, cpuMs: spentSince().cpuMs, instants }
  },

  /** From now on; resolves when all are echoed */
  async sendUrgent ({ fromMs, toMs }: Window, intervalMs: number): Promise<Urgent> {
    const stream = streams[URGENT_INDEX]
    const sent: Array<{ dueMs: number, lateMs: number, echoedMs?: number }> = []
    let echoedBytes = 0

    stream.addEventListener('message', ({ data }) => {
      for (const bytes of viewsOf(data)) {
        check(isAt(echoedBytes, bytes), URGENT_INDEX)
        echoedBytes += bytes.byteLength
      }

      for (let message = Math.floor(echoedBytes / URGENT_MESSAGE_BYTES) - 1; message >= 0 && sent[message].echoedMs == null; message--) {
        sent[message].echoedMs = nowMs()
      }
    })

    // not asked whether to wait: what waits in the muxer counts
    await eachInterval(Math.floor((toMs - nowMs()) / intervalMs), intervalMs, nowMs, (message, dueMs) => {
      sent.push({ dueMs, lateMs: nowMs() - dueMs })
      stream.send(bytesAt(message * URGENT_MESSAGE_BYTES, URGENT_MESSAGE_BYTES))
    })
    await until(() => echoedBytes === sent.length * URGENT_MESSAGE_BYTES || nowMs() > toMs + LATEST_ECHO_MS)
    const measured = sent.filter(({ dueMs }) => dueMs >= fromMs)

    return {
      latenciesMs: Float64Array.from(measured, ({ dueMs, echoedMs }) => (echoedMs ?? nowMs()) - dueMs),
      lateMs: Float64Array.from(measured, ({ lateMs }) => lateMs)
    }
  },

  async measure (window: Window, urgentIntervalMs: number): Promise<Sent> {
    const [urgent, watched] = await Promise.all([commands.sendUrgent(window, urgentIntervalMs), commands.watch(window)])

    return { ...urgent, ...watched }
  }
}

export type PeerCommands = typeof commands

answer(commands)
