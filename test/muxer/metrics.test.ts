// What libp2p's metrics are told of the connections.
import { describe, expect, test } from 'vitest'
import { controlOf } from '../../testing/core/sessions.ts'
import { ACK, data, FIN, goAway, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import { RecordingMetrics } from './fixtures/recording-metrics.ts'
import { ENDINGS, fillTransport, FLUSHES, VIOLATIONS } from './fixtures/scenarios.ts'
import type { MeteredPeer } from './fixtures/metered-peer.ts'

const WINDOW_BYTES = 262_144
/** A header */
const HEADER_BYTES = 12
/** Payload that leaves no rest */
const BYTES_OF_FOUR_WRITES = 4 * (65_519 - HEADER_BYTES)

describe('flushes', () => {
  test.each(Object.keys(FLUSHES) as Array<keyof typeof FLUSHES>)('are counted under the reason %s', async reason => {
    const { init, act, flushes } = FLUSHES[reason]
    const peer = createMeteredPeer(init)
    await act(peer, await openStreams(peer, 2))
    await nextTurn()

    expect(peer.sink.counts('flushes_total')).toEqual(flushes ?? { [reason]: 1 })
  })

  test('are not counted when there was nothing to write', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    await fillTransport(peer, stream)
    peer.transport.drain()
    await nextTurn()

    expect(peer.sink.counts('flushes_total')).toEqual({})
    expect(peer.sink.observed('flush_bytes')).toEqual([])
  })

  test('are observed with their bytes and frames, however many writes they take', async () => {
    const peer = createMeteredPeer()
    const [first, second] = await openStreams(peer, 2)
    first.send(new Uint8Array(10))
    second.send(new Uint8Array(20))
    await nextTurn()
    first.send(new Uint8Array(BYTES_OF_FOUR_WRITES))
    await nextTurn()

    const frames = peer.takeFrames().length
    expect(frames).toBeGreaterThan(3)
    expect(peer.sink.observed('flush_frames')).toEqual([2, frames - 2])
    expect(peer.sink.observed('flush_bytes')).toEqual([30 + 2 * HEADER_BYTES, BYTES_OF_FOUR_WRITES + (frames - 2) * HEADER_BYTES])
  })
})

describe('flushes and frames, which are many,', () => {
  test('are told of together, of all connections of the node, and when a metric is asked for', async () => {
    const reasons: Array<Record<string, number>> = []
    const bytes: number[] = []
    const sink = new RecordingMetrics()
    const metrics = Object.assign(sink.asMetrics, {
      registerCounterGroup: () => ({ increment: (counts: Record<string, number>) => { reasons.push(counts) } }),
      registerHistogram: (name: string) => ({ observe: (value: number) => { if (name.endsWith('flush_bytes')) { bytes.push(value) } } })
    })
    const one = createMeteredPeer({ metrics })
    const other = createMeteredPeer({ nodeMetrics: one.nodeMetrics })
    const streams = [...await openStreams(one, 1), ...await openStreams(other, 1)]
    sink.calculate('queue_bytes')
    reasons.length = 0
    bytes.length = 0

    // three figures each: the bytes and the frames of a flush, and the wait of a frame
    for (let flush = 0; flush < 63; flush++) {
      streams[flush % 2].send(new Uint8Array(100))
      await nextTurn()
    }

    expect([reasons, bytes]).toEqual([[], []])

    streams[0].send(new Uint8Array(100))
    await nextTurn()
    expect(reasons).toEqual([{ turn: 64 }])
    expect(bytes).toEqual(Array.from({ length: 64 }, () => 100 + HEADER_BYTES))

    streams[0].send(new Uint8Array(1000))
    await nextTurn()
    expect(bytes).toHaveLength(64)
    sink.calculate('queue_bytes')
    expect(bytes[64]).toBe(1000 + HEADER_BYTES)
  })
})

