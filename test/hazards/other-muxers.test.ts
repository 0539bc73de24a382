// Faults that go-yamux, rust-yamux, hashicorp/yamux and what is built on them were reported for, and what live peers of theirs do. Each test is named after the report.
import { describe, expect, test, vi } from 'vitest'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { StreamList } from '../../src/muxer/streams.ts'
import { ACK, data, FIN, goAway, pattern, ping, PING, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { nextTurn, turnsUntil } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, readAll, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { echo, factories, sendAll } from '../simulation/fixtures/echo.ts'
import { simulate } from '../../testing/simulation/simulate.ts'
import type { YamuxMuxer, YamuxStream } from '../../src/index.ts'
import type { Stream } from '@libp2p/interface'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

describe('leaks of tokens, maps and half-closed streams (go-yamux 29, hashicorp 26 and 88)', () => {
  /** Of each kind, 100,000 in all */
  const CYCLES = 25_000
  const CYCLES_PER_TURN = 100
  const MAX_INBOUND_STREAMS = 1000

  const cycles: Array<[string, (peer: Conversation) => Promise<void>]> = [
    ['streams opened here, half-closed on either side and closed', async peer => {
      const streams = await Promise.all(Array.from({ length: CYCLES_PER_TURN }, async () => peer.muxer.createStream()))
      streams.forEach((stream, i) => {
        if (i % 2 === 0) {
          stream.close().catch(() => {})
        }
      })
      await nextTurn()
      peer.deliver(...streams.map(({ id }) => data(Number(id), pattern(1), ACK | FIN)))
      streams.forEach(stream => {
        receive(stream)
        stream.close().catch(() => {})
      })
    }],
    ['streams opened here and aborted, before the SYN and behind it', async peer => {
      const open = async (): Promise<YamuxStream[]> => Promise.all(Array.from({ length: CYCLES_PER_TURN / 2 }, async () => peer.muxer.createStream()))
      // the pong fills the transport: no SYN leaves
      peer.transport.isFull = true
      peer.deliver(ping(1, SYN))
      const unsaid = await open()
      peer.takeFrames()
      unsaid.forEach(stream => { stream.abort(new Error('Before the SYN')) })
      peer.transport.drain()
      await nextTurn()
      expect(peer.takeFrames()).toEqual([])
      const said = await open()
      await nextTurn()
      said.forEach(stream => {
        stream.send(pattern(10))
        stream.abort(new Error('Behind it'))
      })
    }],
    ['streams opened by the peer, answered and closed', async peer => {
      const first = nextPeerId(peer, CYCLES_PER_TURN)
      peer.deliver(...Array.from({ length: CYCLES_PER_TURN }, (_, i) => data(first + 2 * i, pattern(10), SYN | FIN)))
      await turnsUntil(() => peer.inbound.length === CYCLES_PER_TURN)
      peer.inbound.splice(0).forEach(stream => {
        receive(stream)
        stream.send(pattern(10))
        stream.close().catch(() => {})
      })
    }],
    ['streams opened by the peer and reset by it', async peer => {
      const first = nextPeerId(peer, CYCLES_PER_TURN)
      peer.deliver(...Array.from({ length: CYCLES_PER_TURN }, (_, i) => data(first + 2 * i, pattern(10), SYN)))
      await turnsUntil(() => peer.inbound.length === CYCLES_PER_TURN)
      peer.deliver(...Array.from({ length: CYCLES_PER_TURN }, (_, i) => windowUpdate(first + 2 * i, 0, RST)))
      peer.inbound.length = 0
    }]
  ]

  const ids = new WeakMap<Conversation, number>()

  function nextPeerId (peer: Conversation, count: number): number {
    const id = ids.get(peer) ?? 2
    ids.set(peer, id + 2 * count)

    return id
  }

  /** The memory of buffers is swept by another thread, some time behind the collection */
  async function heldBytes (): Promise<number> {
    let leastBytes = Infinity

    for (let i = 0; i < 5; i++) {
      await collectGarbage()
      await new Promise(resolve => { setTimeout(resolve, 10) })
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      leastBytes = Math.min(leastBytes, heapUsed + arrayBuffers)
    }

    return leastBytes
  }

  test.each(cycles)('25,000 cycles leave nothing: %s', async (_, cycle) => {
    const peer = converse({ limits: NO_LIMITS })
    let before = 0

    for (let done = 0; done < CYCLES; done += CYCLES_PER_TURN) {
      await cycle(peer)
      await nextTurn()
      peer.takeWrites()

      // what is compiled and pooled on the first ones is there by then
      if (done === 2 * CYCLES / 5) {
        before = await heldBytes()
      }
    }

    await nextTurn()
    expect(peer.muxer.streams).toHaveLength(0)
    // 15,000 streams that left 18 bytes each would show
    expect(await heldBytes() - before).toBeLessThan(256 * 1024)
    // all places are free again
    const streams = await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    expect(streams).toHaveLength(256)
    const first = nextPeerId(peer, MAX_INBOUND_STREAMS)
    peer.inbound.length = 0
    peer.deliver(...Array.from({ length: MAX_INBOUND_STREAMS }, (_, i) => windowUpdate(first + 2 * i, 0, SYN)))
    await turnsUntil(() => peer.inbound.length === MAX_INBOUND_STREAMS)
    expect(peer.inbound).toHaveLength(MAX_INBOUND_STREAMS)
    expect(peer.muxer.status).toBe('open')
  })
})

describe('a linear search of all streams on every frame, log objects built for every frame (@libp2p/yamux)', () => {
  /** How often the streams are looked through while frames come, and what is formatted for the log */
  async function workFor (streamCount: number): Promise<{ found: number, iterated: number, logged: number }> {
    const peer = converse({ maxInboundStreams: streamCount + 1 })
    peer.deliver(...Array.from({ length: streamCount }, (_, i) => windowUpdate(2 + 2 * i, 0, SYN)))
    await turnsUntil(() => peer.inbound.length === streamCount)
    await peer.written()
    peer.inbound.forEach(receive)

    const get = vi.spyOn(Map.prototype, 'get')
    const values = [vi.spyOn(Map.prototype, 'values'), vi.spyOn(Map.prototype, Symbol.iterator as unknown as 'entries'), vi.spyOn(Map.prototype, 'forEach')]
    const newScope = vi.spyOn(peer.transport.log, 'newScope')

    try {
      for (let i = 0; i < 1000; i++) {
        peer.deliver(data(2, pattern(10)), windowUpdate(2, 10))
      }

      return {
        found: get.mock.calls.length,
        iterated: values.reduce((sum, { mock }) => sum + mock.calls.length, 0),
        logged: newScope.mock.calls.length
      }
    } finally {
      vi.restoreAllMocks()
    }
  }

  test('the work of a frame does not grow with the streams, and nothing is made for the log', async () => {
    const one = await workFor(1)
    expect(await workFor(2000)).toEqual(one)
    expect(one).toMatchObject({ iterated: 0, logged: 0 })
    // a look for the stream a frame, and those of the events
    expect(one.found).toBeGreaterThanOrEqual(2000)
    expect(one.found).toBeLessThanOrEqual(10_000)
  })
})

async function sendForEver (stream: Stream): Promise<void> {
  while (stream.status === 'open') {
    await sendAll(stream, pattern(65_536))
  }
}

test('a peer that has said GoAway and goes on sending makes no error a chunk', async () => {
  const peer = converse()
  await peer.open()
  peer.deliver(goAway(0))
  const refuse = vi.spyOn(StreamList.prototype, 'refuseOpens')

  for (let i = 0; i < 100; i++) {
    peer.deliver(data(1, pattern(1)))
  }

  expect(refuse).not.toHaveBeenCalled()
  vi.restoreAllMocks()
  await expect(peer.muxer.createStream()).rejects.toThrow('The peer is going away')
})

test('rust-libp2p 5387: a pong stuck behind data took 70 s: under load a round trip takes at most twice as long as idle, and a batch', async () => {
  const RATE_BYTES_PER_S = 1_250_000
  const BATCH_BYTES = 65_519
  const SOCKET_BYTES = 65_536

  await simulate({}, async sim => {
    const { dialler, listener } = sim.connect({ rateBytesPerS: RATE_BYTES_PER_S, delayMs: 20 }, factories('ours', 'ours'))
    const muxer = dialler as unknown as YamuxMuxer
    echo(listener)
    const idleMs = await muxer.ping()
    const streams = await Promise.all(Array.from({ length: 10 }, async () => dialler.createStream()))

    for (const stream of streams) {
      stream.addEventListener('message', () => {})
      sendForEver(stream).catch(() => {})
    }

    await sim.sleep(5000)
    const loadedMs: number[] = []

    for (let i = 0; i < 10; i++) {
      loadedMs.push(await muxer.ping())
    }

    streams.forEach(stream => { stream.abort(new Error('Enough')) })
    // in each direction one write may be on its way, and what the socket holds cannot be overtaken
    const batchMs = 2 * (BATCH_BYTES + SOCKET_BYTES) / RATE_BYTES_PER_S * 1000
    expect(idleMs).toBeGreaterThanOrEqual(40)
    expect(Math.max(...loadedMs)).toBeLessThanOrEqual(2 * idleMs + batchMs)
  })
})

describe('a transport error in mid-frame', () => {
  test.each([['an error', new Error('Connection reset')], ['no error', undefined]])('settles every pending open, close, drain, ping and read: with %s', async (_, cause) => {
    const peer = converse()
    const streams = await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    await peer.written()
    const [reading, closing, draining] = streams
    draining.send(pattern(2 * WINDOW_BYTES))
    closing.send(pattern(2 * WINDOW_BYTES))
    peer.deliver(data(1, pattern(100)).subarray(0, 57))
    const settled = Promise.allSettled([
      peer.muxer.createStream().then(async () => peer.muxer.createStream()),
      closing.close(),
      draining.onDrain(),
      peer.muxer.ping(),
      readAll(reading)
    ])
    await nextTurn()
    peer.transport.end(cause)

    expect((await settled).map(({ status }) => status)).toEqual(Array(5).fill('rejected'))

    for (const result of await settled) {
      // the stock close() can reject with an Event
      expect(result.status === 'fulfilled' || result.reason instanceof Error).toBe(true)
    }
  })
})

describe('live peers', () => {
  test('hashicorp ends the session when an open is not ACKed: one that nobody listens to, or reads, is', async () => {
    const peer = converse()
    peer.muxer.addEventListener('stream', evt => { evt.detail.pause() })
    peer.deliver(windowUpdate(2, 0, SYN), data(4, pattern(1000), SYN))

    expect((await peer.written()).filter(([, flags]) => flags === ACK).map(([, , id]) => id)).toEqual([2, 4])
  })

  test('hashicorp and go-yamux close without GoAway, go-libp2p by a reset: what had ended before is whole', async () => {
    const peer = converse()
    const stream = await peer.open()
    peer.deliver(data(1, pattern(1000), FIN))
    await stream.close()
    peer.transport.end(Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }))

    expect(await readAll(stream)).toBe(1000)
    expect(stream.status).toBe('closed')
  })

  test('rust-yamux ends the connection on an unexpected pong, and pings at the start: each ping is answered once, at once', async () => {
    const peer = converse()
    peer.deliver(Uint8Array.from([0, PING, 0, SYN, 0, 0, 0, 0, 0, 0, 0, 9]))
    // within the call: nothing waits for a turn to end
    expect(peer.takeFrames()).toMatchObject([{ type: PING, flags: ACK, length: 9 }])
    expect(await peer.written()).toEqual([])
  })

  test('a window larger than maxReadBufferLength made pause() end the stream: all of it may wait', async () => {
    const windowBytes = 8 * 2 ** 20
    const peer = converse({ streamOptions: { initialStreamWindowSize: windowBytes } })
    const stream: YamuxStream = await peer.open()
    const events = endings(stream)
    stream.pause()

    for (let sent = 0; sent < windowBytes; sent += 65_536) {
      peer.deliver(data(1, pattern(65_536)))
    }

    expect(stream.readBufferLength).toBe(windowBytes)
    const received = receive(stream)
    stream.resume()
    expect(received.byteLength).toBe(windowBytes)
    expect(events).toEqual([])
    await expectAlive(peer)
  })
})
