// Every option of docs/options.md does something: two values of it put different bytes on the wire.
import { describe, expect, test } from 'vitest'
import { ACK, data, pattern, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { NoControl } from '../../src/path-control.ts'
import page from '../../docs/options.md?raw'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'

interface Case {
  values: [YamuxMuxerInit, YamuxMuxerInit]
  direction?: 'inbound'
  act (peer: RawPeer, clock: VirtualClock): Promise<void> | void
}

async function open (peer: RawPeer): Promise<YamuxStream> {
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(Number(stream.id), 1_000_000, ACK))
  await nextTurn()

  return stream
}

/** Opens streams that the peer dials */
function dialIn (peer: RawPeer, count: number): void {
  for (let i = 0; i < count; i++) {
    peer.deliver(windowUpdate(2 + 2 * i, 0, SYN))
  }
}

function listen (peer: RawPeer): YamuxStream[] {
  const streams: YamuxStream[] = []
  peer.muxer.addEventListener('stream', ({ detail }) => { streams.push(detail) })

  return streams
}

/** What is sent in one turn, and 3 and 30 ms later: when it is written, and with what */
async function sendAndWait (peer: RawPeer, clock: VirtualClock, sizes: number[]): Promise<void> {
  const stream = await open(peer)
  sizes.forEach(size => stream.send(pattern(size)))
  await nextTurn()
  const now = new Uint8Array(1)
  peer.transport.send(now)
  clock.advance(3)
  peer.transport.send(now)
  clock.advance(30)
}

async function measureRoundTrip (peer: RawPeer, clock: VirtualClock, roundTripMs: number): Promise<void> {
  const measured = peer.muxer.ping()
  await nextTurn()
  clock.advance(roundTripMs)
  peer.deliver(ping(0, ACK))
  await measured
}

/** More than half a window within a round trip of the first byte, so that it may grow */
async function readFast (peer: RawPeer, clock: VirtualClock): Promise<void> {
  await measureRoundTrip(peer, clock, 100)
  const stream = await open(peer)
  stream.addEventListener('message', () => {})
  peer.deliver(data(1, pattern(1)))
  peer.deliver(data(1, pattern(200_000)))
  await nextTurn()
}

