// What libp2p's two implementations of metrics show of a node that has real connections.
import { defaultLogger } from '@libp2p/logger'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { simpleMetrics } from '@libp2p/simple-metrics'
import { createNode } from '../../testing/libp2p/node.ts'
import { muxers } from '../../testing/muxers.ts'
import { Registry } from 'prom-client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NodeBudget } from '../../src/core/window/node-budget.ts'
import { systemClock } from '../../src/host/clock.ts'
import { NodeMetrics } from '../../src/observe/metrics.ts'
import { PROTOCOLS } from '../../testing/libp2p/handlers.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import { pattern, patternPieces } from '../../testing/pattern.ts'
import { firstMessage, readAll, sendAndClose } from '../../testing/libp2p/streams.ts'
import type { TestNode } from '../../testing/libp2p/serving-node.ts'
import type { Session } from '../../src/core/session.ts'
import type { ComponentLogger, Libp2p, Metrics, Stream } from '@libp2p/interface'

const PREFIX = 'libp2p_coalescing_yamux_'
const WINDOW_BYTES = 262_144
const MEBIBYTE = 2 ** 20

/** All that src/observe/metrics.ts defines, and as what */
const TYPES = {
  flushes_total: 'counter',
  flush_bytes: 'histogram',
  flush_frames: 'histogram',
  frame_wait_seconds: 'histogram',
  round_trip_seconds: 'histogram',
  violations_total: 'counter',
  stalled_streams_total: 'counter',
  refused_streams_total: 'counter',
  queue_bytes: 'gauge',
  blocked_bytes: 'gauge',
  unread_bytes: 'gauge',
  in_flight_bytes: 'gauge',
  path_bytes_per_second: 'gauge',
  path_round_trip_seconds: 'gauge',
  held_seconds_total: 'gauge',
  streams: 'gauge',
  peer_credit_bytes: 'gauge',
  window_bytes: 'gauge'
}

let node: Libp2p
let peer: TestNode
let held: Stream

/** Two nodes with a connection that has carried 2 MiB in each direction, and a stream that stays open */
async function startTraffic (metrics: (components: { logger: ComponentLogger }) => Metrics): Promise<void> {
  // what a window is would depend on how long the machine takes
  const init = { streamOptions: { maxStreamWindowSize: WINDOW_BYTES } }
  peer = await createServingNode('ours', init)
  node = await createNode('ours', { metrics, streamMuxers: [await muxers.ours(init)] })
  const connection = await node.dial(peer.libp2p.getMultiaddrs())
  const echo = await connection.newStream(PROTOCOLS.echo)
  const [echoed] = await Promise.all([readAll(echo), sendAndClose(echo, patternPieces(2 * MEBIBYTE, 1))])
  expect(Buffer.compare(echoed, pattern(2 * MEBIBYTE, 1))).toBe(0)

  held = await connection.newStream(PROTOCOLS.hang)
  await firstMessage(held)
}

afterEach(async () => {
  await node?.stop()
  await peer?.libp2p.stop()
})

