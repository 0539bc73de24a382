// Streams that stand still in both directions get more credit; streams that are only read slowly do not.
import { describe, expect, test } from 'vitest'
import { data, DATA, FIN, pattern, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, expectAlive } from '../../testing/protocol/conversation.ts'
import { createMeteredPeer, openStreams } from '../muxer/fixtures/metered-peer.ts'
import { createSink } from '../muxer/fixtures/recording-log.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { MeteredPeer, MeteredPeerInit } from '../muxer/fixtures/metered-peer.ts'

const WINDOW_BYTES = 262_144
const MEBIBYTE = 2 ** 20
/** An eighth is kept for streams that come later */
const KEEPS_5000 = 5714

interface Stall {
  peer: MeteredPeer
  stream: YamuxStream
  /** What the peer was granted since it was last asked */
  grants (): Promise<number[]>
}

/** A stream whose peer has used up its window, unread, and gives none for the bytes that wait here */
async function stall (init: MeteredPeerInit = {}): Promise<Stall> {
  const peer = createMeteredPeer(init)
  const [stream] = await openStreams(peer, 1)

  return {
    peer,
    stream,
    grants: async () => {
      await nextTurn()
      peer.clock.advance(1)
      await nextTurn()

      return peer.takeFrames().filter(({ type, flags }) => type === WINDOW_UPDATE && flags === 0).map(({ length }) => length)
    }
  }
}

function write ({ stream }: Stall, byteLength = WINDOW_BYTES + 1000): void {
  stream.send(pattern(byteLength))
}

function fill ({ peer }: Stall, byteLength = WINDOW_BYTES): void {
  peer.deliver(data(1, pattern(byteLength)))
}

describe('a stream that both ends write to, and neither reads', () => {
  test.each(['writes last', 'is filled last'])('gets twice the window each time it is used up, up to the read buffer, if it %s', async order => {
    const it = await stall()

    if (order === 'writes last') {
      fill(it)
      await nextTurn()
      write(it)
    } else {
      write(it)
      await nextTurn()
      fill(it)
    }

    const grants = await it.grants()

    while (grants.length < 10) {
      fill(it, grants.at(-1))
      const more = await it.grants()

      if (more.length === 0) {
        break
      }

      grants.push(...more)
    }

    expect(grants).toEqual([WINDOW_BYTES, 2 * WINDOW_BYTES, 4 * WINDOW_BYTES, 8 * WINDOW_BYTES])
    expect(it.stream.readBufferLength).toBe(4 * MEBIBYTE)
  })

  test.each<[string, YamuxMuxerInit]>([
    ['maxConnectionWindow', { maxConnectionWindow: KEEPS_5000 }],
    ['maxStreamWindowSize', { streamOptions: { maxStreamWindowSize: WINDOW_BYTES + 5000 }, maxConnectionWindow: MEBIBYTE }]
  ])('gets no more than %s allows', async (_, init) => {
    const it = await stall(init)
    write(it)
    fill(it)
    expect(await it.grants()).toEqual([5000])
    fill(it, 5000)
    expect(await it.grants()).toEqual([])
  })

  test('gets nothing more until the transport has taken what it got, however often it is written to', async () => {
    const it = await stall()
    write(it)
    await nextTurn()
    it.peer.transport.isFull = true
    it.peer.deliver(ping(1, SYN))
    await nextTurn()
    fill(it)

    for (let i = 0; i < 3; i++) {
      write(it, 10)
      await it.grants()
    }

    it.peer.transport.drain()
    expect(await it.grants()).toEqual([WINDOW_BYTES])
  })

  test('gets what others give back later, also when it got too little at first', async () => {
    const maxConnectionWindow = Math.ceil((WINDOW_BYTES + 1000) * 8 / 7)
    // a quarter of what is kept for those who come late
    const reserveBytes = Math.floor(Math.floor(maxConnectionWindow / 8) / 4)
    const peer = createMeteredPeer({ maxConnectionWindow })
    const [first, second] = await openStreams(peer, 2)
    const grantedTo = (id: number): number => peer.takeFrames().filter(frame => frame.type === WINDOW_UPDATE && frame.id === id && frame.flags === 0).reduce((sum, { length }) => sum + length, 0)

    for (const stream of [first, second]) {
      stream.send(pattern(WINDOW_BYTES + 1000))
      peer.deliver(data(Number(stream.id), pattern(WINDOW_BYTES)))
      await nextTurn()
      peer.clock.advance(1)
      await nextTurn()
    }

    expect(grantedTo(3)).toBe(1000 + reserveBytes)
    // it is looked at again and again
    peer.clock.advance(45_000)
    await nextTurn()
    expect(grantedTo(3)).toBe(0)

    first.abort(new Error('Enough'))
    peer.clock.advance(20_000)
    await nextTurn()
    expect(grantedTo(3)).toBe(WINDOW_BYTES)
  })

  test('gets what was read, however little, with the rest', async () => {
    const it = await stall({ maxConnectionWindow: 0 })
    const loop = it.stream[Symbol.asyncIterator]()
    const first = loop.next()
    fill(it, 50_000)
    await first
    const second = loop.next()
    fill(it, WINDOW_BYTES - 50_000)
    await second
    write(it)

    expect(await it.grants()).toEqual([50_000])
  })

  test('gets more for a loop that waits to send back what it has in hand', async () => {
    const it = await stall({ streamOptions: { maxReadBufferLength: 300_000 } })
    const loop = it.stream[Symbol.asyncIterator]()
    const first = loop.next()
    fill(it, 200_000)
    await first
    fill(it, WINDOW_BYTES - 200_000)
    write(it)

    expect(await it.grants()).toEqual([300_000 - (WINDOW_BYTES - 200_000)])
  })

  test('gets nothing if somebody reads in the turn in which it stands still', async () => {
    const it = await stall()
    write(it)
    await nextTurn()
    it.peer.takeFrames()
    fill(it)
    let readBytes = 0
    it.stream.addEventListener('message', ({ data }) => { readBytes += data.byteLength })
    await nextTurn()
    expect(readBytes).toBe(WINDOW_BYTES)

    expect(await it.grants()).toEqual([WINDOW_BYTES])
  })
})