describe('the wait of a frame', () => {
  test('lasts from the send to the write, and is observed by lane', async () => {
    const peer = createMeteredPeer()
    const [normal, bulk, urgent, filler] = await openStreams(peer, 4)
    bulk.priority = 'bulk'
    urgent.priority = 'urgent'
    await fillTransport(peer, filler)

    normal.send(new Uint8Array(10))
    peer.clock.advance(3)
    bulk.send(new Uint8Array(10))
    normal.send(new Uint8Array(10))
    peer.clock.advance(2)
    urgent.send(new Uint8Array(10))
    peer.clock.advance(4)
    peer.transport.drain()

    expect(peer.sink.observedByLabel('frame_wait_seconds')).toEqual({ urgent: [0.004], normal: [0.009, 0], bulk: [0.006] })
  })

  test('behind another of the stream begins when that one is written', async () => {
    const peer = createMeteredPeer({ coalesce: { maxBytes: 4096 } })
    const [stream] = await openStreams(peer, 1)
    peer.transport.isFull = true
    stream.send(new Uint8Array(6000))
    await nextTurn()
    peer.clock.advance(5)
    peer.transport.drain()
    peer.clock.advance(50)
    stream.send(new Uint8Array(10))
    await nextTurn()

    expect(peer.sink.observedByLabel('frame_wait_seconds')).toEqual({ normal: [0, 0.005, 0] })
  })

  test('is not that of an urgent frame when an aborted stream writes its last data', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    stream.send(new Uint8Array(100_000))
    stream.abort(new Error('No longer wanted'))

    expect(peer.sink.observedByLabel('frame_wait_seconds')).toEqual({})
  })

  test('does not begin with a send of nothing', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    stream.send(new Uint8Array(0))
    await nextTurn()
    peer.clock.advance(5000)
    stream.send(new Uint8Array(10))
    await nextTurn()

    expect(peer.sink.observedByLabel('frame_wait_seconds')).toEqual({ normal: [0] })
  })
})

describe('the queue', () => {
  test('shows what waits while the transport is full, whenever it is asked for', async () => {
    const peer = createMeteredPeer()
    const [first, second] = await openStreams(peer, 2)
    await fillTransport(peer, first)
    expect(peer.sink.calculate('queue_bytes')).toBe(0)

    first.send(new Uint8Array(1000))
    expect(peer.sink.calculate('queue_bytes')).toBe(1000)
    second.send(new Uint8Array(500))
    expect(peer.sink.calculate('queue_bytes')).toBe(1500)

    expect(peer.sink.calculate('blocked_bytes')).toBe(0)

    peer.transport.drain()
    expect(peer.sink.calculate('queue_bytes')).toBe(0)
  })

  test('shows what waits for credit, in all and by itself', async () => {
    const peer = createMeteredPeer()
    const [first, second, filler] = await openStreams(peer, 3)
    first.send(new Uint8Array(1_000_000))
    await nextTurn()
    expect(peer.sink.calculate('queue_bytes')).toBe(1_000_000 - WINDOW_BYTES)
    expect(peer.sink.calculate('blocked_bytes')).toBe(1_000_000 - WINDOW_BYTES)

    await fillTransport(peer, filler)
    second.send(new Uint8Array(WINDOW_BYTES + 5000))
    peer.deliver(windowUpdate(1, 100_000))
    expect(peer.sink.calculate('queue_bytes')).toBe(1_000_000 + 5000)
    expect(peer.sink.calculate('blocked_bytes')).toBe(1_000_000 - WINDOW_BYTES - 100_000 + 5000)

    peer.deliver(windowUpdate(1, 1_000_000), windowUpdate(3, 1_000_000))
    expect(peer.sink.calculate('blocked_bytes')).toBe(0)
  })

  test('shows a message that must not be cut as blocked until there is credit for all of it', async () => {
    const peer = createMeteredPeer({ coalesce: { mergeMessages: false } })
    const [stream] = await openStreams(peer, 1)
    stream.send(new Uint8Array(WINDOW_BYTES - 999))
    await nextTurn()
    stream.send(new Uint8Array(1000))
    await nextTurn()
    expect([peer.sink.calculate('queue_bytes'), peer.sink.calculate('blocked_bytes')]).toEqual([1000, 1000])

    peer.transport.isFull = true
    peer.deliver(windowUpdate(1, 1))
    expect(peer.sink.calculate('blocked_bytes')).toBe(0)
  })
})

