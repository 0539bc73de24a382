// What a peer may do that no window bounds: each limit ends the connection with GoAway(1) and a coded error, however slowly or fast the peer reads, and no busy peer meets one.
import { describe, expect, test } from 'vitest'
import { ACK, concat, data, FIN, goAway, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, expectAlive, expectEnded } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

const NOTHING = new Uint8Array(0)

/** Ids of the peer's, from the second stream on */
function peerId (i: number): number {
  return 4 + 2 * i
}

interface Flood {
  name: string
  limit: 'pings' | 'resets' | 'emptyFrames' | 'refusedStreams' | 'unknownStreamFrames'
  code: string
  init?: RawPeerInit
  /** What the application does; stream 1 is open, and so is stream 2, which the peer opened */
  prepare? (peer: Conversation): void
  /** The i-th time that the limit is touched */
  frames (i: number): Uint8Array[]
}

const FLOODS: Flood[] = [
  { name: 'pings (CVE-2019-9512)', limit: 'pings', code: 'ERR_TOO_MANY_PINGS', frames: i => [ping(i, SYN)] },
  { name: 'streams reset at once (CVE-2023-44487)', limit: 'resets', code: 'ERR_TOO_MANY_RESETS', frames: i => [windowUpdate(peerId(i), 0, SYN), windowUpdate(peerId(i), 0, RST)] },
  { name: 'streams reset at once, with data', limit: 'resets', code: 'ERR_TOO_MANY_RESETS', frames: i => [data(peerId(i), NOTHING, SYN), data(peerId(i), NOTHING, RST)] },
  { name: 'streams reset in the frame that opens them', limit: 'resets', code: 'ERR_TOO_MANY_RESETS', frames: i => [windowUpdate(peerId(i), 0, SYN | RST)] },
  { name: 'DATA frames without data (CVE-2019-9518)', limit: 'emptyFrames', code: 'ERR_TOO_MANY_EMPTY_FRAMES', frames: () => [data(1, NOTHING)] },
  { name: 'window updates of nothing (CVE-2019-9515)', limit: 'emptyFrames', code: 'ERR_TOO_MANY_EMPTY_FRAMES', frames: () => [windowUpdate(1, 0)] },
  { name: 'ACKs of a stream that is acknowledged', limit: 'emptyFrames', code: 'ERR_TOO_MANY_EMPTY_FRAMES', frames: () => [windowUpdate(1, 0, ACK)] },
  { name: 'ACKs of a stream of the peer\'s own', limit: 'emptyFrames', code: 'ERR_TOO_MANY_EMPTY_FRAMES', frames: () => [windowUpdate(2, 0, ACK)] },
  { name: 'pongs that nobody asked for', limit: 'emptyFrames', code: 'ERR_TOO_MANY_EMPTY_FRAMES', frames: i => [ping(i, ACK)] },
  { name: 'streams beyond the limit', limit: 'refusedStreams', code: 'ERR_TOO_MANY_REFUSED_STREAMS', init: { maxInboundStreams: 1 }, frames: i => [windowUpdate(peerId(i), 0, SYN)] },
  {
    name: 'streams that the application refuses (CVE-2025-8671)',
    limit: 'refusedStreams',
    code: 'ERR_TOO_MANY_REFUSED_STREAMS',
    // the application hears of streams when the chunk is over, and of no more than these
    init: { maxInboundStreams: 21 },
    prepare: peer => { peer.muxer.addEventListener('stream', evt => { evt.detail.abort(new Error('Not served here')) }) },
    frames: i => [data(peerId(i), NOTHING, SYN)]
  },
  { name: 'data for streams that are not open', limit: 'unknownStreamFrames', code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', frames: i => [data(peerId(i), new Uint8Array(1))] },
  { name: 'credit for streams that are not open', limit: 'unknownStreamFrames', code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', frames: i => [windowUpdate(peerId(i), 1)] },
  { name: 'ends of streams that are not open', limit: 'unknownStreamFrames', code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', frames: i => [windowUpdate(peerId(i), 0, FIN)] },
  { name: 'resets of streams that are not open', limit: 'unknownStreamFrames', code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', frames: i => [windowUpdate(peerId(i), 0, RST)] }
]

/** With stream 1 open and acknowledged, and stream 2 open */
async function connect ({ init, prepare, limit }: Flood, clock: VirtualClock): Promise<Conversation> {
  const peer = converse({ ...init, clock, limits: { [limit]: { burst: 20, perSecond: 10 } } })
  await peer.open()
  peer.deliver(windowUpdate(1, 0, ACK))
  await peer.accept(2)
  prepare?.(peer)

  return peer
}

describe.each(FLOODS)('a flood of $name', flood => {
  test('ends the connection at the limit, and what has been sent by then did not', async () => {
    const clock = new VirtualClock()
    const peer = await connect(flood, clock)
    const ending = endings(peer.muxer.streams[0])

    for (let i = 0; i < 20; i++) {
      peer.deliver(...flood.frames(i))
      await nextTurn()
    }

    expect(peer.muxer.status).toBe('open')
    // one that the application refuses counts when the next comes
    peer.deliver(...flood.frames(20))
    peer.deliver(...flood.frames(21))
    expect(ending).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'ProtocolError', code: flood.code }) })])
    expect(ending[0].error?.message).toMatch(new RegExp(`received 2[12] .*limits\\.${flood.limit} allows 20 at once and 10 a second`))
    await expectEnded(peer, 1)
  })

  test('does no more work than the limit when it all comes in one chunk', async () => {
    const peer = await connect(flood, new VirtualClock())
    const opened = peer.inbound.length
    peer.deliver(...Array.from({ length: 10_000 }, (_, i) => flood.frames(i)).flat())

    expect(peer.inbound.length - opened).toBeLessThanOrEqual(21)
    const frames = await expectEnded(peer, 1)
    expect(frames.length).toBeLessThanOrEqual(50)
  })

  test('slower than the limit goes on for ever', async () => {
    const clock = new VirtualClock()
    const peer = await connect(flood, clock)

    for (let i = 0; i < 200; i++) {
      peer.deliver(...flood.frames(i))
      await nextTurn()
      clock.advance(100)
    }

    await expectAlive(peer)
  })
})

