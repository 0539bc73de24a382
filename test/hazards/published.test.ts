// Faults published for other muxers and for HTTP/2: what a hostile peer can make a muxer hold, say or forget. Each test is named after its source.
import { describe, expect, test } from 'vitest'
import { data, FIN, GO_AWAY, pattern, ping, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { NO_LIMITS } from '../../testing/protocol/limits.ts'
import { converse, endings, expectAlive, expectEnded, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { nextTurn, turnsUntil } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

/** What h2 bounds replies by; this muxer may choose another number, but of that order */
const BOUND = 2000

/** A muxer whose transport takes nothing, and whose peer therefore reads nothing */
async function withUnreadOutput (init: RawPeerInit = {}): Promise<Conversation> {
  const peer = converse(init)
  const stream = await peer.open()
  peer.transport.isFull = true
  stream.send(pattern(1))
  await peer.written()

  return peer
}

test('CVE-2026-31814: grants past 2^32-1, one by one or at once: GoAway(1)', async () => {
  for (const deltas of [[0xffff_ffff], [0x8000_0000, 0x7fff_ffff], [0x7fff_ffff, 0x7fff_ffff, 2]]) {
    const peer = converse()
    await peer.open()
    peer.deliver(...deltas.map(delta => windowUpdate(1, delta)))
    await expectEnded(peer, 1)
  }
})

test('CVE-2024-32984: a ping flood from a peer that never reads: the queued replies are bounded', async () => {
  const peer = await withUnreadOutput()

  for (let i = 0; i < 100; i++) {
    peer.deliver(...Array.from({ length: 100 }, (_, j) => ping(i * 100 + j, SYN)))
  }

  peer.transport.drain()
  const frames = await peer.written()
  expect(frames.filter(([type]) => type === PING).length).toBeLessThanOrEqual(BOUND)
  expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, 1])
})

test('CVE-2019-9514: a flood of SYNs beyond the limit from a peer that never reads: streams and queued refusals are bounded', async () => {
  const peer = await withUnreadOutput({ maxInboundStreams: 100 })

  for (let i = 0; i < 10_000; i++) {
    peer.deliver(windowUpdate(2 + 2 * i, 0, SYN))

    if (i === 200) {
      await turnsUntil(() => peer.inbound.length === 100)
    }
  }

  expect(peer.inbound).toHaveLength(100)
  peer.transport.drain()
  const frames = await peer.written()
  expect(frames.length).toBeLessThanOrEqual(BOUND)
  expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, 1])
})

describe('CVE-2023-44487: streams that are opened and reset at once', () => {
  const COUNT = 5000

  /** How many of the peer's streams are still in memory when all are reset */
  const survivors = async (peer: Conversation, bodyBytes: number): Promise<number> => {
    const streams: Array<WeakRef<object>> = []

    for (let i = 0; i < COUNT; i++) {
      peer.deliver(data(2 + 2 * i, new Uint8Array(bodyBytes), SYN))
      streams.push(...peer.inbound.splice(0).map(stream => new WeakRef(stream)))
      peer.deliver(windowUpdate(2 + 2 * i, 0, RST))

      // a turn announces no more
      if (i % 32 === 31) {
        await nextTurn()
      }
    }

    await collectGarbage()
    expect(streams.length).toBeGreaterThan(BOUND)

    return streams.filter(stream => stream.deref() != null).length
  }

  test('of those from a peer that reads nothing is kept', async () => {
    expect(await survivors(converse({ limits: NO_LIMITS }), 10)).toBeLessThanOrEqual(BOUND)
  })

  test.each([
    { name: 'silent', bodyBytes: 0, answerBytes: 0 },
    { name: 'that sent data', bodyBytes: 10, answerBytes: 0 },
    { name: 'that were answered with data', bodyBytes: 0, answerBytes: 10 }
  ])('of those from a peer that never reads a bounded number is kept: streams $name', async ({ bodyBytes, answerBytes }) => {
    const peer = await withUnreadOutput({ limits: NO_LIMITS })

    if (answerBytes > 0) {
      peer.muxer.addEventListener('stream', evt => { evt.detail.send(new Uint8Array(answerBytes)) })
    }

    expect(await survivors(peer, bodyBytes)).toBeLessThanOrEqual(BOUND)
  })
})