describe('what is unread', () => {
  test('is shown until somebody reads it, over all connections of a node', async () => {
    const one = createMeteredPeer()
    const other = createMeteredPeer({ nodeMetrics: one.nodeMetrics })
    const [stream] = await openStreams(one, 2)
    await openStreams(other, 1)
    expect(one.sink.calculate('unread_bytes')).toBe(0)

    one.deliver(data(1, new Uint8Array(100)), data(3, new Uint8Array(20)))
    other.deliver(data(1, new Uint8Array(3)))
    expect(one.sink.calculate('unread_bytes')).toBe(123)

    stream.addEventListener('message', () => {})
    await nextTurn()
    expect(one.sink.calculate('unread_bytes')).toBe(23)
  })
})

describe('refused streams', () => {
  test('are counted when there are too many', async () => {
    const peer = createMeteredPeer({ maxInboundStreams: 1 })
    peer.deliver(windowUpdate(2, 0, SYN))
    expect(peer.sink.count('refused_streams_total')).toBe(0)

    peer.deliver(windowUpdate(4, 0, SYN), windowUpdate(6, 0, SYN))
    expect(peer.sink.count('refused_streams_total')).toBe(2)
  })

  test('are counted when this side is closing', async () => {
    const peer = createMeteredPeer()
    await peer.muxer.close()
    peer.deliver(windowUpdate(2, 0, SYN))

    expect(peer.sink.count('refused_streams_total')).toBe(1)
  })
})

describe('open streams', () => {
  test('are counted by direction over all connections of a node', async () => {
    const one = createMeteredPeer()
    const other = createMeteredPeer({ nodeMetrics: one.nodeMetrics, direction: 'inbound' })
    await openStreams(one, 2)
    await openStreams(other, 1)
    one.deliver(windowUpdate(2, 0, SYN))
    other.deliver(windowUpdate(1, 0, SYN), windowUpdate(3, 0, SYN))
    expect(one.sink.calculate('streams')).toEqual({ inbound: 3, outbound: 3 })

    one.transport.end()
    expect(one.sink.calculate('streams')).toEqual({ inbound: 2, outbound: 1 })
  })

  test('are counted no more when they are over', async () => {
    const peer = createMeteredPeer()
    const [closed, reset] = await openStreams(peer, 3)
    peer.deliver(windowUpdate(1, 0, FIN))
    await closed.close()
    reset.abort(new Error('over'))
    await nextTurn()

    expect(peer.sink.calculate('streams')).toEqual({ inbound: 0, outbound: 1 })
  })
})

describe('receive windows', () => {
  test('show their sum and the largest, which has grown', async () => {
    const peer = createMeteredPeer()
    const [busy] = await openStreams(peer, 2)
    expect(peer.sink.calculate('window_bytes')).toEqual({ sum: 2 * WINDOW_BYTES, largest: WINDOW_BYTES })

    peer.muxer.ping().catch(() => {})
    await nextTurn()
    peer.clock.advance(100)
    peer.deliver(ping(0, ACK))
    busy.addEventListener('message', () => {})
    // how fast it is read shows from the second on
    peer.deliver(data(1, new Uint8Array(1)))
    peer.deliver(data(1, new Uint8Array(WINDOW_BYTES / 2)))
    await nextTurn()

    // three of them are the head start of a new stream, since credit takes 100 ms
    expect(peer.sink.calculate('window_bytes')).toEqual({ sum: 6 * WINDOW_BYTES + 65_536, largest: 5 * WINDOW_BYTES + 65_536 })
  })

  test('show the limit of the sum, and for how long it has kept them from growing', async () => {
    const peer = createMeteredPeer({ limits: { maxNodeWindow: 2 * WINDOW_BYTES } })
    const [busy] = await openStreams(peer, 2)
    peer.muxer.ping().catch(() => {})
    await nextTurn()
    peer.clock.advance(100)
    peer.deliver(ping(0, ACK))
    busy.addEventListener('message', () => {})
    peer.deliver(data(1, new Uint8Array(1)))
    expect(peer.sink.calculate('held_seconds_total')).toEqual({ path: 0, upload: 0, windows: 0 })
    peer.deliver(data(1, new Uint8Array(WINDOW_BYTES / 2)))
    await nextTurn()
    peer.clock.advance(50)
    peer.deliver(data(1, new Uint8Array(WINDOW_BYTES / 2)))
    await nextTurn()

    expect(peer.sink.calculate('window_bytes')).toEqual({ sum: 2 * WINDOW_BYTES, largest: WINDOW_BYTES, limit: 2 * WINDOW_BYTES })
    expect(peer.sink.calculate('held_seconds_total')).toEqual({ path: 0, upload: 0, windows: 0.05 })
  })
})

