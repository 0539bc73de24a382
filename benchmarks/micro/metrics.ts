// What metrics cost: one send of 100 bytes and the flush that writes it, without metrics and with a
// sink that does nothing.
//
// What the branches cost that are not taken without metrics cannot be measured, but it is less than what
// they cost when they are taken, which is the difference. `off` writes inside each send; `turn` is the
// default, and its figures hold the way round the event loop.
import { setImmediate } from 'node:timers/promises'
import Table from 'cli-table3'
import { HEADER_BYTES, TYPE_WINDOW_UPDATE } from '../../src/core/wire/frame.ts'
import { yamux } from '../../src/index.ts'
import { nsPerOperation } from './timed.ts'
import { frameOf, Transport, UNBOUNDED } from './transport.ts'
import type { Strategy } from '../../src/index.ts'
import type { Metrics } from '@libp2p/interface'

const STRATEGIES: Strategy[] = ['off', 'turn']
const SENDS_PER_RUN = 1000
/** Each is written by itself, which a turn ends after 5 ms */
const SENDS_PER_TURN_OF_OFF = 50
const PAYLOAD = new Uint8Array(100)

const noOp = { increment: () => {}, observe: () => {} }
const register = (): typeof noOp => noOp
const noOpMetrics = {
  registerCounter: register,
  registerCounterGroup: register,
  registerHistogram: register,
  registerHistogramGroup: register,
  registerMetric: register,
  registerMetricGroup: register
} as unknown as Metrics

const sinks: Record<string, Metrics | undefined> = { 'without metrics': undefined, 'with a no-op sink': noOpMetrics }

async function createSender (strategy: Strategy, metrics: Metrics | undefined): Promise<() => Promise<void>> {
  const transport = new Transport('outbound')
  const grant = frameOf(TYPE_WINDOW_UPDATE, 0, 1, SENDS_PER_RUN * PAYLOAD.byteLength)
  const factory = yamux({ enableKeepAlive: false, coalesce: { ...UNBOUNDED, strategy } })({ metrics })
  const stream = await factory.createStreamMuxer(transport.asMessageStream).createStream()
  stream.inactivityTimeout = Infinity
  await setImmediate()

  return async () => {
    transport.writtenBytes = 0
    transport.deliver(grant)

    for (let i = 1; i <= SENDS_PER_RUN; i++) {
      stream.send(PAYLOAD)

      if (strategy !== 'off' || i % SENDS_PER_TURN_OF_OFF === 0) {
        await setImmediate()
      }
    }

    const payloadBytes = transport.writtenBytes - SENDS_PER_RUN * HEADER_BYTES

    if (payloadBytes !== SENDS_PER_RUN * PAYLOAD.byteLength) {
      throw new Error(`wrote ${payloadBytes} bytes of payload, sent ${SENDS_PER_RUN * PAYLOAD.byteLength}`)
    }
  }
}

const runs: Record<string, () => Promise<void>> = {}

for (const strategy of STRATEGIES) {
  for (const [name, metrics] of Object.entries(sinks)) {
    runs[`${strategy} ${name}`] = await createSender(strategy, metrics)
  }
}

const ns = await nsPerOperation(runs, SENDS_PER_RUN, 2000)
const table = new Table({ head: ['strategy', ...Object.keys(sinks).map(name => `${name}, ns per send and flush`), 'ratio'] })

for (const strategy of STRATEGIES) {
  const [without, withSink] = Object.keys(sinks).map(name => ns[`${strategy} ${name}`])
  table.push([strategy, ...[without, withSink].map(ns => Math.round(ns).toLocaleString('en')), (withSink / without).toFixed(2)])
}

console.info(table.toString())
process.exit()