describe('nothing is granted to a stream', () => {
  test('that is read slowly, and not written to', async () => {
    const it = await stall()
    fill(it)
    expect(await it.grants()).toEqual([])
  })

  test('that is written to, with credit left', async () => {
    const it = await stall()
    write(it, WINDOW_BYTES)
    fill(it)
    expect(await it.grants()).toEqual([])
  })

  test('whose peer has enough credit left', async () => {
    const it = await stall()
    write(it)
    fill(it, WINDOW_BYTES - 65_536)
    expect(await it.grants()).toEqual([])
  })

  test('whose peer has nothing more to send', async () => {
    const it = await stall()
    write(it)
    it.peer.deliver(data(1, pattern(WINDOW_BYTES), FIN))
    expect(await it.grants()).toEqual([])
  })

  test('that was reset in between', async () => {
    const it = await stall()
    write(it)
    fill(it)
    it.stream.abort(new Error('Enough'))
    expect(await it.grants()).toEqual([])
  })
})

describe('a stall that nothing more can be granted for', () => {
  async function stuck (): Promise<Stall & { lines: () => unknown[][] }> {
    const { sink, log } = createSink()
    const it = await stall({ log, maxConnectionWindow: 0 })
    write(it)
    fill(it)
    await it.grants()

    return { ...it, lines: () => sink.lines.filter(([level]) => level === 'yamux:yamux:error') }
  }

  test('is reported once when the stream has carried nothing for ten seconds', async () => {
    const { peer, lines } = await stuck()
    peer.clock.advance(9990)
    expect(lines()).toEqual([])
    peer.clock.advance(20)
    expect(lines()).toEqual([['yamux:yamux:error', '%e', expect.objectContaining({ message: expect.stringMatching(/Stream 1 .* 1000 bytes wait for the peer to read, and 262144 to be read here.*maxReadBufferLength \(4194304\)/) })]])
    await nextTurn()
    expect(peer.sink.count('stalled_streams_total')).toBe(1)

    peer.clock.advance(60_000)
    expect(lines()).toHaveLength(1)
  })

  test('is not reported when the peer gives credit before', async () => {
    const { peer, lines } = await stuck()
    peer.clock.advance(9000)
    peer.deliver(windowUpdate(1, 10_000))
    await nextTurn()
    peer.clock.advance(60_000)
    expect(lines()).toEqual([])
    expect(peer.takeFrames().filter(({ type }) => type === DATA)).not.toEqual([])
  })

  test('leaves no timer behind when whoever hears of it ends the connection', async () => {
    const { sink, log } = createSink()
    const it = await stall({ log, maxConnectionWindow: 0 })
    write(it)
    fill(it)
    await it.grants()
    let lines = 0
    sink.onLine = () => {
      if (lines++ === 0) {
        it.peer.muxer.abort(new Error('Enough'))
      }
    }
    it.peer.clock.advance(12_000)
    expect(lines).toBeGreaterThan(1)
    await nextTurn()
    it.peer.transport.end()
    it.peer.clock.advance(2000)
    expect(it.peer.muxer.status).toBe('closed')
    expect(it.peer.clock.timerCount).toBe(0)
  })

  test('is logged for a few streams at once, and counted for all', async () => {
    const { sink, log } = createSink()
    const peer = createMeteredPeer({ log, maxConnectionWindow: 0 })

    for (const stream of await openStreams(peer, 20)) {
      stream.send(pattern(WINDOW_BYTES + 1000))
      peer.deliver(data(Number(stream.id), pattern(WINDOW_BYTES)))
    }

    // what they write takes several turns to go out, and they stand still one after another
    await nextTurn()
    await nextTurn()
    peer.clock.advance(25_000)
    await nextTurn()
    expect(sink.lines.filter(([level]) => level === 'yamux:yamux:error')).toHaveLength(8)
    expect(peer.sink.count('stalled_streams_total')).toBe(20)
  })

  test('leaves no timer behind when the connection ends', async () => {
    const { peer } = await stuck()
    peer.muxer.abort(new Error('Enough'))
    await nextTurn()
    expect(peer.takeFrames().some(({ flags }) => flags === RST)).toBe(true)
    expect(peer.clock.timerCount).toBe(0)
  })
})

test('a stalled stream that the peer resets is not kept for the next look', async () => {
  const peer = converse({ streamOptions: { maxReadBufferLength: WINDOW_BYTES, maxStreamWindowSize: WINDOW_BYTES } })
  const stall = async (): Promise<WeakRef<object>> => {
    const stream = await peer.open()
    stream.send(pattern(WINDOW_BYTES + 1))
    peer.deliver(data(1, pattern(WINDOW_BYTES)))
    await nextTurn()
    peer.deliver(windowUpdate(1, 0, RST))

    return new WeakRef(stream)
  }
  const stream = await stall()
  await nextTurn()
  await collectGarbage()

  expect(stream.deref()).toBe(undefined)
  await expectAlive(peer)
})