test('what may be in flight leaves out a connection whose path is so fast that there is no bound', () => {
  const peer = createMeteredPeer({ coalesce: { maxQueueDelayMs: 50 } })
  const [session] = peer.nodeMetrics.sessions
  const { estimate } = controlOf(session)
  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 0, bound: estimate.bound.bytes })

  estimate.lift()
  expect(peer.sink.calculate('in_flight_bytes')).toEqual({ actual: 0, bound: 0 })
})

describe('a connection that has ended', () => {
  test.each(ENDINGS)('%s leaves nothing to be summed', async (_, end) => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    await fillTransport(peer, stream)
    stream.send(new Uint8Array(1000))
    peer.deliver(windowUpdate(2, 0, SYN))
    peer.deliver(data(2, new Uint8Array(5)))
    expect(['queue_bytes', 'unread_bytes'].map(name => peer.sink.calculate(name))).toEqual([1000, 5])
    end(peer)
    await nextTurn()

    expect(['queue_bytes', 'blocked_bytes', 'unread_bytes'].map(name => peer.sink.calculate(name))).toEqual([0, 0, 0])
    expect(peer.sink.calculate('streams')).toEqual({ inbound: 0, outbound: 0 })
    expect(peer.sink.calculate('window_bytes')).toEqual({ sum: 0, largest: 0 })
    expect(peer.nodeMetrics.sessions.size).toBe(0)
  })
})

test('every measured round trip is observed', async () => {
  const peer = createMeteredPeer()

  for (const [value, roundTripMs] of [80, 40].entries()) {
    const measured = peer.muxer.ping()
    await nextTurn()
    peer.clock.advance(roundTripMs)
    peer.deliver(ping(value, ACK))
    await measured
  }

  expect(peer.sink.observed('round_trip_seconds')).toEqual([0.08, 0.04])
})

describe('violations', () => {
  test.each(Object.entries(VIOLATIONS))('of the rule %s are counted under it, once for a connection', async (code, { init, frames }) => {
    const peer = createMeteredPeer(init)
    const [stream] = await openStreams(peer, 1)
    await fillTransport(peer, stream)
    peer.deliver(...frames)
    peer.deliver(...frames)

    expect(peer.sink.counts('violations_total')).toEqual({ [code]: 1 })
  })

  test('are counted when the peer opens streams that nobody listens for, too', async () => {
    const peer = createMeteredPeer({ maxEarlyStreams: 1 })
    peer.deliver(windowUpdate(2, 0, SYN), windowUpdate(4, 0, SYN))
    await nextTurn()

    expect(peer.sink.counts('violations_total')).toEqual({ MaxEarlyStreamsError: 1 })
  })

  test('are counted when the peer is silent for too long, too', async () => {
    const peer = createMeteredPeer({ enableKeepAlive: true, keepAliveInterval: 1000 })

    for (let interval = 0; interval < 3; interval++) {
      expect(peer.sink.counts('violations_total')).toEqual({})
      await peer.clock.pass(1000, 1000)
    }

    expect(peer.sink.counts('violations_total')).toEqual({ ERR_KEEP_ALIVE_TIMEOUT: 1 })
  })

  test.each<[string, (peer: MeteredPeer) => void]>([
    ['the transport ends', ({ transport }) => { transport.end(new Error('gone')) }],
    ['the transport delivers no bytes', ({ transport }) => { transport.dispatchEvent(Object.assign(new Event('message'), { data: 'x' }) as any) }],
    ['this side aborts', ({ muxer }) => { muxer.abort(new Error('over')) }],
    ['the peer goes away', ({ deliver }) => { deliver(goAway(1)) }]
  ])('are not counted when %s', (_, end) => {
    const peer = createMeteredPeer()
    end(peer)

    expect(peer.sink.counts('violations_total')).toEqual({})
  })
})