test('a second GoAway changes nothing and counts as an empty frame', async () => {
  const peer = converse({ limits: { emptyFrames: { burst: 20, perSecond: 0 } } })
  // without a stream the connection would come to its end
  await peer.open()
  peer.deliver(...Array.from({ length: 21 }, () => goAway(0)))
  expect(peer.muxer.status).not.toBe('closed')
  peer.deliver(goAway(0))
  await expectEnded(peer, 1)
})

test('a second FIN counts as an empty frame, the first does not', async () => {
  const peer = converse({ limits: { emptyFrames: { burst: 1, perSecond: 0 } } })
  await peer.open()
  peer.deliver(windowUpdate(1, 0, FIN), windowUpdate(1, 0, FIN))
  await expectAlive(peer)
  peer.deliver(windowUpdate(1, 0, FIN))
  await expectEnded(peer, 1)
})

test('streams that are reset later than a second after they were opened do not count', async () => {
  const clock = new VirtualClock()
  const peer = converse({ clock, limits: { resets: { burst: 0, perSecond: 0 }, refusedStreams: { burst: 0, perSecond: 0 } } })

  for (let i = 0; i < 10; i++) {
    await peer.accept(peerId(2 * i))
    const refused = await peer.accept(peerId(2 * i + 1))
    clock.advance(1000)
    peer.deliver(windowUpdate(peerId(2 * i), 0, RST))
    refused.abort(new Error('Not served any longer'))
    await nextTurn()
  }

  await expectAlive(peer)
})

