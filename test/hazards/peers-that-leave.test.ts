// A peer that says GoAway(0) and keeps its transport: streams in flight finish, then the connection is over.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, goAway, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../fixtures/frames.ts'
import { nextTurn } from '../fixtures/raw-peer.ts'
import { VirtualClock } from '../fixtures/virtual-clock.ts'
import { converse, endings, receive, WINDOW_BYTES } from '../protocol/fixtures/conversation.ts'
import { forbidIncidents } from '../protocol/fixtures/incidents.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../protocol/fixtures/conversation.ts'

forbidIncidents()

describe('a peer that says GoAway(0) and keeps its transport', () => {
  async function expectOver ({ muxer, transport }: Conversation): Promise<void> {
    await nextTurn()
    await nextTurn()
    expect(transport.status).not.toBe('open')
    expect(transport.abortedWith).toBeUndefined()
    expect(muxer.status).toBe('closed')
    expect(muxer.streams).toEqual([])
  }

  async function expectNoMoreStreams ({ muxer }: Conversation): Promise<void> {
    await expect(muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
  }

  test('loses it at once when there are no streams', async () => {
    const peer = converse()
    peer.deliver(goAway(0))
    expect(peer.muxer.status).not.toBe('open')
    await expectNoMoreStreams(peer)
    await expectOver(peer)
    await peer.muxer.close()
    expect(peer.muxer.status).toBe('closed')
  })

  test('lets streams in flight finish in both directions, and loses the transport with the last of them', async () => {
    const peer = converse()
    const stream = await peer.open()
    const accepted = await peer.accept(2)
    peer.deliver(windowUpdate(1, 0, ACK))
    const events = [stream, accepted].map(endings)
    const received = [stream, accepted].map(receive)
    stream.send(pattern(WINDOW_BYTES + 5000))
    await peer.written()
    peer.deliver(goAway(0))
    expect(peer.muxer.status).toBe('closing')
    await expectNoMoreStreams(peer)

    accepted.send(pattern(3000))
    const closing = [stream.close(), accepted.close()]
    peer.deliver(data(1, pattern(50_000), FIN), data(2, pattern(70)), windowUpdate(1, 5000))
    await nextTurn()
    expect(events.map(({ length }) => length)).toEqual([1, 0])
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closing', 'open'])
    peer.deliver(data(2, pattern(7)), windowUpdate(2, 0, FIN))
    await Promise.all(closing)

    expect(received.map(({ byteLength }) => byteLength)).toEqual([50_000, 77])
    const frames = await peer.written()
    expect(frames.reduce((sum, [type, , , length]) => type === DATA ? sum + length : sum, 0)).toBe(5000 + 3000)
    expect(frames.filter(([, flags]) => flags === FIN)).toHaveLength(2)
    expect(events.map(all => all.map(({ error }) => error))).toEqual([[undefined], [undefined]])
    await expectOver(peer)
  })

  test.each<[string, (stream: YamuxStream, peer: Conversation) => void, number | undefined]>([
    ['is aborted here', stream => { stream.abort(new Error('Enough')) }, RST],
    ['is reset by the peer', (_, peer) => { peer.deliver(windowUpdate(1, 0, RST)) }, undefined],
    ['had been closed by the peer before', (stream, peer) => {
      peer.deliver(windowUpdate(1, 0, FIN))
      stream.send(pattern(100))
      stream.close().catch(() => {})
    }, FIN]
  ])('loses it when the last stream %s, all being written', async (_, end, flag) => {
    const peer = converse()
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))
    await peer.written()
    expect(peer.transport.status).toBe('open')
    end(stream, peer)
    const frames = await peer.written()

    expect(frames.filter(([, flags, id]) => id === 1 && flags !== 0)).toEqual(flag == null ? [] : [[WINDOW_UPDATE, flag, 1, 0]])
    await expectOver(peer)
  })

  test('is told the end of its last stream although the transport is full at that moment', async () => {
    const peer = converse()
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))
    await peer.written()
    peer.transport.isFull = true
    peer.deliver(ping(1, SYN))
    await peer.written()
    stream.send(pattern(100))
    const closing = stream.close()
    peer.deliver(windowUpdate(1, 0, FIN))
    await nextTurn()
    expect(peer.transport.status).toBe('open')
    peer.transport.drain()
    await closing

    expect((await peer.written()).filter(([, , id]) => id === 1)).toEqual([[DATA, 0, 1, 100], [WINDOW_UPDATE, FIN, 1, 0]])
    await expectOver(peer)
  })

  test('opens streams for as long as others are in flight, as it may', async () => {
    const peer = converse()
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))
    const accepted = await peer.accept(2)
    expect(accepted.status).toBe('open')
    stream.abort(new Error('Enough'))
    await peer.written()
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closing', 'open'])
    accepted.abort(new Error('Enough'))
    await peer.written()
    await expectOver(peer)
  })

  test('and falls silent is found out by keep-alive as before', async () => {
    const clock = new VirtualClock()
    const peer = converse({ clock, enableKeepAlive: true, keepAliveInterval: 1000 })
    const stream = await peer.open()
    const events = endings(stream)
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))

    for (let i = 0; i < 20 && events.length === 0; i++) {
      clock.advance(500)
      await nextTurn()
    }

    expect(events).toMatchObject([{ error: { name: 'KeepAliveTimeoutError' } }])
    expect(peer.muxer.status).toBe('closed')
  })

  test('and answers pings keeps a stream in flight', async () => {
    const clock = new VirtualClock()
    const peer = converse({ clock, enableKeepAlive: true, keepAliveInterval: 1000 })
    const stream = await peer.open()
    // the first ping went with the SYN
    peer.deliver(ping(0, ACK), windowUpdate(1, 0, ACK), goAway(0))

    for (let i = 0; i < 20; i++) {
      await nextTurn()
      peer.takeFrames().filter(({ type, flags }) => type === PING && flags === SYN).forEach(({ length }) => { peer.deliver(ping(length, ACK)) })
      clock.advance(900)
    }

    expect(stream.status).toBe('open')
    expect(peer.muxer.status).toBe('closing')
  })

  test('is no hindrance to close(), which closes what is in flight', async () => {
    const peer = converse()
    const stream = await peer.open()
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))
    stream.send(pattern(100))
    await peer.muxer.close()

    expect(peer.muxer.status).toBe('closed')
    expect((await peer.written()).filter(([, , id]) => id === 1)).toEqual([[DATA, 0, 1, 100], [WINDOW_UPDATE, FIN, 1, 0]])
  })

  test('is no hindrance to abort()', async () => {
    const peer = converse()
    const events = endings(await peer.open())
    peer.deliver(windowUpdate(1, 0, ACK), goAway(0))
    peer.muxer.abort(new Error('Enough'))

    expect(peer.muxer.status).toBe('closed')
    expect(events).toHaveLength(1)
  })
})