describe('a scrape of @libp2p/prometheus-metrics', () => {
  let registry: Registry

  beforeEach(async () => {
    registry = new Registry()
    await startTraffic(prometheusMetrics({ registry, collectDefaultMetrics: false }))
  })

  /** The samples of this muxer, as `name{label="value"}` without the prefix */
  async function scrape (): Promise<Map<string, number>> {
    const text = await registry.metrics()
    const lines = text.split('\n').filter(line => line.startsWith(PREFIX))

    return new Map(lines.map(line => {
      const [name, value] = line.slice(PREFIX.length).split(/ (?=\S+$)/)

      return [name, Number(value)]
    }))
  }

  function sumOf (samples: Map<string, number>, pattern: RegExp): number {
    return [...samples].filter(([name]) => pattern.test(name)).reduce((sum, [, value]) => sum + value, 0)
  }

  test('names every metric, with its type and a description', async () => {
    const text = await registry.metrics()
    const types = [...text.matchAll(/^# TYPE libp2p_coalescing_yamux_(\S+) (\S+)$/gm)].map(([, name, type]) => [name, type])
    const described = [...text.matchAll(/^# HELP libp2p_coalescing_yamux_(\S+) .*\S.*$/gm)].map(([, name]) => name)

    expect(Object.fromEntries(types)).toEqual(TYPES)
    expect(described.sort()).toEqual(Object.keys(TYPES).sort())
  })

  test('shows flushes that carried all that was sent', async () => {
    const samples = await scrape()
    const flushes = sumOf(samples, /^flushes_total\{reason="[a-z-]+"\}$/)

    expect(flushes).toBeGreaterThan(0)
    expect(samples.get('flush_bytes_count')).toBe(flushes)
    expect(samples.get('flush_frames_count')).toBe(flushes)
    expect(samples.get('flush_bytes_sum')).toBeGreaterThan(2 * MEBIBYTE)
    expect(samples.get('flush_frames_sum')).toBeGreaterThanOrEqual(flushes)
    expect(samples.get('flush_bytes_bucket{le="+Inf"}')).toBe(flushes)
  })

  test('shows how long frames waited in the lane of the streams, and round trips', async () => {
    const samples = await scrape()

    expect(samples.get('frame_wait_seconds_count{lane="normal"}')).toBeGreaterThan(0)
    expect(samples.get('frame_wait_seconds_sum{lane="normal"}')).toBeGreaterThanOrEqual(0)
    expect(samples.get('round_trip_seconds_count')).toBeGreaterThan(0)
    expect(samples.get('round_trip_seconds_sum')).toBeGreaterThan(0)
  })

  test('shows what the peer does not read, and what nobody reads here', async () => {
    held.send(new Uint8Array(MEBIBYTE))
    const echo = await node.getConnections()[0].newStream(PROTOCOLS.echo)
    echo.send(new Uint8Array(1000))

    await vi.waitFor(async () => {
      const samples = await scrape()
      // the protocol was negotiated out of the same window
      expect(samples.get('blocked_bytes')).toBeGreaterThan(MEBIBYTE - WINDOW_BYTES)
      expect(samples.get('blocked_bytes')).toBeLessThan(MEBIBYTE - WINDOW_BYTES + 100)
      expect(samples.get('queue_bytes')).toBe(samples.get('blocked_bytes'))
      expect(samples.get('unread_bytes')).toBe(1000)
      expect(samples.get('refused_streams_total')).toBe(0)
    }, { timeout: 10_000 })
  })

  test('shows the streams that are open, an empty queue, and nothing once the connection is closed', async () => {
    await vi.waitFor(async () => {
      const samples = await scrape()
      expect(samples.get('streams{direction="outbound"}')).toBe(1)
      expect(samples.get('streams{direction="inbound"}')).toBe(0)
      expect(samples.get('queue_bytes')).toBe(0)
      expect(samples.get('window_bytes{window="largest"}')).toBe(WINDOW_BYTES)
      expect(samples.get('window_bytes{window="sum"}')).toBe(WINDOW_BYTES)
    }, { timeout: 10_000 })

    held.abort(new Error('no longer wanted'))
    await node.hangUp(peer.libp2p.peerId)
    await vi.waitFor(async () => {
      expect(sumOf(await scrape(), /^(streams|window_bytes|queue_bytes|blocked_bytes|unread_bytes)/)).toBe(0)
    }, { timeout: 10_000 })
    expect(sumOf(await scrape(), /^violations_total/)).toBe(0)
  })
})

test('a second scrape of @libp2p/prometheus-metrics shows the same time held back', async () => {
  const registry = new Registry()
  const metrics = new NodeMetrics(prometheusMetrics({ registry, collectDefaultMetrics: false })({ logger: defaultLogger() }), systemClock, new NodeBudget(Infinity))
  const ended = { path: { figures: () => ({ heldMs: 1500 }) } } as unknown as Session<unknown>
  metrics.sessions.add(ended)
  metrics.forget(ended)

  for (const scraped of [await registry.metrics(), await registry.metrics()]) {
    expect(scraped).toContain('held_seconds_total{reason="path"} 1.5\n')
  }
})

describe('a report of @libp2p/simple-metrics', () => {
  test('holds every metric, with what the connection has done', async () => {
    const reports: Array<Record<string, any>> = []

    await startTraffic(components => {
      const metrics = simpleMetrics({ intervalMs: 10, onMetrics: report => { reports.push(report) } })(components) as unknown as Metrics
      // 1.3.16 looks for the sources and sinks of libp2p 2 here, throws, and no connection comes about
      metrics.trackMultiaddrConnection = () => {}
      metrics.trackProtocolStream = () => {}

      return metrics
    })

    // those that were made while the traffic was in flight
    reports.splice(0)
    await vi.waitFor(() => {
      expect(reports.at(-1)).toMatchObject({
        [`${PREFIX}streams`]: { inbound: 0, outbound: 1 },
        [`${PREFIX}window_bytes`]: { sum: WINDOW_BYTES, largest: WINDOW_BYTES }
      })
    }, { timeout: 10_000 })

    const entries = Object.entries(reports.at(-1) ?? {}).filter(([name]) => name.startsWith(PREFIX))
    const report = Object.fromEntries(entries.map(([name, value]) => [name.slice(PREFIX.length), value]))
    const flushes = Object.values<number>(report.flushes_total).reduce((sum, count) => sum + count, 0)
    expect(Object.keys(report).sort()).toEqual(Object.keys(TYPES).sort())
    expect(flushes).toBeGreaterThan(0)
    expect(report.flush_bytes.count).toBe(flushes)
    expect(report.flush_bytes.sum).toBeGreaterThan(2 * MEBIBYTE)
    expect(report.flush_frames.count).toBe(flushes)
    expect(report.flush_frames.sum).toBeGreaterThanOrEqual(flushes)
    expect(report.frame_wait_seconds.normal.count).toBeGreaterThan(0)
    expect(report.round_trip_seconds.count).toBeGreaterThan(0)
    expect(report.violations_total).toEqual({})
    expect(report.queue_bytes).toBe(0)
  })
})
