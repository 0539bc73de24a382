// A child process: one end of a connection. One of the two works in each turn of its event loop; what it is sent it verifies, and answers.
import { pEvent } from 'p-event'
import { answer } from '../../testing/programs/child.ts'
import { nowMs } from '../../testing/programs/clock.ts'
import { createLibp2pEndpoint } from '../pair/endpoints/libp2p.ts'
import { bytesAt, isAt, startOfStream } from '../../testing/verified/pattern.ts'
import { onIndexed, sendIndex } from '../../testing/verified/stream-index.ts'
import { openStreams, viewsOf } from '../../testing/verified/streams.ts'
import { SENT_MESSAGE_BYTES } from './workload.ts'
import type { Endpoint } from '../pair/endpoints/endpoint.ts'
import type { MuxerName } from '../contestants.ts'
import type { BusyRow } from './workload.ts'
import type { Stream, StreamCloseEvent } from '@libp2p/interface'

let row: BusyRow
let endpoint: Endpoint
let streams: Stream[] = []
let isWorking = false
const turnEndsMs: number[] = []

const allBegun = Promise.withResolvers<void>()
let allArrived = createArrival()
let begunStreams = 0
let wholeStreams = 0
/** How often everything has been sent before */
let exchanges = 0

/** When everything of an exchange was here */
function createArrival (): PromiseWithResolvers<number> {
  const arrival = Promise.withResolvers<number>()
  // an error is for whoever asks, and nobody may have asked yet
  arrival.promise.catch(() => {})

  return arrival
}

function closedError (index: number, { error }: StreamCloseEvent): Error {
  return new Error(`Stream ${index} closed: ${error?.message ?? 'without an error'}`)
}

/** `byteLength` bytes in each exchange */
function verifier (stream: Stream, index: number, byteLength: number, onWhole = (_arrivedBytes: number) => {}): (bytes: Uint8Array) => void {
  let arrivedBytes = 0

  stream.addEventListener('close', evt => { allArrived.reject(closedError(index, evt)) })

  return bytes => {
    if (!isAt(startOfStream(index) + arrivedBytes, bytes)) {
      allArrived.reject(new Error(`Wrong bytes on stream ${index}`))
    }

    arrivedBytes += bytes.byteLength

    if (byteLength === 0 || arrivedBytes % byteLength > 0) {
      return
    }

    onWhole(arrivedBytes)
    wholeStreams++

    if (wholeStreams === row.streams) {
      wholeStreams = 0
      allArrived.resolve(nowMs())
    }
  }
}

function onStream (stream: Stream): void {
  onIndexed(stream, index => {
    begunStreams++

    if (begunStreams === row.streams) {
      allBegun.resolve()
    }

    return verifier(stream, index, row.sentBytes, arrivedBytes => {
      const exchange = arrivedBytes / row.sentBytes - 1

      if (row.answerBytes > 0) {
        stream.send(bytesAt(startOfStream(index) + exchange * row.answerBytes, row.answerBytes))
      }
    })
  })
}

async function send (stream: Stream, index: number): Promise<void> {
  const start = startOfStream(index) + exchanges * row.sentBytes
  let canSend = true

  for (let sentBytes = 0; sentBytes < row.sentBytes; sentBytes += SENT_MESSAGE_BYTES) {
    if (!canSend) {
      // onDrain() of @libp2p/yamux resolves at once after its first use
      await pEvent(stream, 'drain', { rejectionEvents: ['close'] }).catch(evt => { throw closedError(index, evt) })
    }

    canSend = stream.send(bytesAt(start + sentBytes, Math.min(SENT_MESSAGE_BYTES, row.sentBytes - sentBytes)))
  }
}

/** A turn of the event loop runs it once. What comes from the socket is read between two of these. */
function work (): void {
  const startMs = nowMs()
  let endMs

  do {
    endMs = nowMs()
  } while (endMs < startMs + row.workMs)

  turnEndsMs.push(endMs)

  if (isWorking) {
    setImmediate(work)
  }
}

const commands = {
  /** Returns the addresses to dial */
  async start (muxer: MuxerName, toDo: BusyRow): Promise<string[]> {
    row = toDo
    endpoint = await createLibp2pEndpoint(muxer, 'tcp-noise')
    await endpoint.handle(onStream)

    return endpoint.listen()
  },

  async dial (addresses: string[]): Promise<void> {
    await endpoint.dial(addresses)
  },

  async open (): Promise<void> {
    streams = await openStreams(async () => endpoint.openStream(), row.streams)

    streams.forEach((stream, index) => {
      const verify = verifier(stream, index, row.answerBytes)

      sendIndex(stream, index)
      stream.addEventListener('message', ({ data }) => {
        for (const bytes of viewsOf(data)) {
          verify(bytes)
        }
      })
    })
  },

  /** When the streams of the other end are here */
  async opened (): Promise<void> {
    await allBegun.promise
  },

  startWork (): void {
    isWorking = true
    // behind the reply, which tells the other end to send
    setImmediate(work)
  },

  /** On all streams at once. Returns when it began. */
  async send (): Promise<number> {
    const startMs = nowMs()
    await Promise.all(streams.map(send))
    exchanges++

    return startMs
  },

  /** Returns when the last byte was here */
  async arrived (): Promise<number> {
    const arrivedMs = await allArrived.promise
    allArrived = createArrival()

    return arrivedMs
  },

  /** Returns when each turn's work has ended so far */
  turnEnds (): number[] {
    return turnEndsMs
  },

  stopWork (): void {
    isWorking = false
  }
}

export type PeerCommands = typeof commands

answer(commands)
