// What a snapshot says of a connection and its streams: which stream waits, since when and for what. The causes are planted one by one.
import { describe, expect, test } from 'vitest'
import * as index from '../../src/index.ts'
import * as light from '../../src/light.ts'
import { systemClock } from '../../src/host/clock.ts'
import { ForwardingControl, NoControl } from '../../src/path-control.ts'
import { OtherMuxerError, snapshot, snapshotNode } from '../../src/snapshot.ts'
import { ACK, data, FIN, PING, ping, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn, RawTransport } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { written } from './fixtures/marks.ts'
import { createMeteredPeer, openStreams } from './fixtures/metered-peer.ts'
import { fillTransport } from './fixtures/scenarios.ts'
import type { PathFigures } from '../../src/path-control.ts'
import type { StreamSnapshot } from '../../src/snapshot.ts'
import type { MeteredPeer } from './fixtures/metered-peer.ts'
import type { Connection, MessageStream, StreamMuxer } from '@libp2p/interface'

const WINDOW_BYTES = 262_144
const ROUND_TRIP_MS = 20

function streamOf (muxer: StreamMuxer, id: string): StreamSnapshot | undefined {
  return snapshot(muxer).streams.find(stream => stream.id === id)
}

/** What each stream waits for */
function causesOf (muxer: StreamMuxer): Record<string, string | undefined> {
  return Object.fromEntries(snapshot(muxer).streams.map(({ id, waitsFor }) => [id, waitsFor]))
}

/** The peer answers a ping, and enough is in flight from 64 KiB on */
async function createBoundedPeer (): Promise<MeteredPeer> {
  const peer = createMeteredPeer({ coalesce: { maxQueueDelayMs: 10 } })
  peer.muxer.ping().catch(() => {})
  await nextTurn()
  const [{ length }] = peer.takeFrames().filter(({ type }) => type === PING)
  peer.clock.advance(ROUND_TRIP_MS)
  peer.deliver(ping(length, ACK))

  return peer
}

describe('a stream', () => {
  test('is named with its protocol, direction, lane and both halves', async () => {
    const peer = createMeteredPeer({ priority: { '/chat/1': 'urgent' } })
    peer.muxer.addEventListener('stream', ({ detail }) => { detail.addEventListener('message', () => {}) })
    const [stream] = await openStreams(peer, 1)
    stream.protocol = '/chat/1'
    peer.deliver(windowUpdate(2, 0, SYN), data(2, new Uint8Array(10), FIN))
    await nextTurn()

    expect(snapshot(peer.muxer).streams).toMatchObject([
      { id: '1', protocol: '/chat/1', direction: 'outbound', priority: 'urgent', writeStatus: 'writable', remoteWriteStatus: 'writable', readStatus: 'readable' },
      { id: '2', protocol: undefined, direction: 'inbound', priority: 'normal', writeStatus: 'writable', remoteWriteStatus: 'closed', readStatus: 'readable' }
    ])
  })

  test('has its credit, and that of the peer', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    peer.deliver(windowUpdate(1, 1000), data(1, new Uint8Array(300)))
    stream.send(new Uint8Array(100))
    await nextTurn()

    expect(streamOf(peer.muxer, '1')).toMatchObject({ creditBytes: WINDOW_BYTES + 900, peerCreditBytes: WINDOW_BYTES - 300, windowBytes: WINDOW_BYTES, queuedBytes: 0, unreadBytes: 300 })
  })

  test('has what a loop has in hand among what is not read', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    const chunks = stream[Symbol.asyncIterator]()
    const first = chunks.next()
    peer.deliver(data(1, new Uint8Array(WINDOW_BYTES)))
    await first
    await nextTurn()
    expect(streamOf(peer.muxer, '1')).toMatchObject({ unreadBytes: WINDOW_BYTES, peerCreditBytes: 0, waitsFor: 'reader' })

    chunks.next().catch(() => {})
    await nextTurn()
    expect(streamOf(peer.muxer, '1')).toMatchObject({ unreadBytes: 0, waitsFor: undefined })
  })

  test('that has ended is not there', async () => {
    const peer = createMeteredPeer()
    const [first] = await openStreams(peer, 2)
    first.abort(new Error('The test is over'))

    expect(Object.keys(causesOf(peer.muxer))).toEqual(['3'])
  })

  test('is quiet from the last bytes on, in either direction', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    peer.clock.advance(100)
    peer.deliver(data(1, new Uint8Array(1)))
    peer.clock.advance(10)
    expect(streamOf(peer.muxer, '1')?.quietMs).toBe(10)

    stream.send(new Uint8Array(1))
    await nextTurn()
    peer.clock.advance(3)
    expect(streamOf(peer.muxer, '1')?.quietMs).toBe(3)
  })

  test('may be one that the program was not told of yet', () => {
    const peer = createMeteredPeer()
    const seen: StreamSnapshot[] = []
    peer.muxer.addEventListener('stream', () => { seen.push(...snapshot(peer.muxer).streams) }, { once: true })
    peer.deliver(windowUpdate(2, 0, SYN), windowUpdate(4, 0, SYN))

    expect(seen).toMatchObject([{ id: '2', readStatus: 'readable' }, { id: '4', readStatus: undefined, waitsFor: undefined }])
  })
})