test('CVE-2025-8671: streams that this side resets stay counted until the peer can know, so that their number is bounded', async () => {
  const peer = await withUnreadOutput({ maxInboundStreams: 100 })
  peer.muxer.addEventListener('stream', evt => { evt.detail.abort(new Error('Not served here')) })

  for (let i = 0; i < 500; i++) {
    peer.deliver(windowUpdate(2 + 2 * i, 0, SYN))
  }

  await turnsUntil(() => peer.inbound.length === 100)
  expect(peer.inbound).toHaveLength(100)
})

test('streams that end before they are announced are announced as long as there are places for them, and no longer kept', async () => {
  const peer = converse({ maxInboundStreams: 10, limits: NO_LIMITS })

  for (let i = 0; i < 200; i++) {
    const id = 2 + 2 * i
    peer.deliver(data(id, pattern(1000), SYN), windowUpdate(id, 0, FIN), windowUpdate(id, 0, RST))
  }

  await turnsUntil(() => false)
  // a turn announces 32
  expect(peer.inbound.length).toBeLessThanOrEqual(32 + 10)
  await expectAlive(peer)
})

test('CVE-2019-9517: a peer that grants credit and never reads the transport: a stream queues what its writer gave it, and the writer is told to wait', async () => {
  const peer = await withUnreadOutput()
  const stream = peer.muxer.streams[0]
  peer.deliver(windowUpdate(1, 100 * WINDOW_BYTES))
  let sends = 0

  while (stream.send(pattern(10_000))) {
    expect(++sends).toBeLessThan(1000)
  }

  expect(stream.writeBufferLength).toBeLessThanOrEqual(WINDOW_BYTES + 10_000)
  expect(await peer.written()).toEqual([])
})

test('CVE-2019-9518: a flood of empty frames is neither delivered nor kept', async () => {
  const peer = converse({ limits: NO_LIMITS })
  const stream = await peer.open()
  const received = receive(stream)

  for (let i = 0; i < 100; i++) {
    peer.deliver(...Array.from({ length: 500 }, () => data(1, new Uint8Array(0))))
  }

  expect(received.chunks).toHaveLength(0)
  expect(stream.readBufferLength).toBe(0)
  expect(await peer.written()).toEqual([])
})

test('hashicorp/yamux 142: a stream timed out while the transport stalled: the peer sees a reset when it reads again', async () => {
  const clock = new VirtualClock()
  const peer = await withUnreadOutput({ clock, streamOptions: { inactivityTimeout: 1000 } })
  const [stream] = peer.muxer.streams
  const events = endings(stream)
  stream.send(pattern(10))
  clock.advance(5000)
  expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'InactivityTimeoutError' }) })])

  peer.transport.drain()
  expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
})

test('rust-yamux 127: reads were served after an overflow, with a gap: a loop gets no more, and the error', async () => {
  const peer = converse()
  const stream = await peer.open()
  peer.deliver(data(1, pattern(WINDOW_BYTES)))
  peer.deliver(data(1, pattern(10)))

  let receivedBytes = 0
  const reading = (async () => {
    for await (const chunk of stream) {
      receivedBytes += chunk.byteLength
    }
  })()
  await expect(reading).rejects.toThrow(expect.objectContaining({ code: 'ERR_RECEIVE_WINDOW_EXCEEDED' }))
  expect(receivedBytes).toBe(0)
  expect(stream.readBufferLength).toBe(0)
})

test('rust-yamux 110: an RST for a stream that is gone raced frames in flight: a late update after the close gets no answer', async () => {
  const peer = converse()
  const stream = await peer.open()
  stream.send(pattern(100_000))
  await stream.close()
  peer.deliver(data(1, pattern(3), 4))
  receive(stream)
  await peer.written()
  peer.deliver(windowUpdate(1, 100_000))

  expect(await peer.written()).toEqual([])
  await expectAlive(peer)
})