const cases: Record<string, Case> = {
  enableKeepAlive: {
    values: [{ enableKeepAlive: true }, { enableKeepAlive: false }],
    act: nextTurn
  },
  keepAliveInterval: {
    values: [{ enableKeepAlive: true, keepAliveInterval: 1000 }, { enableKeepAlive: true, keepAliveInterval: 5000 }],
    async act (peer, clock) {
      await nextTurn()
      peer.deliver(ping(0, ACK))
      clock.advance(1500)
      await nextTurn()
    }
  },
  maxInboundStreams: {
    values: [{ maxInboundStreams: 1 }, { maxInboundStreams: 2 }],
    act: peer => { listen(peer); dialIn(peer, 2) }
  },
  maxOutboundStreams: {
    values: [{ maxOutboundStreams: 1 }, { maxOutboundStreams: 2 }],
    async act (peer) {
      await peer.muxer.createStream()
      await peer.muxer.createStream().catch(() => {})
    }
  },
  maxEarlyStreams: {
    values: [{ maxEarlyStreams: 1 }, { maxEarlyStreams: 2 }],
    act: peer => { dialIn(peer, 2) }
  },
  maxMessageSize: {
    values: [{ maxMessageSize: 1024 }, { maxMessageSize: 4096 }],
    act: async peer => { (await open(peer)).send(pattern(10_000)) }
  },
  'streamOptions.initialStreamWindowSize': {
    values: [{}, { streamOptions: { initialStreamWindowSize: 500_000 } }],
    act: async peer => { await open(peer) }
  },
  'streamOptions.maxStreamWindowSize': {
    values: [{ streamOptions: { maxStreamWindowSize: 262_144 } }, { streamOptions: { maxStreamWindowSize: 1_000_000 } }],
    act: readFast
  },
  windowUpdateMode: {
    values: [{ windowUpdateMode: 'onRead' }, { windowUpdateMode: 'onReceive' }],
    async act (peer) {
      await open(peer)
      peer.deliver(data(1, pattern(200_000)))
    }
  },
  maxConnectionWindow: {
    values: [{ maxConnectionWindow: 0 }, { maxConnectionWindow: 1_000_000 }],
    act: readFast
  },
  'streamOptions.inactivityTimeout': {
    values: [{ streamOptions: { inactivityTimeout: 100 } }, { streamOptions: { inactivityTimeout: 10_000 } }],
    async act (peer, clock) {
      await open(peer)
      clock.advance(5000)
    }
  },
  'streamOptions.maxReadBufferLength': {
    values: [{ streamOptions: { maxReadBufferLength: 300_000 } }, { streamOptions: { maxReadBufferLength: 3_000_000 } }],
    act: async peer => { (await open(peer)).unshift(pattern(400_000)) }
  },
  'streamOptions.maxWriteBufferLength': {
    values: [{ streamOptions: { maxWriteBufferLength: 300_000 } }, { streamOptions: { maxWriteBufferLength: 3_000_000 } }],
    async act (peer) {
      const stream = await open(peer)
      peer.transport.isFull = true
      peer.muxer.ping().catch(() => {})
      await nextTurn()
      stream.send(pattern(300_000))
      stream.send(pattern(300_000))
      peer.transport.drain()
      await nextTurn()
    }
  },
  'coalesce.strategy': {
    values: [{ coalesce: { strategy: 'turn' } }, { coalesce: { strategy: 'off' } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [10, 10])
  },
  'coalesce.delayMs': {
    values: [{ coalesce: { delayMs: 2 } }, { coalesce: { delayMs: 20 } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [10])
  },
  'coalesce.maxDelayMs': {
    values: [{ coalesce: { maxDelayMs: 2 } }, { coalesce: { maxDelayMs: 20 } }],
    async act (peer, clock) {
      await measureRoundTrip(peer, clock, 200)
      await sendAndWait(peer, clock, [10])
    }
  },
  'coalesce.maxBytes': {
    values: [{ coalesce: { maxBytes: 4096 } }, { coalesce: { maxBytes: 65_519 } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [10_000])
  },
  'coalesce.highWatermark': {
    values: [{ coalesce: { delayMs: 20, highWatermark: 0.1 } }, { coalesce: { delayMs: 20, highWatermark: 0.9 } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [10_000])
  },
  'coalesce.maxQueueDelayMs': {
    values: [{ coalesce: { maxQueueDelayMs: 10 } }, { coalesce: { maxQueueDelayMs: Infinity } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [300_000])
  },
  'coalesce.maxPeerQueueDelayMs': {
    values: [{ coalesce: { maxPeerQueueDelayMs: 25 } }, { coalesce: { maxPeerQueueDelayMs: Infinity } }],
    async act (peer, clock) {
      await measureRoundTrip(peer, clock, 1)
      const stream = await open(peer)
      stream.addEventListener('message', () => {})

      // data comes, and no pong
      for (let chunk = 0; chunk < 100; chunk++) {
        clock.advance(25)
        peer.deliver(data(Number(stream.id), pattern(5000)))
        await nextTurn()
      }
    }
  },
  pathControl: {
    values: [{ coalesce: { maxQueueDelayMs: 10 } }, { coalesce: { maxQueueDelayMs: 10 }, pathControl: init => new NoControl(init) }],
    act: async (peer, clock) => sendAndWait(peer, clock, [300_000])
  },
  'coalesce.reservedBytes': {
    values: [{ coalesce: { reservedBytes: 0 } }, { coalesce: { reservedBytes: 30_000 } }],
    async act (peer) {
      (await open(peer)).priority = 'urgent'
      const other = await open(peer)
      peer.transport.isFull = true
      other.send(pattern(200_000))
      await nextTurn()
      peer.transport.drain()
    }
  },
  'coalesce.mergeMessages': {
    values: [{ coalesce: { mergeMessages: true } }, { coalesce: { mergeMessages: false } }],
    act: async (peer, clock) => sendAndWait(peer, clock, [10, 10])
  },
  'limits.pings': {
    values: [{ limits: { pings: { burst: 1 } } }, {}],
    act: peer => { peer.deliver(ping(1, SYN), ping(2, SYN)) }
  },
  'limits.resets': {
    values: [{ limits: { resets: { burst: 0 } } }, {}],
    act: peer => { peer.deliver(windowUpdate(2, 0, SYN), windowUpdate(2, 0, RST)) }
  },
  'limits.emptyFrames': {
    values: [{ limits: { emptyFrames: { burst: 0 } } }, {}],
    async act (peer) {
      await open(peer)
      peer.deliver(windowUpdate(1, 0))
    }
  },
  'limits.refusedStreams': {
    values: [{ maxInboundStreams: 0, limits: { refusedStreams: { burst: 1 } } }, { maxInboundStreams: 0 }],
    act: peer => { dialIn(peer, 2) }
  },
  'limits.unknownStreamFrames': {
    values: [{ limits: { unknownStreamFrames: { burst: 0 } } }, {}],
    act: peer => { peer.deliver(windowUpdate(2, 1)) }
  },
  'limits.openTimeoutMs': {
    values: [{ limits: { openTimeoutMs: 1000 } }, {}],
    async act (peer, clock) {
      await peer.muxer.createStream()
      await nextTurn()
      clock.advance(5000)
    }
  },
  'limits.closeTimeoutMs': {
    values: [{ limits: { closeTimeoutMs: 1000 } }, {}],
    async act (peer, clock) {
      await (await open(peer)).close()
      clock.advance(5000)
    }
  },
  'limits.maxNodeWindow': {
    values: [{ limits: { maxNodeWindow: 262_144 } }, { limits: { maxNodeWindow: 1_000_000 } }],
    act: readFast
  },
  'limits.writeTimeoutMs': {
    values: [{ limits: { writeTimeoutMs: 1000 } }, {}],
    async act (peer, clock) {
      peer.transport.isFull = true
      await open(peer)
      clock.advance(5000)
    }
  },
  priority: {
    values: [{}, { priority: { '/b': 'urgent' } }],
    async act (peer) {
      for (const protocol of ['/a', '/b']) {
        const stream = await open(peer)
        stream.protocol = protocol
        stream.send(pattern(10))
      }

      await nextTurn()
      peer.takeWrites()
      peer.muxer.streams.forEach(stream => stream.send(pattern(10)))
    }
  }
}

async function bytesOnWire (init: YamuxMuxerInit, { direction, act }: Case): Promise<number[][]> {
  const clock = new VirtualClock()
  const init2: RawPeerInit = { ...init, clock, direction }
  const peer = createRawPeer(init2)
  await act(peer, clock)
  await nextTurn()

  return peer.takeWrites().map(write => [...write.subarray()])
}

describe('two values of an option', () => {
  test.each(Object.keys(cases))('show on the wire: %s', async name => {
    const [one, other] = cases[name].values

    expect(await bytesOnWire(one, cases[name])).toEqual(await bytesOnWire(one, cases[name]))
    expect(await bytesOnWire(one, cases[name])).not.toEqual(await bytesOnWire(other, cases[name]))
  })
})

test('a stream may be opened with a timeout and limits of its own', async () => {
  const clock = new VirtualClock()
  const peer = createRawPeer({ clock, streamOptions: { inactivityTimeout: 10_000, maxReadBufferLength: 5000 } })
  const [own, other] = await Promise.all([
    peer.muxer.createStream({ inactivityTimeout: 100, maxReadBufferLength: 1000, maxWriteBufferLength: 2000 }),
    peer.muxer.createStream()
  ])
  await nextTurn()
  clock.advance(5000)
  await nextTurn()

  expect(own).toMatchObject({ status: 'aborted', maxReadBufferLength: 1000, maxWriteBufferLength: 2000 })
  expect(other).toMatchObject({ status: 'open', maxReadBufferLength: 5000, maxWriteBufferLength: Infinity })
  expect(peer.takeFrames().at(-1)).toMatchObject({ id: Number(own.id), flags: RST })
})

test('a stream may be opened without the limits that others have', async () => {
  const clock = new VirtualClock()
  const peer = createRawPeer({ clock, streamOptions: { inactivityTimeout: 10_000, maxWriteBufferLength: 5000 } })
  const stream = await peer.muxer.createStream({ inactivityTimeout: 0, maxWriteBufferLength: Infinity })
  await nextTurn()
  peer.deliver(windowUpdate(Number(stream.id), 0, ACK))
  clock.advance(100_000)
  await nextTurn()

  expect(stream).toMatchObject({ status: 'open', inactivityTimeout: 0, maxWriteBufferLength: Infinity })
})

test('every option of docs/options.md is one of them', () => {
  const options = [...page.matchAll(/^### ([\w.]+)$/gm)].map(([, name]) => name)

  expect(options.length).toBeGreaterThan(10)
  // what that one does is not seen on the wire: test/young-memory.test.ts
  expect(new Set([...Object.keys(cases), 'tuneGarbageCollection'])).toEqual(new Set(options))
})
