// What the muxer of an idle connection holds on V8's heap, without the transport below it: median of rounds, each muxer in turn.
import { setTimeout } from 'node:timers/promises'
import { mplex } from '@libp2p/mplex'
import { yamux as stock } from '@libp2p/yamux'
import { yamux } from '../../src/index.ts'
import { yamux as light } from '../../src/light.ts'
import { parseRecordPath } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { runRounds } from '../harness/rounds.ts'
import { figure, format, renderSamples, times } from '../harness/table.ts'
import { Transport } from './transport.ts'
import type { StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'

const ROUNDS = 9
const CONNECTIONS = 2000
/** What is made once for all connections, and what V8 compiles, is there after these */
const FIRST_CONNECTIONS = 200

const row = { id: 'idle', label: 'an idle connection' }

const contestants = [
  { id: 'ours', label: 'ours', factory: yamux()() },
  { id: 'ours-light', label: 'ours, light', factory: light()() },
  { id: 'stock', label: 'stock', factory: stock()() },
  { id: 'mplex', label: 'mplex', factory: mplex()() as StreamMuxerFactory }
]

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

const json = parseRecordPath()

for (const { factory } of contestants) {
  connect(factory, FIRST_CONNECTIONS).open()
}

const samples = await runRounds({
  row,
  contestants,
  rounds: ROUNDS,
  measure: async ({ factory }) => ({ kib: await measureBytes(factory) / 1024 }),
  describe: ({ kib }) => `${format(kib)} KiB`
})

await report({
  tables: [renderSamples(samples, [row], contestants, [figure('KiB', 'kib'), times('memory', 'kib', 'stock')])],
  extent: `${ROUNDS} rounds of ${CONNECTIONS.toLocaleString('en')} connections`,
  legend: 'What the muxer of a connection without streams holds on V8\'s heap. × stock compares within each round: median (lowest–highest)',
  json,
  measured: { samples }
})
process.exit()
