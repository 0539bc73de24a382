// A request of 100 bytes and its answer, both ends in this process, one after the other: on an open stream, and on a new one that is
// opened, negotiated and closed. The transport only carries chunks over.
import { setImmediate } from 'node:timers/promises'
import { StreamMessageEvent } from '@libp2p/interface'
import { mplex } from '@libp2p/mplex'
import { handle, select } from '@libp2p/multistream-select'
import { yamux as stock } from '@libp2p/yamux'
import { yamux } from '../../src/index.ts'
import { Transport } from './transport.ts'
import type { Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

const MESSAGE_BYTES = 100
const PROTOCOL = '/calls/1.0.0'
/** What follows the end of a stream takes a few turns */
const TURNS_OF_AN_END = 4

const factories: Record<string, () => StreamMuxerFactory> = {
  ours: () => yamux({ enableKeepAlive: false })(),
  stock: () => stock({ enableKeepAlive: false })(),
  // its default ends a connection that opens more than 5 streams a second
  mplex: () => mplex({ disconnectThreshold: Infinity })() as StreamMuxerFactory
}

export const contestants = Object.keys(factories).map(id => ({ id, label: id }))

export const works = [{ id: 'open-stream', label: 'on an open stream' }, { id: 'new-stream', label: 'on a new stream' }] as const

export type Work = typeof works[number]['id']

/** An end that brings what it is sent to the other one, in a turn of its own */
class Wire extends Transport {
  readonly #bring: (bytes: Uint8Array) => void

  constructor (direction: 'inbound' | 'outbound', bring: (bytes: Uint8Array) => void) {
    super(direction)
    this.#bring = bring
  }

  override send (bytes: any): boolean {
    globalThis.setImmediate(this.#bring, bytes)

    return true
  }
}

function connect (factory: StreamMuxerFactory): [StreamMuxer, StreamMuxer] {
  const ends: Wire[] = [
    new Wire('outbound', bytes => { ends[1].dispatchEvent(new StreamMessageEvent(bytes)) }),
    new Wire('inbound', bytes => { ends[0].dispatchEvent(new StreamMessageEvent(bytes)) })
  ]

  return [factory.createStreamMuxer(ends[0].asMessageStream), factory.createStreamMuxer(ends[1].asMessageStream)]
}

async function request (stream: Stream): Promise<void> {
  const answered = new Promise<void>((resolve, reject) => {
    stream.addEventListener('message', ({ data }) => {
      if (data.byteLength === MESSAGE_BYTES) {
        resolve()
      } else {
        reject(new Error(`${data.byteLength} bytes came back instead of ${MESSAGE_BYTES}`))
      }
    }, { once: true })
  })
  stream.send(new Uint8Array(MESSAGE_BYTES))
  await answered
}

function answer (stream: Stream): void {
  stream.addEventListener('message', ({ data }) => { stream.send(data) })
  stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
}

/** Returns what makes one request */
export async function prepare (contestant: string, work: Work): Promise<() => Promise<void>> {
  const [dialler, listener] = connect(factories[contestant]())
  const isNew = work === 'new-stream'

  listener.addEventListener('stream', ({ detail: stream }) => {
    if (isNew) {
      handle(stream, [PROTOCOL]).then(() => { answer(stream) }, err => { stream.abort(err) })
    } else {
      answer(stream)
    }
  })

  if (!isNew) {
    const stream = await dialler.createStream()

    return async () => request(stream)
  }

  return async () => {
    const stream = await dialler.createStream()
    await select(stream, [PROTOCOL])
    await request(stream)
    stream.close().catch(() => {})

    for (let turn = 0; turn < TURNS_OF_AN_END; turn++) {
      await setImmediate()
    }
  }
}
