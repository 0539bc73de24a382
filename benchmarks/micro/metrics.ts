// What metrics cost: one send of 100 bytes and the flush that writes it, without metrics and with a
// sink that does nothing.
//
// What the branches cost that are not taken without metrics cannot be measured, but it is less than what
// they cost when they are taken, which is the difference. `off` writes inside each send; `turn` is the
// default, and its figures hold the way round the event loop.
import { setImmediate } from 'node:timers/promises'
import { StreamMessageEvent, TypedEventEmitter } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import Table from 'cli-table3'
import { Bench } from 'tinybench'
import { yamux } from '../../src/index.ts'
import type { Strategy } from '../../src/index.ts'
import type { MessageStream, MessageStreamEvents, Metrics } from '@libp2p/interface'

const STRATEGIES: Strategy[] = ['off', 'turn']
const SENDS_PER_RUN = 1000
const PAYLOAD = new Uint8Array(100)
const TYPE_WINDOW_UPDATE = 1

const noOp = { increment: () => {}, observe: () => {} }
const register = (): typeof noOp => noOp
const noOpMetrics = {
  registerCounterGroup: register,
  registerHistogram: register,
  registerHistogramGroup: register,
  registerMetric: register,
  registerMetricGroup: register
} as unknown as Metrics

const sinks: Record<string, Metrics | undefined> = { 'without metrics': undefined, 'with a no-op sink': noOpMetrics }

/** The muxer's end of a connection whose other end is this benchmark */
class Outlet extends TypedEventEmitter<MessageStreamEvents> {
  direction = 'outbound'
  status = 'open'
  log = defaultLogger().forComponent('benchmark')
  writeCount = 0

  send (): boolean {
    this.writeCount++

    return true
  }

  /** Gives the first stream credit for a run */
  grant (): void {
    const bytes = new Uint8Array(12)
    const view = new DataView(bytes.buffer)
    view.setUint8(1, TYPE_WINDOW_UPDATE)
    view.setUint32(4, 1)
    view.setUint32(8, SENDS_PER_RUN * PAYLOAD.byteLength)
    this.dispatchEvent(new StreamMessageEvent(bytes))
  }
}

async function createSender (strategy: Strategy, metrics: Metrics | undefined): Promise<() => Promise<void>> {
  const outlet = new Outlet()
  const factory = yamux({ enableKeepAlive: false, coalesce: { strategy } })({ metrics })
  const stream = await factory.createStreamMuxer(outlet as unknown as MessageStream).createStream()
  stream.inactivityTimeout = Infinity
  await setImmediate()

  return async () => {
    outlet.writeCount = 0
    outlet.grant()

    for (let i = 0; i < SENDS_PER_RUN; i++) {
      stream.send(PAYLOAD)

      if (strategy !== 'off') {
        await setImmediate()
      }
    }

    if (outlet.writeCount !== SENDS_PER_RUN) {
      throw new Error(`wrote ${outlet.writeCount} times, sent ${SENDS_PER_RUN} times`)
    }
  }
}

const bench = new Bench({ time: 2000, warmupTime: 500, throws: true })

for (const strategy of STRATEGIES) {
  for (const [name, metrics] of Object.entries(sinks)) {
    bench.add(`${strategy} ${name}`, await createSender(strategy, metrics))
  }
}

await bench.run()

function nsPerSend (strategy: Strategy, name: string): number {
  const { result } = bench.getTask(`${strategy} ${name}`) ?? {}

  if (result == null || !('latency' in result)) {
    throw new Error(`no result for ${strategy} ${name}: ${JSON.stringify(result)}`)
  }

  return result.latency.p50 * 1e6 / SENDS_PER_RUN
}

const table = new Table({ head: ['strategy', ...Object.keys(sinks).map(name => `${name}, ns per send and flush`), 'ratio'] })

for (const strategy of STRATEGIES) {
  const [without, withSink] = Object.keys(sinks).map(name => nsPerSend(strategy, name))
  table.push([strategy, ...[without, withSink].map(ns => Math.round(ns).toLocaleString('en')), (withSink / without).toFixed(2)])
}

console.info(table.toString())
process.exit()
