// A peer that says GoAway(0) and keeps its transport: streams in flight finish, then the connection is over.
import { describe, expect, test } from 'vitest'
import { ACK, DATA, FIN, goAway, pattern, PING, ping, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import { converse, endings, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import type { StreamCloseEvent } from '@libp2p/interface'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

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

  test('hears nothing more while its transport is being closed, also if it asks', async () => {
    const peer = converse()
    peer.transport.close = async () => new Promise(() => {})
    peer.deliver(goAway(0))
    await nextTurn()
    peer.deliver(ping(7, SYN), windowUpdate(2, 0, SYN))

    expect(await peer.written()).toEqual([])
    expect(peer.inbound).toEqual([])
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

describe('a FIN for a peer that has said GoAway(0), on a stream that it has finished,', () => {
  const LONGEST_WAIT_MS = 1000

  async function leave (): Promise<{ peer: Conversation, clock: VirtualClock, stream: YamuxStream, closing: Promise<void>, events: StreamCloseEvent[] }> {
    const clock = new VirtualClock()
    const peer = converse({ clock })
    const stream = await peer.open()
    const events = endings(stream)
    peer.deliver(windowUpdate(1, 0, ACK | FIN), goAway(0))
    const closing = stream.close()
    closing.catch(() => {})

    return { peer, clock, stream, closing, events }
  }

  test.each([undefined, new Error('read ECONNRESET')])('is not written when its transport ends in a moment, and the stream is closed: %s', async cause => {
    const { peer, clock, stream, closing, events } = await leave()
    expect(await peer.written()).toEqual([])
    expect(stream.writeStatus).toBe('closing')
    peer.transport.end(cause)
    await closing

    expect(stream).toMatchObject({ status: 'closed', writeStatus: 'closed' })
    expect(events).toMatchObject([{ error: undefined }])
    expect(clock.timerCount).toBe(0)
    expect(await peer.written()).toEqual([])
  })

  test('is written when the transport stays, and that is closed behind it', async () => {
    const { peer, clock, closing, events } = await leave()
    expect(await peer.written()).toEqual([])
    clock.advance(LONGEST_WAIT_MS)
    await closing

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 1, 0]])
    expect(events).toMatchObject([{ error: undefined }])
    expect([peer.transport.status, peer.transport.abortedWith, clock.timerCount]).toEqual(['closed', undefined, 0])
  })

  test('is not missed when the transport breaks at it', async () => {
    const { peer, clock, stream, closing, events } = await leave()
    peer.transport.send = () => { throw new Error('write EPIPE') }
    clock.advance(LONGEST_WAIT_MS)
    await closing

    expect(stream.status).toBe('closed')
    expect(events).toMatchObject([{ error: undefined }])
  })

  test('does not wait behind data, which the peer may still read', async () => {
    const { peer, clock } = await leave()
    const stream = await peer.accept(2)
    peer.deliver(windowUpdate(2, 0, FIN))
    stream.send(pattern(10))
    await stream.close()

    expect(await peer.written()).toEqual([[DATA, 0, 2, 10], [WINDOW_UPDATE, FIN, 2, 0]])
    clock.advance(LONGEST_WAIT_MS)
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 1, 0]])
  })

  test('holds up nothing on streams that it has not finished', async () => {
    const { peer } = await leave()
    const stream = await peer.accept(2)
    await stream.close()

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 2, 0]])
  })

  test('gives way to a reset', async () => {
    const { peer, clock, stream, closing } = await leave()
    const reason = new Error('Enough')
    stream.abort(reason)
    clock.advance(LONGEST_WAIT_MS)

    await expect(closing).rejects.toBe(reason)
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 1, 0]])
    expect([peer.transport.status, clock.timerCount]).toEqual(['closed', 0])
  })

  test('does not wait once the peer was seen to stay', async () => {
    const { peer, clock } = await leave()
    const streams = [await peer.accept(2), await peer.accept(4)]
    peer.deliver(windowUpdate(2, 0, FIN), windowUpdate(4, 0, FIN))
    clock.advance(LONGEST_WAIT_MS)
    await peer.written()
    await streams[0].close()

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 2, 0]])
  })

  test('is written within close() when the signal is aborted, as with the stock muxer', async () => {
    const { peer } = await leave()
    const stream = await peer.accept(2)
    peer.deliver(windowUpdate(2, 0, FIN))
    await stream.close({ signal: AbortSignal.abort(new Error('Enough')) })

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 2, 0]])
  })

  test('waits no longer when this side closes its muxer too', async () => {
    const { peer, clock } = await leave()
    const closed = peer.muxer.close()
    clock.advance(LONGEST_WAIT_MS)
    await closed

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, FIN, 1, 0]])
  })

  test.each([undefined, new Error('read ECONNRESET')])('makes no difference to a stream with bytes that were not sent: %s', async cause => {
    const clock = new VirtualClock()
    const peer = converse({ clock })
    const stream = await peer.open()
    const events = endings(stream)
    stream.send(pattern(WINDOW_BYTES + 1))
    await peer.written()
    peer.deliver(windowUpdate(1, 0, ACK | FIN), goAway(0))
    const closing = stream.close()
    peer.transport.end(cause)

    await expect(closing).rejects.toThrow(expect.objectContaining({ name: 'TransportClosedError' }))
    expect(events).toMatchObject([{ error: { name: 'TransportClosedError' } }])
  })
})
