// The closing rules: half-closes, resets, what may still arrive, and which of it is the peer's fault.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, frame, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { YamuxStream } from '../../src/index.ts'

/** A stream that this side has opened, reads and has closed for writing; all that is written */
async function closeHere (init: RawPeerInit): Promise<{ peer: Conversation, stream: YamuxStream }> {
  const peer = converse(init)
  const stream = await peer.open()
  receive(stream)
  await stream.close()
  await peer.written()

  return { peer, stream }
}

describe.each(ROLES)('as $role', ({ direction, ownId, peerId }) => {
  test('M: FIN half-closes: this side sends no Data after its own, and still receives', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    stream.send(pattern(5))
    await stream.close()
    const frames = await peer.written()

    expect(frames[0]).toEqual([DATA, expect.any(Number), ownId, 5])
    expect(frames.at(-1)?.[1]).toBe(FIN)
    expect(() => stream.send(pattern(1))).toThrow(expect.objectContaining({ name: 'StreamStateError' }))
    expect(stream.writeStatus).toBe('closed')
    expect(stream.status).toBe('open')

    peer.deliver(data(ownId, pattern(7)))
    expect(received.byteLength).toBe(7)
    expect(await peer.written()).toEqual([])
  })

  test('M: FIN half-closes: this side gives credit back after its own', async () => {
    const { peer } = await closeHere({ direction })
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, 0, ownId, WINDOW_BYTES]])
  })

  test('D: behind its FIN this side gives no credit to a peer that has half of the protocol\'s window left', async () => {
    const { peer } = await closeHere({ direction, streamOptions: { initialStreamWindowSize: 300_000, maxStreamWindowSize: 300_000 } })

    // more than half of its own window
    peer.deliver(data(ownId, pattern(160_000)))
    expect(await peer.written()).toEqual([])
    peer.deliver(data(ownId, pattern(10_000)))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, 0, ownId, 170_000]])
  })

  test('D: behind its FIN this side gives the credit that it has held when the peer needs it, also if nobody reads by then', async () => {
    const { peer, stream } = await closeHere({ direction, streamOptions: { initialStreamWindowSize: 300_000, maxStreamWindowSize: 300_000 } })
    peer.deliver(data(ownId, pattern(160_000)))
    expect(await peer.written()).toEqual([])

    stream.pause()
    peer.deliver(data(ownId, pattern(140_000)))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, 0, ownId, 160_000]])
  })

  test('D: behind its FIN this side gives credit to a peer with a window of twice the protocol\'s as it does before', async () => {
    const { peer } = await closeHere({ direction, streamOptions: { initialStreamWindowSize: 2 * WINDOW_BYTES, maxStreamWindowSize: 2 * WINDOW_BYTES } })
    peer.deliver(data(ownId, pattern(WINDOW_BYTES)))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, 0, ownId, WINDOW_BYTES]])
  })

  test('D: behind both FINs this side gives no credit', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.pause()
    await stream.close()
    await peer.written()
    peer.deliver(data(ownId, pattern(200_000)), windowUpdate(ownId, 0, FIN))
    receive(stream)
    stream.resume()

    expect(await peer.written()).toEqual([])
  })

  test.each([
    ['WindowUpdate', windowUpdate(ownId, 0, FIN)],
    ['an empty Data frame', data(ownId, pattern(0), FIN)],
    ['the last Data frame', data(ownId, pattern(9), FIN)]
  ])('M: FIN half-closes: after the peer\'s, on %s, this side still sends', async (_, fin) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    const order: string[] = []
    stream.addEventListener('message', () => { order.push('message') })
    stream.addEventListener('remoteCloseWrite', () => { order.push('remoteCloseWrite') })
    peer.deliver(fin)

    expect(order).toEqual(received.byteLength === 0 ? ['remoteCloseWrite'] : ['message', 'remoteCloseWrite'])
    expect(stream.remoteWriteStatus).toBe('closed')
    expect(stream.writeStatus).toBe('writable')
    stream.send(pattern(6))
    expect(await peer.written()).toEqual([[DATA, 0, ownId, 6]])
  })

  test.each(['this side', 'the peer'])('M: both FINs close the stream, %s first', async first => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    receive(stream)

    if (first === 'this side') {
      await stream.close()
      expect(events).toHaveLength(0)
      peer.deliver(windowUpdate(ownId, 0, FIN))
    } else {
      peer.deliver(windowUpdate(ownId, 0, FIN))
      expect(events).toHaveLength(0)
      await stream.close()
    }

    expect(events).toEqual([expect.objectContaining({ error: undefined })])
    expect(stream.status).toBe('closed')
    expect(peer.muxer.streams).toHaveLength(0)
    expect((await peer.written()).filter(([, flags]) => (flags & RST) !== 0)).toEqual([])
  })

  test('M: both FINs close the stream, in the peer\'s very first frame and the answer to it', async () => {
    const peer = converse({ direction })
    peer.deliver(data(peerId, pattern(4), SYN | ACK | FIN))
    const received = receive(peer.inbound[0])
    await peer.inbound[0].close()

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0], [WINDOW_UPDATE, FIN, peerId, 0]])
    expect(received.byteLength).toBe(4)
    expect(peer.inbound[0].status).toBe('closed')
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test.each([DATA, WINDOW_UPDATE])('M: RST closes both directions at once: the peer\'s, on type %i', async type => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    stream.send(pattern(2 * WINDOW_BYTES))
    await nextTurn()
    peer.deliver(frame(type, RST, ownId))

    expect(events).toHaveLength(1)
    expect(stream).toMatchObject({ status: 'reset', writeStatus: 'closed', remoteWriteStatus: 'closed', writeBufferLength: 0 })
    peer.takeFrames()
    peer.deliver(windowUpdate(ownId, WINDOW_BYTES))
    expect(await peer.written()).toEqual([])
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('M: RST closes both directions at once: this side\'s overtakes what is queued', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(2 * WINDOW_BYTES))
    await peer.written()
    stream.abort(new Error('Enough'))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, ownId, 0]])
    peer.deliver(windowUpdate(ownId, WINDOW_BYTES), data(ownId, pattern(5)))
    expect(await peer.written()).toEqual([])
    expect(stream.readBufferLength).toBe(0)
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('D: FIN is never sent twice, however often the stream is closed', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(5))
    const closes = [stream.close(), stream.close()]
    await Promise.all(closes)
    await stream.close()
    await peer.muxer.close()

    expect((await peer.written()).filter(([, flags]) => (flags & FIN) !== 0)).toHaveLength(1)
  })

  test('D: FIN is never sent twice, nor is any after RST', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(2 * WINDOW_BYTES))
    const closing = stream.close()
    stream.abort(new Error('Enough'))
    await expect(closing).rejects.toThrow('Enough')
    stream.abort(new Error('More than enough'))

    expect((await peer.written()).map(([, flags]) => flags & (FIN | RST)).filter(flags => flags !== 0)).toEqual([RST])
  })

  test('D: FIN received twice is harmless, on every kind of frame', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const ends: Event[] = []
    stream.addEventListener('remoteCloseWrite', evt => { ends.push(evt) })
    const fins = [data(ownId, pattern(1), FIN), data(ownId, pattern(0), FIN), windowUpdate(ownId, 0, FIN), windowUpdate(ownId, 0, FIN | ACK)]
    peer.deliver(...fins)
    fins.slice(1).forEach(fin => { peer.deliver(fin) })

    expect(ends).toHaveLength(1)
    expect(events).toHaveLength(0)
    await expectAlive(peer)
  })

  test('D: FIN after both FINs is harmless', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    await stream.close()
    peer.deliver(windowUpdate(ownId, 0, FIN), windowUpdate(ownId, 0, FIN), data(ownId, pattern(0), FIN))

    await expectAlive(peer)
  })

  test('D: a second RST is harmless, whoever sent the first', async () => {
    const peer = converse({ direction })
    const reset = await peer.open()
    const aborted = await peer.open()
    const events = [endings(reset), endings(aborted)]
    aborted.abort(new Error('Enough'))

    for (const { id } of [reset, aborted, reset, aborted]) {
      peer.deliver(windowUpdate(Number(id), 0, RST), data(Number(id), pattern(0), RST))
    }

    expect(events.map(({ length }) => length)).toEqual([1, 1])
    await expectAlive(peer)
  })

  test('M: what arrives after RST is not delivered', async () => {
    const peer = converse({ direction })
    const received = receive(await peer.open())
    peer.deliver(data(ownId, pattern(3)), windowUpdate(ownId, 0, RST), data(ownId, pattern(5)), windowUpdate(ownId, 0, FIN))
    peer.deliver(data(ownId, pattern(7)))

    expect(received.byteLength).toBe(3)
    await expectAlive(peer)
  })

  test('M: what arrives after RST is not delivered: not the rest of a frame during which this side aborted', async () => {
    const peer = converse({ direction, coalesce: { mergeMessages: true } })
    const stream = await peer.open()
    const received = receive(stream)
    stream.addEventListener('message', () => { stream.abort(new Error('Enough')) })
    const bytes = data(ownId, pattern(100), FIN)
    peer.deliver(bytes.subarray(0, 50))
    peer.deliver(bytes.subarray(50))

    expect(received.byteLength).toBe(38)
    await expectAlive(peer)
  })

  test.each(['this side open', 'this side half-closed'])('M: Data after FIN is the peer\'s violation and is not delivered: %s', async state => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    const events = endings(stream)
    peer.deliver(windowUpdate(ownId, 0, FIN))

    if (state === 'this side half-closed') {
      // its FIN waits behind what the window does not let out
      stream.send(pattern(2 * WINDOW_BYTES))
      stream.close().catch(() => {})
    }

    await nextTurn()
    peer.deliver(data(ownId, pattern(5)))
    expect(received.byteLength).toBe(0)
    expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'ERR_DATA_AFTER_FIN' })])
    await expectEnded(peer, 1)
  })
})