describe('a stream waits for', () => {
  test('credit, if the program of the peer does not read', async () => {
    const peer = createMeteredPeer()
    const [slow, other] = await openStreams(peer, 2)
    other.send(new Uint8Array(10))
    slow.send(new Uint8Array(WINDOW_BYTES + 1000))
    await nextTurn()
    peer.clock.advance(5000)

    expect(causesOf(peer.muxer)).toEqual({ 1: 'credit', 3: undefined })
    expect(streamOf(peer.muxer, '1')).toMatchObject({ creditBytes: 0, queuedBytes: 1000, waitingMs: 5000, quietMs: 5000 })
    expect(streamOf(peer.muxer, '3')).toMatchObject({ waitingMs: undefined })
  })

  test('credit for a whole message, if messages are not cut', async () => {
    const peer = createMeteredPeer({ coalesce: { mergeMessages: false } })
    const [stream] = await openStreams(peer, 1)

    for (let i = 0; i < 17; i++) {
      stream.send(new Uint8Array(16_000))
    }

    await nextTurn()

    expect(streamOf(peer.muxer, '1')).toMatchObject({ creditBytes: WINDOW_BYTES - 16 * 16_000, waitsFor: 'credit' })
  })

  test('the transport, if that is full, urgent or not, and before all else', async () => {
    const peer = createMeteredPeer()
    const [filler, normal, urgent] = await openStreams(peer, 3)
    urgent.priority = 'urgent'
    await fillTransport(peer, filler)
    normal.send(new Uint8Array(10))
    peer.clock.advance(30)
    urgent.send(new Uint8Array(20))
    peer.clock.advance(5)

    expect(snapshot(peer.muxer)).toMatchObject({ isTransportFull: true, queuedBytes: { urgent: 20, normal: 10, bulk: 0 } })
    expect(causesOf(peer.muxer)).toEqual({ 1: undefined, 3: 'transport', 5: 'transport' })
    expect(snapshot(peer.muxer).streams.map(({ waitingMs }) => waitingMs)).toEqual([undefined, 35, 5])

    peer.transport.drain()
    expect(snapshot(peer.muxer)).toMatchObject({ isTransportFull: false, queuedBytes: { urgent: 0, normal: 0, bulk: 0 } })
    expect(causesOf(peer.muxer)).toEqual({ 1: undefined, 3: undefined, 5: undefined })
  })

  test('the transport, if only its FIN is left', async () => {
    const peer = createMeteredPeer()
    const [filler, closed] = await openStreams(peer, 2)
    await fillTransport(peer, filler)
    closed.close().catch(() => {})
    await nextTurn()
    peer.clock.advance(7)

    expect(streamOf(peer.muxer, '3')).toMatchObject({ writeStatus: 'closing', queuedBytes: 0, waitsFor: 'transport', waitingMs: 7 })
  })

  test('the path, if enough is in flight and the stream is not urgent', async () => {
    const peer = await createBoundedPeer()
    const [bulk, urgent, closed] = await openStreams(peer, 3)
    urgent.priority = 'urgent'
    peer.deliver(windowUpdate(1, 2 ** 30))
    bulk.send(new Uint8Array(1_000_000))
    await written(peer)
    peer.clock.advance(12)
    urgent.send(new Uint8Array(10))
    closed.close().catch(() => {})

    expect(snapshot(peer.muxer)).toMatchObject({ isHeld: true, heldMs: 12, boundBytes: 65_536, roundTripMs: ROUND_TRIP_MS, pathRoundTripMs: ROUND_TRIP_MS, inFlightBytes: expect.any(Number) })
    expect(snapshot(peer.muxer).inFlightBytes).toBeGreaterThan(57_344)
    expect(causesOf(peer.muxer)).toEqual({ 1: 'path', 3: 'turn', 5: 'turn' })
    expect(streamOf(peer.muxer, '1')).toMatchObject({ waitingMs: 12 })
  })

  test('the path, if it is urgent and urgent data has used up its allowance', async () => {
    class Spent extends ForwardingControl {
      override get isHeld (): boolean { return true }
      override get isUrgentSpent (): boolean { return true }
    }

    const peer = createMeteredPeer({ pathControl: init => new Spent(new NoControl(init)) })
    const [urgent] = await openStreams(peer, 1)
    urgent.priority = 'urgent'
    urgent.send(new Uint8Array(10))
    await nextTurn()

    expect(snapshot(peer.muxer)).toMatchObject({ isHeld: true, heldMs: undefined, inFlightBytes: undefined, boundBytes: undefined })
    expect(causesOf(peer.muxer)).toEqual({ 1: 'path' })
  })

  test('its turn, until the next flush', async () => {
    const peer = createMeteredPeer({ coalesce: { delayMs: 100 } })
    const [stream] = await openStreams(peer, 1)
    stream.send(new Uint8Array(10))
    peer.clock.advance(60)

    expect(streamOf(peer.muxer, '1')).toMatchObject({ waitsFor: 'turn', waitingMs: 60, queuedBytes: 10 })
    peer.clock.advance(40)
    expect(streamOf(peer.muxer, '1')).toMatchObject({ waitsFor: undefined, waitingMs: undefined, queuedBytes: 0 })
  })

  test('acknowledgement, if the peer has sent nothing on it', async () => {
    const peer = createMeteredPeer()
    await peer.muxer.createStream()
    const silent = await peer.muxer.createStream()
    silent.send(new Uint8Array(WINDOW_BYTES + 1))
    await nextTurn()
    peer.clock.advance(400)
    expect(causesOf(peer.muxer)).toEqual({ 1: 'acknowledgement', 3: 'acknowledgement' })
    expect(snapshot(peer.muxer).streams.map(({ waitingMs }) => waitingMs)).toEqual([400, 400])

    peer.deliver(windowUpdate(1, 0, ACK), windowUpdate(3, 0, ACK))
    expect(causesOf(peer.muxer)).toEqual({ 1: undefined, 3: 'credit' })
  })

  test('a reader, if the program does not read what has arrived', async () => {
    const peer = createMeteredPeer()
    const [paused, read] = await openStreams(peer, 2)
    paused.pause()
    read.addEventListener('message', () => {})
    peer.deliver(data(1, new Uint8Array(100)), data(3, new Uint8Array(100)))
    peer.clock.advance(9)

    expect(snapshot(peer.muxer)).toMatchObject({ unreadBytes: 100, windowBytes: 2 * WINDOW_BYTES })
    expect(causesOf(peer.muxer)).toEqual({ 1: 'reader', 3: undefined })
    expect(streamOf(peer.muxer, '1')).toMatchObject({ readStatus: 'paused', unreadBytes: 100, quietMs: 9, waitingMs: undefined })
  })

  test('what its output waits for, if it has unread bytes as well', async () => {
    const peer = createMeteredPeer()
    const [stream] = await openStreams(peer, 1)
    peer.deliver(data(1, new Uint8Array(100)))
    stream.send(new Uint8Array(WINDOW_BYTES + 1))
    await nextTurn()

    expect(streamOf(peer.muxer, '1')).toMatchObject({ waitsFor: 'credit', unreadBytes: 100 })
  })
})

