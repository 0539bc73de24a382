// The rules of Ping and GoAway: who answers what, which code says why, and what still goes on afterwards.
import { describe, expect, test } from 'vitest'
import { systemClock } from '../../src/host/clock.ts'
import { GoAwayCode } from '../../src/index.ts'
import { snapshot } from '../../src/snapshot.ts'
import { ACK, data, DATA, FIN, GO_AWAY, goAway, pattern, ping, PING, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { collectGarbage } from '../../testing/protocol/garbage.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, hex, pingValues, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import { VirtualClock } from '../../testing/protocol/virtual-clock.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation, Received } from '../../testing/protocol/conversation.ts'

describe.each(ROLES)('as $role', ({ direction, ownId, peerId, secondPeerId }) => {
  test('M: Ping with SYN is answered once: each of several, in order, the same value twice too', async () => {
    const peer = converse({ direction })
    const values = [0, 0xffff_ffff, 7, 7, 1]
    peer.deliver(...values.map(value => ping(value, SYN)))

    expect(await peer.written()).toEqual(values.map(value => [PING, ACK, 0, value]))
  })

  test('M: Ping with SYN is answered once: every one of 2,000 that come together, to a peer that reads', async () => {
    const peer = converse({ direction })
    peer.deliver(...Array.from({ length: 2000 }, (_, i) => ping(i, SYN)))

    expect((await peer.written()).filter(([type]) => type === PING).map(([, , , value]) => value)).toEqual(Array.from({ length: 2000 }, (_, i) => i))
    expect(peer.muxer.status).toBe('open')
  })

  test('M: this side\'s Ping carries SYN, and is measured by the ACK of the same value', async () => {
    const clock = new VirtualClock()
    const peer = converse({ direction, clock })
    const measured = peer.muxer.ping()
    const shared = peer.muxer.ping()
    const [value, ...others] = await pingValues(peer)
    expect(others).toEqual([])

    clock.advance(30)
    peer.deliver(ping((value ^ 0x5555) >>> 0, ACK))
    clock.advance(12.5)
    peer.deliver(ping(value, ACK))
    expect(await Promise.all([measured, shared])).toEqual([42.5, 42.5])
    expect(peer.muxer.getRTT()).toBe(42.5)
  })

  test('M: this side\'s Ping is measured by its own ACK, although another is in flight by then', async () => {
    const clock = new VirtualClock()
    const peer = converse({ direction, clock })
    const first = peer.muxer.ping()
    const [value] = await pingValues(peer)
    clock.advance(4500)
    const second = peer.muxer.ping()
    const [nextValue] = await pingValues(peer)
    clock.advance(1500)
    peer.deliver(ping(value, ACK))
    expect(await first).toBe(6000)

    clock.advance(500)
    peer.deliver(ping(nextValue, ACK))
    expect(await second).toBe(2000)
  })

  test('M: this side\'s Ping that is written while a chunk is read, as its replies are full, is measured by the rest of the chunk', async () => {
    let readings = 0
    const peer = converse({ direction, clock: { ...systemClock, nowMs: () => ++readings } })
    await nextTurn()
    const pinged = peer.muxer.ping()
    peer.deliver(...Array.from({ length: 5000 }, (_, i) => ping(i, SYN)), ping(0, ACK))

    expect(await pinged).toBeGreaterThan(0)
    expect(snapshot(peer.muxer).roundTripMs).toBeGreaterThan(0)
  })

  test('M: this side\'s Ping is measured although whoever shared it asks again at once', async () => {
    const peer = converse({ direction })
    const again = peer.muxer.ping().then(() => { peer.muxer.ping().catch(() => {}) })
    const limited = peer.muxer.ping({ signal: new AbortController().signal })
    const [value] = await pingValues(peer)
    peer.deliver(ping(value, ACK))
    await again

    expect(await limited).toBeGreaterThanOrEqual(0)
  })

  test.each([
    ['before any ping', hex('00 02 0002 00000000 00000000')],
    ['of another value', hex('00 02 0002 00000000 ffffffff')],
    ['without any flag', hex('00 02 0000 00000000 00000001')],
    ['with FIN and RST', hex('00 02 000e 00000000 00000001')]
  ])('D: an unexpected pong does not end the connection, nor is it answered: %s', async (_, pong) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(pong, pong)

    expect(await peer.written()).toEqual([])
    expect(stream.status).toBe('open')
    await expectAlive(peer)
  })

  test('D: an unexpected pong does not end the connection: a second answer to this side\'s ping', async () => {
    const peer = converse({ direction })
    const measured = peer.muxer.ping()
    const [value] = await pingValues(peer)
    peer.deliver(ping(value, ACK), ping(value, ACK))
    await measured
    peer.deliver(ping(value, ACK))

    await expectAlive(peer)
  })

  test('S: GoAway before closing: close() says 0, behind all that was sent and its FIN', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(5))
    await peer.muxer.close()
    const frames = await peer.written()

    expect(frames[0]).toEqual([DATA, 0, ownId, 5])
    expect(frames.slice(0, -1).some(([, flags]) => (flags & FIN) !== 0)).toBe(true)
    expect(frames.filter(([type]) => type === GO_AWAY)).toEqual([[GO_AWAY, 0, 0, 0]])
    expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, 0])
  })

  test.each([GoAwayCode.NormalTermination, GoAwayCode.ProtocolError, GoAwayCode.InternalError])('S: GoAway before closing carries the reason given: %i', async reason => {
    const peer = converse({ direction })
    await peer.muxer.close({ reason })
    await peer.muxer.close({ reason })

    expect(await peer.written()).toEqual([[GO_AWAY, 0, 0, reason]])
  })

  test('S: the code sent matches the cause: 2 when this side aborts, each stream being reset', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.muxer.abort(new Error('Out of memory'))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, Number(stream.id), 0], [GO_AWAY, 0, 0, 2]])
    expect(peer.muxer.status).toBe('closed')
  })

  test('S: the code sent matches the cause: 2 when the peer has fallen silent', async () => {
    const clock = new VirtualClock()
    const peer = converse({ direction, clock, enableKeepAlive: true, keepAliveInterval: 1000 })
    await nextTurn()
    await clock.pass(10_000, 1000)

    await expectEnded(peer, 2)
  })

  test.each([
    ['FIN', async () => {}],
    ['0', async (stream: YamuxStream) => { stream.abort(new Error('Enough')) }]
  ])('S: the code sent matches the cause: 1 when the peer breaks a rule while close() has yet to say %s', async (_, end) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.transport.isFull = true
    stream.send(pattern(1))
    await peer.written()
    await end(stream)
    const closing = peer.muxer.close()
    await nextTurn()
    peer.deliver(hex('00 09 0000 00000000 00000000'))
    await closing

    await expectEnded(peer, 1)
  })

  test('S: GoAway before closing: a stream that came in the same chunk as the one whose handler closes is refused, and nothing follows the GoAway', async () => {
    const peer = converse({ direction })
    const seen: YamuxStream[] = []
    peer.muxer.addEventListener('stream', ({ detail: stream }) => {
      seen.push(stream as YamuxStream)
      peer.muxer.close().catch(() => {})
    })
    peer.deliver(windowUpdate(peerId, 0, SYN), windowUpdate(peerId + 2, 0, SYN))
    await nextTurn()
    const frames = await peer.written()

    expect(seen.map(({ id }) => id)).toEqual([String(peerId)])
    expect(frames).toContainEqual([WINDOW_UPDATE, RST, peerId + 2, 0])
    expect(frames.at(-1)).toEqual([GO_AWAY, 0, 0, 0])
  })

  test('S: GoAway before closing: streams that wait for the next turn to be announced are refused', async () => {
    const peer = converse({ direction })
    const seen: YamuxStream[] = []
    const opened = Array.from({ length: 50 }, (_, i) => peerId + 2 * i)
    peer.muxer.addEventListener('stream', ({ detail: stream }) => { seen.push(stream as YamuxStream) })
    peer.deliver(...opened.map(id => windowUpdate(id, 0, SYN)))
    const closing = peer.muxer.close()
    await nextTurn()
    await closing
    const refused = (await peer.written()).filter(([, flags]) => flags === RST).map(([,, id]) => id)

    expect(seen.length).toBeGreaterThan(0)
    expect([...seen.map(({ id }) => Number(id)), ...refused]).toEqual(opened)
    expect(refused.length).toBeGreaterThan(0)
  })

  test('S: GoAway before closing: nothing follows it, not even the RST of a stream that is aborted meanwhile', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 0, ACK))
    await peer.muxer.close()
    expect((await peer.written()).at(-1)).toEqual([GO_AWAY, 0, 0, 0])
    stream.abort(new Error('Enough'))

    expect(await peer.written()).toEqual([])
    expect(stream.status).toBe('aborted')
  })

  test.each([
    ['the transport ends', (peer: Conversation) => { peer.transport.end() }, 50],
    ['the transport fails', (peer: Conversation) => { peer.transport.end(new Error('Broken pipe')) }, 50],
    ['the peer breaks a rule', (peer: Conversation) => { peer.deliver(windowUpdate(ownId, 0, SYN)) }, 32],
    ['this side aborts', (peer: Conversation) => { peer.muxer.abort(new Error('Enough')) }, 32]
  ])('when %s, programs are told of streams that wait for their turn, and of what came on them, unless they are reset', async (_, end, told) => {
    const peer = converse({ direction })
    const received: Received[] = []
    const closed: string[] = []
    peer.muxer.addEventListener('stream', ({ detail: stream }) => {
      received.push(receive(stream as YamuxStream))
      stream.addEventListener('close', () => { closed.push(stream.id) })
    })
    const ids = Array.from({ length: 50 }, (_, i) => peerId + 2 * i)
    peer.deliver(...ids.flatMap(id => [data(id, pattern(3), SYN), windowUpdate(id, 0, FIN)]))
    expect(received).toHaveLength(32)
    end(peer)
    await nextTurn()

    expect(received.map(({ byteLength }) => byteLength)).toEqual(Array.from({ length: told }, () => 3))
    expect(closed).toEqual(ids.slice(0, told).map(String))
  })

  test('streams that wait for their turn are not announced when the transport ends while the connection is being aborted', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.addEventListener('close', () => { peer.transport.end() })
    peer.deliver(...Array.from({ length: 40 }, (_, i) => windowUpdate(peerId + 2 * i, 0, SYN)))
    expect(peer.inbound).toHaveLength(32)
    peer.muxer.abort(new Error('Enough'))
    await nextTurn()

    expect(peer.inbound).toHaveLength(32)
  })

  test('S: GoAway before closing: a stream that is read on behind it ends without an error when the closing transport takes no credit any more', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 0, ACK))
    const events = endings(stream)
    await peer.muxer.close()
    receive(stream)
    peer.transport.send = () => { throw new Error('Cannot write to a stream that is closing') }
    peer.deliver(data(ownId, pattern(WINDOW_BYTES / 2)))
    await nextTurn()

    expect(events).toEqual([expect.objectContaining({ error: undefined })])
    expect(stream.status).toBe('closed')
  })

  test('a stream that is opened while the connection is being aborted is refused, and has no frame', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    let opening: Promise<unknown> | undefined
    stream.addEventListener('close', () => { opening = peer.muxer.createStream().catch((err: Error) => err.name) })
    peer.muxer.abort(new Error('Enough'))

    expect(await opening).toBe('MuxerClosedError')
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, ownId, 0], [GO_AWAY, 0, 0, 2]])
  })

  test('pings that are given up leave nothing behind, although the peer answers none', async () => {
    const peer = converse({ direction })

    async function giveUp (): Promise<WeakRef<AbortSignal>> {
      const abort = new AbortController()
      const pinging = peer.muxer.ping({ signal: abort.signal }).catch((err: Error) => err.message)
      abort.abort(new Error('Enough'))
      expect(await pinging).toBe('Enough')

      return new WeakRef(abort.signal)
    }

    const signal = await giveUp()
    await collectGarbage()

    expect(signal.deref()).toBeUndefined()
  })

  test('close() while another is in flight waits no longer than its own signal says', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(WINDOW_BYTES + 1))
    peer.muxer.close().catch(() => {})
    const abort = new AbortController()
    const second = peer.muxer.close({ signal: abort.signal })
    abort.abort(new Error('Enough'))

    await expect(second).rejects.toThrow('Enough')
    expect(peer.muxer.status).toBe('closing')

    // and not at all when it is over
    peer.transport.end()
    await peer.muxer.close({ signal: abort.signal })
  })

  test('D: on GoAway(0) no new streams open', async () => {
    const peer = converse({ direction })
    peer.deliver(goAway(0))

    expect(peer.muxer.status).toBe('closing')
    await expect(peer.muxer.createStream()).rejects.toThrow(expect.objectContaining({ name: 'MuxerClosedError' }))
  })

  test('D: on GoAway(0), with no stream in flight, the transport is closed, for libp2p chooses a connection by whether that is open', async () => {
    const peer = converse({ direction })
    peer.deliver(goAway(0))

    // to a peer that is closing its end a GoAway could not be written
    expect(await peer.written()).toEqual([])
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closed', 'closed'])
  })

  test('D: on GoAway(0) no new streams open: those that wait for an ACK are refused, one that came with it included', async () => {
    const peer = converse({ direction })
    await Promise.all(Array.from({ length: 256 }, async () => peer.muxer.createStream()))
    await peer.written()
    const waiting = [peer.muxer.createStream(), peer.muxer.createStream()]
    const results = Promise.allSettled(waiting)
    peer.deliver(windowUpdate(ownId, 0, ACK), goAway(0))

    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await peer.written()).toEqual([])
    expect(peer.muxer.streams).toHaveLength(256)
  })

  test('D: on GoAway(0) streams in flight get to finish, in both directions', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const received = receive(stream)
    stream.send(pattern(2 * WINDOW_BYTES))
    await peer.written()
    peer.deliver(goAway(0))
    peer.deliver(windowUpdate(ownId, WINDOW_BYTES), data(ownId, pattern(9), FIN))
    await stream.close()

    const frames = await peer.written()
    expect(frames.reduce((sum, [type, , , length]) => type === DATA ? sum + length : sum, 0)).toBe(WINDOW_BYTES)
    expect(frames.filter(([, flags]) => (flags & FIN) !== 0)).toHaveLength(1)
    expect(received.byteLength).toBe(9)
    expect(events).toEqual([expect.objectContaining({ error: undefined })])
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closed', 'closed'])
  })

  test('D: on GoAway(0) the transport stays as long as a stream is in flight', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(goAway(0))
    await stream.close()
    await peer.written()
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closing', 'open'])

    stream.abort(new Error('Enough'))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, ownId, 0]])
    expect([peer.muxer.status, peer.transport.status]).toEqual(['closed', 'closed'])
  })

  test('D: on GoAway(0), and the transport\'s end, a stream in flight learns that it was cut', async () => {
    const peer = converse({ direction })
    const events = endings(await peer.open())
    peer.deliver(goAway(0))
    peer.transport.end(new Error('Connection reset'))

    expect(events).toEqual([expect.objectContaining({ error: expect.objectContaining({ name: 'TransportClosedError' }) })])
  })

  test('D: after this side\'s own GoAway streams in flight get to finish', async () => {
    const peer = converse({ direction })
    const stream = await peer.accept(peerId)
    const received = receive(stream)
    await peer.muxer.close()
    await peer.written()
    peer.deliver(data(peerId, pattern(11)), windowUpdate(secondPeerId, 0, SYN), data(peerId, pattern(1), FIN))

    expect(received.byteLength).toBe(12)
    expect(stream.status).toBe('closed')
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, secondPeerId, 0]])
  })
})
