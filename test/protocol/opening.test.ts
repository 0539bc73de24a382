// The opening rules: SYN and its answer, what may follow before it, which ids may be used, and when a SYN is refused.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, frame, goAway, GO_AWAY, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, headers, hex, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'

describe.each(ROLES)('as $role', ({ direction, ownId, secondOwnId, peerId, secondPeerId }) => {
  const thirdOwnId = secondOwnId + 2

  /** The SYN of a turn's first stream has left; those of its next ones wait for what the application does with them */
  async function afterFirstOpened (init: Partial<Parameters<typeof converse>[0]> = {}): Promise<ReturnType<typeof converse>> {
    const peer = converse({ direction, ...init })
    await peer.muxer.createStream()
    peer.takeFrames()

    return peer
  }

  test('M: the first frame of a new id carries SYN: on WindowUpdate when there is no data', async () => {
    const peer = converse({ direction })
    await peer.muxer.createStream()

    expect(headers(peer.takeFrames())).toEqual([[WINDOW_UPDATE, SYN, ownId, 0]])
  })

  test('M: the first frame of a new id carries SYN: on Data when there is some, and no later frame does', async () => {
    const peer = await afterFirstOpened()
    const stream = await peer.muxer.createStream()
    stream.send(pattern(5))
    expect(await peer.written()).toEqual([[DATA, SYN, secondOwnId, 5]])

    stream.send(pattern(6))
    expect(await peer.written()).toEqual([[DATA, 0, secondOwnId, 6]])
  })

  test('M: data may follow SYN at once, also the answer: what comes before the opener runs again is not lost', async () => {
    const peer = converse({ direction })
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      const isTaken = send(bytes)
      peer.deliver(data(ownId, pattern(10), ACK), windowUpdate(ownId, 0, FIN))

      return isTaken
    }

    // its flush comes a microtask later and takes the SYN along
    peer.muxer.ping().catch(() => {})
    await null
    const stream = await peer.muxer.createStream()
    const received: number[] = []

    for await (const bytes of stream) {
      received.push(bytes.byteLength)
    }

    expect(received).toEqual([10])
    expect(stream.remoteWriteStatus).toBe('closed')
    peer.muxer.abort(new Error('over'))
  })

  test('M: the first frame of a new id carries SYN, also when the stream is closed at once', async () => {
    const peer = await afterFirstOpened()
    const closing = (await peer.muxer.createStream()).close()
    const full = await peer.muxer.createStream()
    full.send(pattern(7))
    await Promise.all([closing, full.close()])

    const frames = await peer.written()
    expect(frames.filter(([, , id]) => id === secondOwnId)).toEqual([[WINDOW_UPDATE, SYN, secondOwnId, 0], [WINDOW_UPDATE, FIN, secondOwnId, 0]])
    expect(frames.find(([, , id]) => id === thirdOwnId)).toEqual([DATA, SYN, thirdOwnId, 7])
    expect(frames.at(-1)).toEqual([WINDOW_UPDATE, FIN, thirdOwnId, 0])
  })

  test('M: the first frame of a new id carries SYN: none at all is sent for a stream that is aborted before its SYN', async () => {
    const peer = await afterFirstOpened()
    const stream = await peer.muxer.createStream()
    stream.abort(new Error('No longer wanted'))
    expect(await peer.written()).toEqual([])

    expect((await peer.muxer.createStream()).id).toBe(String(thirdOwnId))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, SYN, thirdOwnId, 0]])
  })

  test('M: the first frame of a new id carries SYN: no window is advertised for a stream that is aborted before its SYN', async () => {
    const peer = await afterFirstOpened({ streamOptions: { initialStreamWindowSize: 2 ** 20 } })
    const stream = await peer.muxer.createStream()
    stream.abort(new Error('No longer wanted'))

    expect(await peer.written()).toEqual([])
  })

  test.each([DATA, WINDOW_UPDATE])('M: a SYN on type %i is answered with ACK on WindowUpdate, once', async type => {
    const peer = converse({ direction })
    peer.deliver(frame(type, SYN, peerId))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0]])

    peer.inbound[0].send(pattern(3))
    expect(await peer.written()).toEqual([[DATA, 0, peerId, 3]])
  })

  test.each([DATA, WINDOW_UPDATE])('M: a SYN on type %i is answered with ACK on Data when there is some', async type => {
    const peer = converse({ direction })
    peer.muxer.addEventListener('stream', evt => { evt.detail.send(pattern(3)) })
    peer.deliver(frame(type, SYN, peerId))

    expect(await peer.written()).toEqual([[DATA, ACK, peerId, 3]])
  })

  test('M: a SYN is answered with ACK, and FIN right behind it when the stream is closed at once', async () => {
    const peer = converse({ direction })
    peer.muxer.addEventListener('stream', evt => { evt.detail.close().catch(() => {}) })
    peer.deliver(data(peerId, pattern(2), SYN | FIN))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0], [WINDOW_UPDATE, FIN, peerId, 0]])
    const received = receive(peer.inbound[0])
    await nextTurn()
    expect(received.byteLength).toBe(2)
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('M: a SYN is answered with RST when the application aborts the stream at once', async () => {
    const peer = converse({ direction })
    peer.muxer.addEventListener('stream', evt => { evt.detail.abort(new Error('Not served here')) })
    peer.deliver(data(peerId, pattern(2), SYN))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, peerId, 0]])
  })

  test.each([DATA, WINDOW_UPDATE])('M: the answer ACK or RST is taken on type %i', async type => {
    const peer = converse({ direction })
    const accepted = await peer.open()
    const refused = await peer.open()
    const events = endings(refused)
    const received = receive(accepted)
    peer.deliver(frame(type, ACK, ownId, type === DATA ? pattern(4) : 10), frame(type, RST, secondOwnId))

    expect(accepted.status).toBe('open')
    expect(received.byteLength).toBe(type === DATA ? 4 : 0)
    expect(refused.status).toBe('reset')
    expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'StreamResetError' }) })])
  })

  test('M: inbound streams are bounded: beyond the limit RST, on an id that is used by then', async () => {
    const peer = converse({ direction, maxInboundStreams: 2 })
    const ids = [0, 2, 4, 6].map(offset => peerId + offset)
    peer.deliver(...ids.map(id => data(id, pattern(5), SYN)))

    expect(peer.inbound.map(({ id }) => Number(id))).toEqual(ids.slice(0, 2))
    const frames = await peer.written()
    expect(frames).toHaveLength(4)
    expect(frames).toEqual(expect.arrayContaining([
      [WINDOW_UPDATE, ACK, ids[0], 0], [WINDOW_UPDATE, ACK, ids[1], 0], [WINDOW_UPDATE, RST, ids[2], 0], [WINDOW_UPDATE, RST, ids[3], 0]
    ]))

    peer.deliver(windowUpdate(ids[0], 0, RST), windowUpdate(ids[3] + 2, 0, SYN))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, ids[3] + 2, 0]])

    peer.deliver(windowUpdate(ids[2], 0, SYN))
    await expectEnded(peer, 1)
  })

  test.each([DATA, WINDOW_UPDATE])('D: SYN on a live id is a connection error: type %i', async type => {
    const peer = converse({ direction })
    const stream = await peer.accept(peerId)
    const events = endings(stream)
    peer.deliver(frame(type, SYN, peerId))

    expect(peer.inbound).toHaveLength(1)
    expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'ERR_INVALID_STREAM_ID', message: expect.stringContaining(String(peerId)) })])
    await expectEnded(peer, 1)
  })

  test.each([
    ['reset by the peer', async (peer: ReturnType<typeof converse>) => { peer.deliver(windowUpdate(peerId, 0, RST)) }],
    ['aborted here', async (peer: ReturnType<typeof converse>) => { peer.inbound[0].abort(new Error('Enough')) }],
    ['closed by both', async (peer: ReturnType<typeof converse>) => { peer.deliver(windowUpdate(peerId, 0, FIN)); await peer.inbound[0].close() }]
  ])('D: SYN on an id already used is a connection error: %s', async (_, end) => {
    const peer = converse({ direction })
    await peer.accept(peerId)
    await end(peer)
    await nextTurn()
    expect(peer.muxer.streams).toHaveLength(0)
    peer.deliver(windowUpdate(peerId, 0, SYN))

    await expectEnded(peer, 1)
  })

  test.each([DATA, WINDOW_UPDATE])('D: SYN on an id already used is a connection error: by a SYN with RST, which opens nothing: type %i', async type => {
    const peer = converse({ direction })
    peer.deliver(frame(type, SYN | RST, peerId))
    expect(peer.inbound).toEqual([])
    expect(await peer.written()).toEqual([])
    peer.deliver(windowUpdate(peerId, 0, SYN))

    await expectEnded(peer, 1)
  })

  test('D: SYN on an id already used: ids that were left out may still come, each once', async () => {
    const peer = converse({ direction })
    const ids = [6, 0, 4, 2, 8].map(offset => peerId + offset)
    peer.deliver(...ids.map(id => windowUpdate(id, 0, SYN)))

    expect(peer.inbound.map(({ id }) => Number(id))).toEqual(ids)
    await expectAlive(peer)
    peer.deliver(windowUpdate(secondPeerId, 0, SYN))
    await expectEnded(peer, 1)
  })

  test.each([
    ['Data', hex(`00 00 0000 0000100${peerId} 00000003 010203`)],
    ['Data of this side\'s parity', hex(`00 00 0000 0000100${ownId} 00000003 010203`)],
    ['Data with FIN', hex(`00 00 0004 0000100${peerId} 00000001 01`)],
    ['Data that looks like a bad header', hex(`00 00 0000 0000100${peerId} 00000010 ffffffffffffffffffffffffffffffff`)],
    ['Data that a grown window allowed', data(peerId + 0x1000, pattern(2 * WINDOW_BYTES))],
    ['Data with ACK', hex(`00 00 0002 0000100${ownId} 00000001 01`)],
    ['WindowUpdate', hex(`00 01 0000 0000100${peerId} ffffffff`)],
    ['WindowUpdate with FIN', hex(`00 01 0004 0000100${ownId} 00000000`)],
    ['RST', hex(`00 01 0008 0000100${peerId} 00000000`)],
    ['RST with a code', hex(`00 01 0008 0000100${ownId} 00001001`)]
  ])('D: a frame for an unknown stream is drained and ignored, no RST, no connection error: %s', async (_, bytes) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(bytes.subarray(0, 13), bytes.subarray(13))
    expect(await peer.written()).toEqual([])

    expect(stream.status).toBe('open')
    await expectAlive(peer)
  })

  test('D: a SYN after this side sent GoAway is answered with RST', async () => {
    const peer = converse({ direction })
    await peer.accept(peerId)
    await peer.muxer.close()
    expect((await peer.written()).at(-1)).toEqual([GO_AWAY, 0, 0, 0])
    peer.deliver(data(secondPeerId, pattern(5), SYN), windowUpdate(secondPeerId + 2, 0, SYN))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, secondPeerId, 0], [WINDOW_UPDATE, RST, secondPeerId + 2, 0]])
    expect(peer.inbound).toHaveLength(1)
  })

  test('D: a SYN after the peer\'s own GoAway is still served', async () => {
    const peer = converse({ direction })
    peer.deliver(goAway(0), windowUpdate(peerId, 0, SYN))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0]])
  })
})
