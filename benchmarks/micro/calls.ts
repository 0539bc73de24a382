// How many function calls a request of 100 bytes and its answer take, both ends together: on an open stream, and on a new one that
// is opened, negotiated and closed. V8 counts them (precise coverage), so the figures are exact and the same on every machine. A
// node with many quiet connections runs its code cold, and there the time goes by calls.
import { Session } from 'node:inspector/promises'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { StreamMessageEvent } from '@libp2p/interface'
import { mplex } from '@libp2p/mplex'
import { handle, select } from '@libp2p/multistream-select'
import { yamux as stock } from '@libp2p/yamux'
import Table from 'cli-table3'
import { yamux } from '../../src/index.ts'
import { Transport } from './transport.ts'
import type { Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'
import type { Profiler } from 'node:inspector'

const MESSAGE_BYTES = 100
const PROTOCOL = '/calls/1.0.0'
/** So many are counted, behind as many that make what is made once */
const REQUESTS = 20
/** What follows the end of a stream takes a few turns */
const TURNS_OF_AN_END = 4

const factories: Record<string, () => StreamMuxerFactory> = {
  ours: () => yamux({ enableKeepAlive: false })(),
  stock: () => stock({ enableKeepAlive: false })(),
  // its default ends a connection that opens more than 5 streams a second
  mplex: () => mplex({ disconnectThreshold: Infinity })() as StreamMuxerFactory
}

const works = ['on an open stream', 'on a new stream'] as const

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
async function prepare (contestant: string, work: typeof works[number]): Promise<() => Promise<void>> {
  const [dialler, listener] = connect(factories[contestant]())
  const isNew = work === 'on a new stream'

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

/** Not this file's own functions, nor Node's */
function isCounted (url: string): boolean {
  return url.startsWith('file:') && !fileURLToPath(url).startsWith(import.meta.dirname)
}

/** How often each function is called for one request */
async function countCalls (contestant: string, work: typeof works[number]): Promise<Map<string, number>> {
  const requestOnce = await prepare(contestant, work)
  const session = new Session()
  const calls = new Map<string, number>()
  session.connect()

  for (let i = 0; i < 2 * REQUESTS; i++) {
    if (i === REQUESTS) {
      await setImmediate()
      await session.post('Profiler.enable')
      await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
    }

    await requestOnce()
  }

  await setImmediate()
  const { result } = await session.post('Profiler.takePreciseCoverage') as Profiler.TakePreciseCoverageReturnType
  session.disconnect()

  for (const { url, functions } of result.filter(({ url }) => isCounted(url))) {
    for (const { functionName, ranges: [{ count, startOffset }] } of functions) {
      if (count > 0) {
        calls.set(`${url.split('/').slice(-3).join('/')}, ${functionName === '' ? `at ${startOffset}` : functionName}`, count / REQUESTS)
      }
    }
  }

  return calls
}

const { values } = parseArgs({
  options: {
    /** For programs */
    json: { type: 'boolean', default: false },
    /** Lists the functions that a muxer calls: ours, stock or mplex */
    functions: { type: 'string' }
  }
})
const counts: Record<string, Record<string, number>> = {}

for (const work of works) {
  counts[work] = {}

  for (const contestant of Object.keys(factories)) {
    const calls = await countCalls(contestant, work)
    counts[work][contestant] = [...calls.values()].reduce((sum, count) => sum + count, 0)

    if (contestant === values.functions) {
      const sorted = [...calls].sort(([, a], [, b]) => b - a)
      console.info(`${work}\n${sorted.map(([name, count]) => `${count.toFixed(2).padStart(8)}  ${name}`).join('\n')}\n`)
    }
  }
}

if (values.json) {
  console.info(JSON.stringify(counts))
} else {
  const table = new Table({ head: ['calls for a request', ...Object.keys(factories)], style: { head: [], border: [] } })
  table.push(...Object.entries(counts).map(([work, byContestant]) => [work, ...Object.values(byContestant).map(count => Math.round(count))]))
  console.info(table.toString())
}
