// Sinks of metrics: none, and such as throw, disturb nobody.
import { StreamMessageEvent } from '@libp2p/interface'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { yamux } from '../../src/index.ts'
import { ACK, concat, data, frame, GO_AWAY, parseFrames, ping, RST, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer } from './fixtures/metered-peer.ts'
import { RecordingMetrics } from './fixtures/recording-metrics.ts'
import type { Muxer } from '../../src/muxer/muxer.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'
import type { ComponentLogger, MessageStream, Metrics } from '@libp2p/interface'

type Conversation = Pick<RawPeer, 'muxer' | 'deliver' | 'takeFrames'>

/** Opens and uses a stream in both directions, and measures a round trip */
async function expectToWork ({ muxer, deliver, takeFrames }: Conversation): Promise<void> {
  const received: number[] = []
  const stream = await muxer.createStream()
  const measured = muxer.ping()
  stream.addEventListener('message', ({ data }) => { received.push(...data.subarray()) })
  stream.send(Uint8Array.of(1, 2, 3))
  await nextTurn()
  deliver(ping(0, ACK), data(1, Uint8Array.of(4, 5, 6), ACK))

  expect(takeFrames().map(({ payload }) => [...payload])).toEqual([[], [], [1, 2, 3]])
  expect(received).toEqual([4, 5, 6])
  expect(await measured).toBeGreaterThanOrEqual(0)

  deliver(frame(4, 0, 1))
  expect(takeFrames()).toMatchObject([{ type: WINDOW_UPDATE, flags: RST }, { type: GO_AWAY, length: 1 }])
  expect([muxer.status, stream.status]).toEqual(['closed', 'aborted'])
}

describe('a sink that throws', () => {
  const fail = vi.fn(() => { throw new Error('the sink is broken') })

  afterEach(() => { fail.mockClear() })

  test('whatever it is told, disturbs nobody', async () => {
    const metric = { increment: fail, observe: fail }
    const register = (): typeof metric => metric
    const calculated: Array<() => number> = []
    const registerMetric = (_: string, { calculate }: { calculate (): number }): void => { calculated.push(calculate) }
    const metrics = { registerCounter: register, registerCounterGroup: register, registerHistogram: register, registerHistogramGroup: register, registerMetric, registerMetricGroup: register }
    await expectToWork(createMeteredPeer({ metrics: metrics as unknown as Metrics }))

    expect(fail).not.toHaveBeenCalled()

    // the reasons of three flushes, of each the bytes and the frames, a wait, a round trip and a violation
    calculated.forEach(calculate => calculate())
    expect(fail).toHaveBeenCalledTimes(1 + 6 + 1 + 1 + 1)
  })

  test('when a metric is registered, is done without; the log says so', async () => {
    const errors: unknown[] = []
    const logger = { forComponent: (name: string) => ({ error: (_: string, err: Error) => { errors.push(name, err.message) } }) }
    const sink = new RecordingMetrics()
    const metrics = Object.assign(sink.asMetrics, { registerMetricGroup: fail })
    const transport = new RawTransport('outbound')
    const factory = yamux({ enableKeepAlive: false })({ metrics, logger: logger as unknown as ComponentLogger })
    await expectToWork({
      muxer: factory.createStreamMuxer(transport as unknown as MessageStream) as Muxer,
      deliver: (...parts) => { transport.dispatchEvent(new StreamMessageEvent(concat(...parts))) },
      takeFrames: () => transport.writes.splice(0).flatMap(write => parseFrames(write.subarray()))
    })

    expect(errors).toEqual(['libp2p:yamux', 'the sink is broken'])
    expect(sink.counts('flushes_total')).toEqual({})
  })

  test('when a metric is registered, needs no log', () => {
    const metrics = new Proxy({}, { get: () => fail }) as Metrics

    expect(() => yamux()({ metrics })).not.toThrow()
    expect(fail).toHaveBeenCalledOnce()
  })
})

describe('the factory', () => {
  test('registers the metrics of each node once, not of each connection', () => {
    const sink = new RecordingMetrics()
    const factory = yamux({ enableKeepAlive: false })({ metrics: sink.asMetrics })
    factory.createStreamMuxer(new RawTransport('outbound') as unknown as MessageStream)
    factory.createStreamMuxer(new RawTransport('inbound') as unknown as MessageStream)

    expect(new Set(sink.names).size).toBe(18)
    expect(sink.names).toHaveLength(18)
  })
})
