// What libp2p's own metrics count of a stream, whoever reads it and however: what they count with stock.
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { Registry } from 'prom-client'
import { describe, expect, test } from 'vitest'
import { OWN_MUXERS } from '../../testing/muxers.ts'
import { connect, openBoth } from './fixtures/connected-pair.ts'
import { WAYS } from './fixtures/ways.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Way } from './fixtures/ways.ts'

const PROTOCOL = '/counted/1'

/** The lines of a scrape that speak of the protocol */
async function countedOf (muxer: MuxerName, { write, read }: Way): Promise<string[]> {
  const pair = await connect({ dialler: muxer, listener: muxer })
  const registry = new Registry()
  const metrics = prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger: { forComponent: () => () => {} } } as any)

  try {
    const streams = await openBoth(pair)

    for (const stream of streams) {
      stream.protocol = PROTOCOL
      metrics.trackProtocolStream(stream)
    }

    await Promise.all([write(streams[0]), read(streams[1])])

    return (await registry.metrics()).split('\n').filter(line => line.includes(PROTOCOL))
  } finally {
    pair.disconnect()
  }
}

describe.each(OWN_MUXERS)('with %s', muxer => {
  test.each(Object.keys(WAYS))('a stream that is read %s', async name => {
    const counted = await countedOf(muxer, WAYS[name])

    // what it sent, and what it received
    expect(counted).toHaveLength(2)
    expect(counted.sort()).toEqual((await countedOf('stock', WAYS[name])).sort())
  })
})
