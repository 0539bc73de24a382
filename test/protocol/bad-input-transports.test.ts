// What a muxer does with bytes no peer may send when the transport does not help: full, slow to close, or in the middle of a write.
import { describe, expect, test } from 'vitest'
import { data, DATA, GO_AWAY, pattern, ping, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectEnded, headers, hex } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import { controlTimeouts } from '../../testing/protocol/timeouts.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { StreamCloseEvent } from '@libp2p/interface'

forbidIncidents()

const VIOLATION = hex('07 02 0001 00000000 00000000')

describe.each(ROLES)('as $role', ({ direction, ownId, peerId }) => {
  describe('an abort of the transport, which would discard what is on its way,', () => {
    const timeouts = controlTimeouts()
    const cut = expect.objectContaining({ code: 'ERR_INVALID_FRAME' })

    const violate = async (isFull: boolean): Promise<{ peer: Conversation, closes: StreamCloseEvent[] }> => {
      const peer = converse({ direction, clock: timeouts.clock })
      const closes: StreamCloseEvent[] = []
      peer.transport.addEventListener('close', evt => { closes.push(evt) })
      await peer.open()
      peer.transport.isFull = isFull
      peer.deliver(VIOLATION)
      expect(headers(peer.takeFrames()).at(-1)).toEqual([GO_AWAY, 0, 0, 1])
      expect(peer.transport.status).toBe('open')

      return { peer, closes }
    }

    test('comes a turn of the event loop behind the GoAway, and says why to whoever holds the connection', async () => {
      const { peer, closes } = await violate(false)
      await nextTurn()

      expect(peer.transport.abortedWith).toEqual(cut)
      expect(closes).toEqual([expect.objectContaining({ error: cut, local: true })])
      expect(timeouts.clock.timerCount).toBe(0)
    })

    test('waits for a full transport to drain', async () => {
      const { peer, closes } = await violate(true)
      await nextTurn()
      expect(peer.transport.status).toBe('open')
      peer.transport.drain()
      await nextTurn()

      expect(closes).toEqual([expect.objectContaining({ error: cut })])
      expect(timeouts.clock.timerCount).toBe(0)
    })

    test('is not waited for when a full transport fails at the GoAway', async () => {
      const peer = converse({ direction, clock: timeouts.clock })
      await peer.open()
      peer.transport.isFull = true
      peer.transport.send = () => { throw new Error('write EPIPE') }
      peer.deliver(VIOLATION)
      await nextTurn()

      expect(peer.transport.status).toBe('aborted')
      expect(timeouts.clock.timerCount).toBe(0)
    })

    test('goes on to wait when a layer above fills it again with what it had kept', async () => {
      const { peer } = await violate(true)
      peer.transport.drain()
      peer.transport.isFull = true
      await nextTurn()
      expect(peer.transport.status).toBe('open')
      peer.transport.drain()
      await nextTurn()

      expect(peer.transport.status).toBe('aborted')
    })

    test('waits a second at most', async () => {
      const { peer, closes } = await violate(true)
      await nextTurn()
      timeouts.clock.advance(999)
      expect(peer.transport.status).toBe('open')
      timeouts.clock.advance(1)

      expect(closes).toEqual([expect.objectContaining({ error: cut })])
      expect(peer.transport.abortedWith).toEqual(cut)
    })

    test('is not needed when the peer is gone first', async () => {
      const { peer, closes } = await violate(true)
      peer.transport.end()
      await timeouts.expire()

      expect(peer.transport.abortedWith).toBeUndefined()
      expect(closes).toHaveLength(1)
      expect(timeouts.clock.timerCount).toBe(0)
    })
  })

  test.each([
    ['default options', {}],
    ['small batches', { coalesce: { maxBytes: 2048 } }],
    ['every frame a write', { coalesce: { strategy: 'off' as const } }]
  ])('a full transport is sent the final frames all the same, GoAway last: %s', async (_, options) => {
    const peer = converse({ direction, ...options })
    await Promise.all(Array.from({ length: 200 }, async () => peer.open()))
    peer.deliver(...Array.from({ length: 200 }, (_, i) => windowUpdate(peerId + 2 * i, 0, SYN)))
    await peer.written()
    peer.transport.isFull = true
    peer.muxer.streams[0].send(pattern(1))
    await peer.written()
    peer.deliver(VIOLATION)

    const frames = await expectEnded(peer, 1)
    expect(frames.filter(([, flags]) => flags === RST)).toHaveLength(400)
  })

  test('a violation that comes while a write is in flight: GoAway is the last frame', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const send = peer.transport.send.bind(peer.transport)
    peer.transport.send = bytes => {
      peer.transport.send = send
      const mayResume = send(bytes)
      peer.deliver(VIOLATION)

      return mayResume
    }
    stream.send(pattern(10))

    const frames = await expectEnded(peer, 1)
    expect(frames[0]).toEqual([DATA, 0, ownId, 10])
    expect(events).toHaveLength(1)
  })

  test('a transport that cannot send the final frames is closed all the same', async () => {
    const peer = converse({ direction })
    const events = endings(await peer.open())
    peer.transport.send = () => { throw new Error('Broken pipe') }
    peer.deliver(VIOLATION)
    await nextTurn()

    const violation = expect.objectContaining({ code: 'ERR_INVALID_FRAME' })
    expect(events).toEqual([expect.objectContaining({ error: violation })])
    expect(peer.transport.status).not.toBe('open')
    expect(peer.transport.abortedWith).toEqual(violation)
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('a transport that cannot send the final frames of abort() is left to libp2p, which aborts it for the same reason', async () => {
    const peer = converse({ direction })
    const events = endings(await peer.open())
    const reason = new Error('Enough')
    peer.transport.send = () => { throw new Error('Broken pipe') }
    peer.muxer.abort(reason)

    expect(peer.transport.abortedWith).toBeUndefined()
    expect(events).toEqual([expect.objectContaining({ error: reason })])
    expect(peer.muxer.status).toBe('closed')
  })

  test('a peer that asks for answers and never reads them is told why it is cut off', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    peer.transport.isFull = true
    stream.send(pattern(1))
    await peer.written()

    for (let i = 0; i < 10_000; i++) {
      peer.deliver(ping(i, SYN))
    }

    expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'ERR_TOO_MANY_UNREAD_REPLIES', message: expect.stringMatching(/\d+ .*allowed \d+/) })])
    expect((await expectEnded(peer, 1)).length).toBeLessThan(2000)
  })

  test.each(['open', 'closing'] as const)('a transport that throws from send() while it is %s: the streams learn why, and whoever holds it that it is of no use', async status => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const cause = new Error('Out of nonces')
    peer.transport.send = () => { throw cause }
    peer.transport.status = status
    stream.send(pattern(10))
    await nextTurn()

    expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'TransportClosedError', cause }) })])
    // one that its holder closes has its own time for that
    expect(peer.transport.abortedWith).toBe(status === 'open' ? cause : undefined)
  })

  test('a transport that breaks in the middle of a frame: what came of it is delivered, the stream learns that the rest is missing', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const waiting = [peer.muxer.ping(), stream.close()]
    const bytes = data(ownId, pattern(100))
    peer.deliver(bytes.subarray(0, 50))
    peer.transport.end(new Error('Connection reset'))
    peer.transport.drain()

    const results = await Promise.allSettled(waiting)
    expect(results[0].status).toBe('rejected')
    expect(stream.readBufferLength).toBe(38)
    expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'TransportClosedError', cause: expect.any(Error) }) })])
  })
})