describe('without metrics', () => {
  test('waits are timed from the first snapshot on', async () => {
    const clock = new VirtualClock()
    const peer = createRawPeer({ clock })
    const [first, second] = [await peer.muxer.createStream(), await peer.muxer.createStream()]
    peer.deliver(windowUpdate(1, 0, ACK), windowUpdate(3, 0, ACK))
    await nextTurn()
    peer.transport.isFull = true
    first.send(new Uint8Array(10))
    await nextTurn()
    first.send(new Uint8Array(10))
    clock.advance(1000)
    const waits = (): Array<number | undefined> => snapshot(peer.muxer).streams.map(({ waitingMs }) => waitingMs)

    expect(waits()).toEqual([undefined, undefined])
    clock.advance(5)
    second.send(new Uint8Array(10))
    clock.advance(2)
    expect(waits()).toEqual([7, 2])
    peer.transport.drain()
    expect(waits()).toEqual([undefined, undefined])
  })

  test('a message reads the clock from the first snapshot on, if it finds the queue of its stream empty', async () => {
    let reads = 0
    const nowMs = (): number => reads++
    const peer = createRawPeer({ clock: { ...systemClock, nowMs } })
    const [first, second] = [await peer.muxer.createStream(), await peer.muxer.createStream()]
    peer.transport.isFull = true
    first.send(new Uint8Array(10))
    await nextTurn()
    const readsOf = (act: () => void): number => {
      const before = reads
      act()

      return reads - before
    }

    expect(readsOf(() => { first.send(new Uint8Array(10)) })).toBe(0)
    snapshot(peer.muxer)
    expect(readsOf(() => { first.send(new Uint8Array(10)) })).toBe(0)
    expect(readsOf(() => { second.send(new Uint8Array(10)) })).toBe(1)
    expect(readsOf(() => { second.send(new Uint8Array(10)) })).toBe(0)
  })
})

