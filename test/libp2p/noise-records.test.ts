// How many records Noise seals for what the muxer writes, by Noise's own metrics.
import { setTimeout as sleep } from 'node:timers/promises'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { Registry } from 'prom-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { PROTOCOLS } from '../../testing/libp2p/handlers.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import type { TestNode } from '../../testing/libp2p/serving-node.ts'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'

/** A record of 65,535 bytes, less the tag and a header */
const FULL_FRAME_BYTES = 65_519 - 12

describe.each([
  ['by default', {}],
  ['with writes of two records', { maxBytes: 2 * 65_519 }],
  ['with a delay', { delayMs: 1 }]
] as const)('%s', (_, coalesce) => {
  let registry: Registry
  let node: Libp2p
  let peer: TestNode
  let connection: Connection

  async function recordCount (): Promise<number> {
    const metric = await registry.getSingleMetric('libp2p_noise_encrypted_packets_total')?.get()

    return metric?.values[0].value ?? NaN
  }

  /** Streams that have said all that they have to say about being opened */
  async function openStreams (count: number): Promise<Stream[]> {
    const streams = await Promise.all(Array.from({ length: count }, async () => connection.newStream(PROTOCOLS.hang, { maxOutboundStreams: 1000 })))
    let before: number

    do {
      before = await recordCount()
      await sleep(50)
    } while (await recordCount() !== before)

    return streams
  }

  /** The records of what is sent within a turn, a message of so many bytes on each stream */
  async function recordsOf (streams: Stream[], messageBytes: number): Promise<number> {
    const before = await recordCount()
    streams.forEach(stream => stream.send(new Uint8Array(messageBytes)))

    while (streams.some(stream => stream.writeBufferLength > 0)) {
      await sleep(1)
    }

    return await recordCount() - before
  }

  beforeAll(async () => {
    registry = new Registry()
    peer = await createServingNode('ours')
    node = await createNode('ours', {
      // a mark may be a record
      streamMuxers: [yamux({ coalesce: { ...coalesce, maxQueueDelayMs: Infinity }, enableKeepAlive: false })],
      metrics: prometheusMetrics({ registry, collectDefaultMetrics: false })
    })
    connection = await node.dial(peer.libp2p.getMultiaddrs())
  })

  afterAll(async () => {
    await node?.stop()
    await peer?.libp2p.stop()
  })

  test('a full batch is one record, or a whole number of them', async () => {
    const streams = await openStreams(1)

    expect(await recordsOf(streams, 2 * FULL_FRAME_BYTES)).toBe(2)
  })

  test('the small messages of many streams share a record', async () => {
    const streams = await openStreams(100)

    expect(await recordsOf(streams, 600)).toBe(1)
  })

  test('as many records are sealed as the bytes need', async () => {
    const streams = await openStreams(100)
    const bytes = 100 * (12 + 4096)

    expect(await recordsOf(streams, 4096)).toBe(Math.ceil(bytes / 65_519))
  })
})
