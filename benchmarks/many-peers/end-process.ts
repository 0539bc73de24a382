// A child process: the node that is asked, or all peers that ask it. Both verify what they get.
import { setTimeout as pause } from 'node:timers/promises'
import { startCounting } from '../pair/counters.ts'
import { createLibp2pEndpoint } from '../pair/endpoints/libp2p.ts'
import { answer } from '../../testing/programs/child.ts'
import { bytesAt, isAt, startOfStream } from '../../testing/verified/pattern.ts'
import { onVerified, sendIndex } from '../../testing/verified/stream-index.ts'
import { viewsOf } from '../../testing/verified/streams.ts'
import { MESSAGE_BYTES, PEERS, PERIOD_MS, STREAMS_PER_PEER } from './workload.ts'
import type { MuxerName } from '../contestants.ts'
import type { Spent } from '../pair/counters.ts'
import type { ManyPeersRow } from './workload.ts'
import type { Stream } from '@libp2p/interface'

export interface Answered extends Spent {
  answers: number
}

let failure: Error | undefined

function onWrong (err: Error): void {
  failure ??= err
}

// The node

let answers = 0

function onStream (stream: Stream): void {
  let askedBytes = 0
  let answeredBytes = 0

  onVerified(stream, (index, byteLength) => {
    askedBytes += byteLength

    while (askedBytes - answeredBytes >= MESSAGE_BYTES) {
      stream.send(bytesAt(startOfStream(index) + answeredBytes, MESSAGE_BYTES))
      answeredBytes += MESSAGE_BYTES
      answers++
    }
  }, onWrong)
}

// The peers

const asking: NodeJS.Timeout[] = []
let isOver = false
let missingBytes = 0
let allAnswered = () => {}

/** Returns what asks on it */
function startAsking (stream: Stream, index: number, { questions }: ManyPeersRow): () => void {
  let askedBytes = 0
  let answeredBytes = 0
  sendIndex(stream, index)

  stream.addEventListener('message', ({ data }) => {
    for (const bytes of viewsOf(data)) {
      if (!isAt(startOfStream(index) + answeredBytes, bytes)) {
        onWrong(new Error(`Stream ${index} got wrong bytes after ${answeredBytes} right ones`))
      }

      answeredBytes += bytes.byteLength
      missingBytes -= bytes.byteLength
    }

    if (missingBytes === 0) {
      allAnswered()
    }
  })
  stream.addEventListener('close', ({ error }) => {
    if (!isOver) {
      onWrong(new Error(`Stream ${index} closed: ${error?.message ?? 'without an error'}`))
    }
  })

  return () => {
    for (let question = 0; question < questions; question++) {
      stream.send(bytesAt(startOfStream(index) + askedBytes, MESSAGE_BYTES))
      askedBytes += MESSAGE_BYTES
      missingBytes += MESSAGE_BYTES
    }
  }
}

function askEach (periodMs: number, fromMs: number, ask: () => void): void {
  setTimeout(() => { asking.push(setInterval(ask, periodMs)) }, fromMs)
}

const commands = {
  /** Returns the addresses to dial */
  async listen (muxer: MuxerName): Promise<string[]> {
    const endpoint = await createLibp2pEndpoint(muxer, 'tcp-noise')
    await endpoint.handle(onStream)

    return endpoint.listen()
  },

  async answered (forMs: number): Promise<Answered> {
    const spent = startCounting()
    const before = answers
    await pause(forMs)

    if (failure != null) {
      throw failure
    }

    return { answers: answers - before, ...spent() }
  },

  async ask (muxer: MuxerName, addresses: string[], row: ManyPeersRow): Promise<void> {
    for (let peer = 0; peer < PEERS; peer++) {
      const endpoint = await createLibp2pEndpoint(muxer, 'tcp-noise')
      await endpoint.dial(addresses)
      const asks: Array<() => void> = []

      for (let i = 0; i < STREAMS_PER_PEER; i++) {
        asks.push(startAsking(await endpoint.openStream(), peer * STREAMS_PER_PEER + i, row))
      }

      if (row.asksTogether) {
        askEach(PERIOD_MS, PERIOD_MS * peer / PEERS, () => { asks.forEach(ask => { ask() }) })
      } else {
        asks.forEach((ask, i) => { askEach(PERIOD_MS, PERIOD_MS * (peer / PEERS + i) / STREAMS_PER_PEER, ask) })
      }
    }
  },

  /** When all that was asked is answered */
  async stopAsking (): Promise<void> {
    asking.forEach(clearInterval)
    await new Promise<void>(resolve => {
      allAnswered = resolve

      if (missingBytes === 0 || failure != null) {
        resolve()
      }
    })
    isOver = true

    if (failure != null) {
      throw failure
    }
  }
}

export type PeerCommands = typeof commands

answer(commands)