describe('a connection', () => {
  test('is described as far as anything was measured', () => {
    const peer = createMeteredPeer({ direction: 'inbound' })

    expect(snapshot(peer.muxer)).toEqual({
      peer: undefined,
      multiplexer: '/yamux/1.0.0',
      direction: 'inbound',
      status: 'open',
      roundTripMs: undefined,
      pathRoundTripMs: undefined,
      bytesPerSecond: undefined,
      inFlightBytes: undefined,
      boundBytes: undefined,
      isHeld: false,
      heldMs: undefined,
      isTransportFull: false,
      queuedBytes: { urgent: 0, normal: 0, bulk: 0 },
      unreadBytes: 0,
      windowBytes: 0,
      streams: []
    })
  })

  test('has the figures of a path control of the program, without those that JSON has no number for', () => {
    const figures = { inFlightBytes: 1000, boundBytes: 5000, bytesPerMs: 125, roundTripMs: 40, heldMs: 2000, heldSinceMs: -8 }

    class Described extends ForwardingControl {
      override figures (): PathFigures {
        return figures
      }
    }

    const { muxer } = createMeteredPeer({ pathControl: init => new Described(new NoControl(init)) })
    expect(snapshot(muxer)).toMatchObject({ inFlightBytes: 1000, boundBytes: 5000, bytesPerSecond: 125_000, pathRoundTripMs: 40, heldMs: 8 })

    Object.assign(figures, { inFlightBytes: NaN, bytesPerMs: Infinity, roundTripMs: Infinity, heldSinceMs: -Infinity })
    expect(snapshot(muxer)).toMatchObject({ inFlightBytes: undefined, boundBytes: 5000, bytesPerSecond: undefined, pathRoundTripMs: undefined, heldMs: undefined })
  })

  test('that has ended can be asked too', async () => {
    const peer = createMeteredPeer()
    await openStreams(peer, 1)
    peer.transport.end()

    expect(snapshot(peer.muxer)).toMatchObject({ status: 'closed', streams: [] })
  })

  test('is plain JSON', async () => {
    const peer = await createBoundedPeer()
    const [stream] = await openStreams(peer, 2)
    stream.send(new Uint8Array(1_000_000))
    peer.deliver(data(3, new Uint8Array(10)))
    await nextTurn()
    const taken = snapshot(peer.muxer)

    expect(JSON.parse(JSON.stringify(taken))).toEqual(taken)
  })
})

describe('a muxer', () => {
  test.each([['index', index], ['light', light]])('of %s can be asked', async (_, { yamux }) => {
    const transport = new RawTransport('outbound')
    const muxer = yamux({ enableKeepAlive: false })().createStreamMuxer(transport as unknown as MessageStream)
    transport.isFull = true
    const stream = await muxer.createStream()
    await nextTurn()
    stream.send(new Uint8Array(10))

    expect(snapshot(muxer)).toMatchObject({ direction: 'outbound', isTransportFull: true, streams: [{ id: '1', waitsFor: 'transport', queuedBytes: 10 }] })
    muxer.abort(new Error('The test is over'))
  })

  test.each([
    ['another', { protocol: '/yamux/1.0.0', streams: [] }],
    ['a node, which snapshotNode takes,', { getConnections: () => [] }],
    ['none', undefined]
  ])('of %s is refused', (_, muxer) => {
    expect(() => snapshot(muxer as unknown as StreamMuxer)).toThrow(OtherMuxerError)
    expect(() => snapshot(muxer as unknown as StreamMuxer)).toThrow(expect.objectContaining({
      name: 'InvalidParametersError',
      code: 'ERR_OTHER_MUXER',
      message: 'snapshot() takes a muxer of libp2p-coalescing-yamux: for a node and all its connections, call snapshotNode()'
    }))
  })
})

test('a node has all its connections, and of those with another muxer only its name', async () => {
  const peer = createMeteredPeer()
  await openStreams(peer, 1)
  const connections = [
    { remotePeer: 'ours', multiplexer: '/yamux/1.0.0', muxer: peer.muxer },
    { remotePeer: 'stock', multiplexer: '/yamux/1.0.0', muxer: { protocol: '/yamux/1.0.0' } },
    { remotePeer: 'none' }
  ] as unknown as Connection[]
  const node = snapshotNode({ getConnections: () => connections })

  expect(node.connections).toEqual([
    { ...snapshot(peer.muxer), peer: 'ours' },
    { peer: 'stock', multiplexer: '/yamux/1.0.0' },
    { peer: 'none', multiplexer: undefined }
  ])
  expect(JSON.parse(JSON.stringify(node))).toEqual(node)
})