test('resets of streams that this side has opened do not count', async () => {
  const peer = converse({ limits: { resets: { burst: 0, perSecond: 0 } } })

  for (let i = 0; i < 10; i++) {
    const stream = await peer.open()
    peer.deliver(windowUpdate(Number(stream.id), 0, RST))
  }

  await expectAlive(peer)
})

describe('what may be in flight to a stream that ends here', () => {
  test.each<[string, (peer: Conversation, id: number) => void]>([
    ['is reset', (peer, id) => { peer.muxer.streams.find(stream => stream.id === String(id))?.abort(new Error('Enough')) }],
    ['is closed on both sides', (peer, id) => {
      peer.deliver(windowUpdate(id, 0, FIN))
      peer.muxer.streams.find(stream => stream.id === String(id))?.close().catch(() => {})
    }]
  ])('is an update for each frame that was sent on it, as @libp2p/yamux answers: one that %s', async (_, end) => {
    const peer = converse({ coalesce: { mergeMessages: false }, limits: { unknownStreamFrames: { burst: 0, perSecond: 0 } } })

    for (let i = 0; i < 20; i++) {
      const stream = await peer.accept(peerId(i))

      for (let j = 0; j < 1024; j++) {
        stream.send(Uint8Array.of(1))
      }

      await nextTurn()
      end(peer, peerId(i))
      await nextTurn()
      peer.deliver(...Array.from({ length: 1024 }, () => windowUpdate(peerId(i), 1)))
    }

    await expectAlive(peer)
    peer.deliver(...Array.from({ length: 100 }, () => windowUpdate(peerId(0), 1)))
    await expectEnded(peer, 1)
  })
})

test('a well-behaved peer that opens 10,000 short streams a second meets no limit', async () => {
  const STREAMS = 20_000
  const STREAMS_PER_MS = 10
  const clock = new VirtualClock()
  const peer = converse({ clock })
  let answered = 0

  peer.muxer.addEventListener('stream', evt => {
    evt.detail.addEventListener('message', ({ data }) => {
      evt.detail.send(data)
      evt.detail.close().catch(() => {})
    })
  })

  for (let i = 0; i < STREAMS; i += STREAMS_PER_MS) {
    const ids = Array.from({ length: STREAMS_PER_MS }, (_, j) => peerId(i + j))
    // as @libp2p/yamux does it: SYN, data, FIN, and a window update for what it was sent; and a ping now and then
    peer.deliver(concat(...ids.flatMap(id => [windowUpdate(id, 0, SYN), data(id, new Uint8Array(100)), windowUpdate(id, 0, FIN)]), ping(i, SYN)))
    await Promise.resolve()
    await nextTurn()
    const frames = peer.takeFrames()
    answered += frames.filter(({ length, type }) => length === 100 && type === 0).length
    peer.deliver(...ids.map(id => windowUpdate(id, 100)))
    clock.advance(1)
  }

  expect(answered).toBe(STREAMS)
  expect(peer.muxer.streams).toHaveLength(0)
  expect(peer.inbound).toHaveLength(STREAMS)
  await expectAlive(peer)
})

test('an application that is busy with 10,000 short streams a second, of which it aborts every tenth, meets no limit', async () => {
  const clock = new VirtualClock()
  const peer = converse({ clock })
  let opened = 0
  peer.muxer.addEventListener('stream', evt => {
    if (opened++ % 10 === 0) {
      evt.detail.abort(new Error('Not served here'))
    } else {
      evt.detail.close().catch(() => {})
    }
  })

  for (let i = 0; i < 30_000; i += 10) {
    peer.deliver(...Array.from({ length: 10 }, (_, j) => [data(peerId(i + j), new Uint8Array(10), SYN), windowUpdate(peerId(i + j), 0, FIN)]).flat())
    await nextTurn()
    peer.takeWrites()
    clock.advance(1)
  }

  expect(opened).toBe(30_000)
  await expectAlive(peer)
})
