// What one received DATA frame costs while 1, 100 and 10,000 streams are open: ours and stock.
//
// Each frame comes as a chunk of its own, for the streams in turn, so that no two of them can share
// an event and every frame does the same work whatever the number of streams.
import { setImmediate } from 'node:timers/promises'
import { yamux as stockYamux } from '@libp2p/yamux'
import { FLAG_SYN, TYPE_DATA } from '../../src/core/wire/frame.ts'
import { yamux } from '../../src/index.ts'
import { parseRecordPath } from '../harness/options.ts'
import { report } from '../harness/report.ts'
import { figure, renderSamples } from '../harness/table.ts'
import { nsPerOperation } from './timed.ts'
import { frameOf, Transport } from './transport.ts'
import type { Sample } from '../harness/samples.ts'
import type { Run } from './timed.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

const STREAM_COUNTS = [1, 100, 10_000]
const FRAMES_PER_RUN = 1000
const PAYLOAD_BYTES = 100

type Metric = 'ns' | 'timesAtOneStream'

const columns = [figure<Metric>('ns', 'ns'), figure<Metric>('× 1\nstream', 'timesAtOneStream')]

const factories = {
  ours: yamux({ maxInboundStreams: Infinity, enableKeepAlive: false })(),
  stock: stockYamux({ maxInboundStreams: Infinity, enableKeepAlive: false })()
}

/** The dialler's ids are odd, from 1 */
function dataFrame (streamIndex: number, flags: number, payloadBytes: number): Uint8Array {
  return frameOf(TYPE_DATA, flags, streamIndex * 2 + 1, payloadBytes, payloadBytes)
}

async function createReceiver (factory: StreamMuxerFactory, streamCount: number): Promise<Run> {
  const transport = new Transport('inbound')
  const muxer = factory.createStreamMuxer(transport.asMessageStream)
  const frames: Uint8Array[] = []
  const { promise: announced, resolve: announce } = Promise.withResolvers<void>()
  let announcedCount = 0
  let receivedBytes = 0
  let next = 0

  muxer.addEventListener('stream', ({ detail: stream }) => {
    stream.inactivityTimeout = Infinity
    stream.addEventListener('message', ({ data }) => { receivedBytes += data.byteLength })

    if (++announcedCount === streamCount) {
      announce()
    }
  })

  for (let i = 0; i < streamCount; i++) {
    transport.deliver(dataFrame(i, FLAG_SYN, 0))
    frames.push(dataFrame(i, 0, PAYLOAD_BYTES))
  }

  // ours announces many streams over several turns; before that nobody listens to them
  await announced

  return {
    async run () {
      receivedBytes = 0

      for (let i = 0; i < FRAMES_PER_RUN; i++) {
        transport.deliver(frames[next])
        next = next + 1 === streamCount ? 0 : next + 1
      }

      // window updates leave when the turn ends
      await setImmediate()
    },
    check () {
      if (receivedBytes !== FRAMES_PER_RUN * PAYLOAD_BYTES) {
        throw new Error(`received ${receivedBytes} bytes, sent ${FRAMES_PER_RUN * PAYLOAD_BYTES}`)
      }
    }
  }
}

const json = parseRecordPath()
const runs: Record<string, Run> = {}

for (const [name, factory] of Object.entries(factories)) {
  for (const streamCount of STREAM_COUNTS) {
    runs[`${name} ${streamCount}`] = await createReceiver(factory, streamCount)
  }
}

const ns = await nsPerOperation(runs, FRAMES_PER_RUN, 1000)
const muxers = Object.keys(factories).map(id => ({ id, label: id }))
const rows = STREAM_COUNTS.map(count => ({ id: String(count), label: `${count.toLocaleString('en')} open streams` }))
const samples: Array<Sample<Metric>> = rows.flatMap(({ id: rowId }) => muxers.map(({ id: muxer }) => {
  const nsPerFrame = ns[`${muxer} ${rowId}`]

  return { rowId, muxer, round: 1, metrics: { ns: nsPerFrame, timesAtOneStream: nsPerFrame / ns[`${muxer} ${STREAM_COUNTS[0]}`] } }
}))

await report({
  tables: [renderSamples(samples, rows, muxers, columns)],
  extent: 'each for a second',
  legend: `Of a received DATA frame of ${PAYLOAD_BYTES} B; × 1 stream compares with the same muxer`,
  json,
  measured: { samples }
})
process.exit()
