// What the muxer of an idle connection holds on V8's heap, without the transport below it: median of rounds, each muxer in turn.
import { setTimeout } from 'node:timers/promises'
import { mplex } from '@libp2p/mplex'
import { yamux as stock } from '@libp2p/yamux'
import Table from 'cli-table3'
import { median } from 'simple-statistics'
import { yamux } from '../../src/index.ts'
import { yamux as light } from '../../src/light.ts'
import { takeNoOptions } from '../harness/options.ts'
import { Transport } from './transport.ts'
import type { StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

const ROUNDS = 9
const CONNECTIONS = 2000
/** What is made once for all connections, and what V8 compiles, is there after these */
const FIRST_CONNECTIONS = 200

const factories: Record<string, StreamMuxerFactory> = {
  ours: yamux()(),
  light: light()(),
  stock: stock()(),
  mplex: mplex()() as StreamMuxerFactory
}

function connect (factory: StreamMuxerFactory, count: number): { transports: Transport[], open: () => StreamMuxer[] } {
  const transports = Array.from({ length: count }, () => new Transport('outbound'))

  return { transports, open: () => transports.map(transport => factory.createStreamMuxer(transport.asMessageStream)) }
}

function heapBytes (): number {
  globalThis.gc?.()
  globalThis.gc?.()

  return process.memoryUsage().heapUsed
}

async function measureBytes (factory: StreamMuxerFactory): Promise<number> {
  const { transports, open } = connect(factory, CONNECTIONS)
  const beforeBytes = heapBytes()
  const muxers = open()
  await setTimeout(10)
  const bytes = (heapBytes() - beforeBytes) / CONNECTIONS
  muxers.forEach(muxer => { muxer.abort(new Error('measured')) })
  await setTimeout(10)

  return transports.length === muxers.length ? bytes : NaN
}

takeNoOptions()

const bytes: Record<string, number[]> = {}

for (const factory of Object.values(factories)) {
  connect(factory, FIRST_CONNECTIONS).open()
}

for (let round = 0; round < ROUNDS; round++) {
  for (const [name, factory] of Object.entries(factories)) {
    (bytes[name] ??= []).push(await measureBytes(factory))
  }
}

const table = new Table({ head: ['KiB of an idle connection', '', '× stock'] })
table.push(...Object.entries(bytes).map(([name, each]) => [name, (median(each) / 1024).toFixed(1), (median(each) / median(bytes.stock)).toFixed(2)]))
console.info(table.toString())
process.exit()
