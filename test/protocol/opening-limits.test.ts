// The opening rules that count: at most 256 streams without an answer, and early streams.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, frame, GO_AWAY, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn, oneTurn, quietMicrotasks, turnsUntil } from '../../testing/protocol/raw-peer.ts'
import { converse, expectAlive, expectEnded, headers } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

const BACKLOG = 256

/** A conversation in which 256 streams wait for their ACK */
async function withFullBacklog (direction: 'inbound' | 'outbound'): Promise<{ peer: Conversation, streams: YamuxStream[] }> {
  const peer = converse({ direction })
  const streams = await Promise.all(Array.from({ length: BACKLOG }, async () => peer.muxer.createStream()))
  expect(await peer.written()).toHaveLength(BACKLOG)

  return { peer, streams }
}

async function isPending (promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false
  const settle = (): void => { isSettled = true }
  promise.then(settle, settle)
  await nextTurn()

  return !isSettled
}

describe.each(ROLES)('as $role', ({ direction, ownId, secondOwnId, peerId }) => {
  test('S: at most 256 outbound streams are un-ACKed: the 257th open waits', async () => {
    const { peer } = await withFullBacklog(direction)
    const next = peer.muxer.createStream()

    expect(await isPending(next)).toBe(true)
    expect(await peer.written()).toEqual([])
    peer.deliver(windowUpdate(ownId, 0, ACK))
    expect((await next).id).toBe(String(ownId + 2 * BACKLOG))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, SYN, ownId + 2 * BACKLOG, 0]])
  })

  test('S: the 257th open honours its abort signal, and those behind it move up', async () => {
    const { peer } = await withFullBacklog(direction)
    const controller = new AbortController()
    const aborted = peer.muxer.createStream({ signal: controller.signal })
    const next = peer.muxer.createStream()
    const reason = new Error('Too slow')
    controller.abort(reason)

    await expect(aborted).rejects.toThrow()
    await expect(peer.muxer.createStream({ signal: AbortSignal.abort(reason) })).rejects.toThrow('Too slow')
    expect(await isPending(next)).toBe(true)
    peer.deliver(windowUpdate(ownId, 0, ACK))
    expect((await next).id).toBe(String(ownId + 2 * BACKLOG))
  })

  test.each([
    ['ACK on Data', DATA, ACK, pattern(1)],
    ['ACK with FIN', WINDOW_UPDATE, ACK | FIN, 0],
    ['RST', WINDOW_UPDATE, RST, 0],
    ['a frame without ACK: Data', DATA, 0, pattern(1)],
    ['a frame without ACK: WindowUpdate', WINDOW_UPDATE, 0, 100],
    ['a frame without ACK: FIN', WINDOW_UPDATE, FIN, 0]
  ])('S: the 257th open is admitted by %s', async (_, type, flags, body) => {
    const { peer } = await withFullBacklog(direction)
    const next = peer.muxer.createStream()
    const last = peer.muxer.createStream()
    peer.deliver(frame(type, flags, secondOwnId, body))

    expect((await next).id).toBe(String(ownId + 2 * BACKLOG))
    expect(await isPending(last)).toBe(true)
  })

  test('S: the 257th open is admitted by the end of an un-ACKed stream', async () => {
    const { peer, streams } = await withFullBacklog(direction)
    const next = peer.muxer.createStream()
    streams[7].abort(new Error('Enough'))

    expect((await next).id).toBe(String(ownId + 2 * BACKLOG))
  })

  test('S: a frame for another stream, or for none, admits nobody', async () => {
    const { peer } = await withFullBacklog(direction)
    const next = peer.muxer.createStream()
    peer.deliver(windowUpdate(ownId + 2 * BACKLOG, 0, ACK), data(peerId, pattern(1), SYN | ACK), windowUpdate(ownId + 10_000, 0, RST))

    expect(await isPending(next)).toBe(true)
  })

  test('S: a duplicate ACK frees nothing', async () => {
    const { peer } = await withFullBacklog(direction)
    const opens = [0, 1].map(async () => peer.muxer.createStream())
    peer.deliver(windowUpdate(ownId, 0, ACK), windowUpdate(ownId, 0, ACK))
    await opens[0]
    peer.deliver(windowUpdate(ownId, 5, ACK), data(ownId, pattern(1), ACK), windowUpdate(ownId, 0, RST))

    expect(await isPending(opens[1])).toBe(true)
    expect(await peer.written()).toHaveLength(1)
  })

  test.each(Array.from({ length: 10 }, (_, i) => i))('S: at most 256 are un-ACKed: %i microtasks after a slot was given to one, no other slips in', async microtasks => {
    const { peer } = await withFullBacklog(direction)
    const waiting = peer.muxer.createStream()
    peer.deliver(windowUpdate(ownId, 0, ACK))

    for (let i = 0; i < microtasks; i++) {
      await Promise.resolve()
    }

    const late = peer.muxer.createStream()
    expect((await waiting).id).toBe(String(ownId + 2 * BACKLOG))
    expect(await isPending(late)).toBe(true)
    expect((await peer.written()).filter(([, flags]) => flags === SYN)).toHaveLength(1)
    peer.deliver(windowUpdate(secondOwnId, 0, ACK))
    expect((await late).id).toBe(String(secondOwnId + 2 * BACKLOG))
  })

  test('S: at most 256 are un-ACKed: who opens in the turn in which a slot becomes free does not overtake who waits for it', async () => {
    const { peer } = await withFullBacklog(direction)
    const waiting = peer.muxer.createStream()
    peer.muxer.streams[0].abort(new Error('Enough'))
    const late = peer.muxer.createStream()

    expect(await isPending(late)).toBe(true)
    expect((await waiting).id).toBe(String(ownId + 2 * BACKLOG))
  })

  test('S: a slot given to an open whose signal is aborted meanwhile is not lost', async () => {
    const { peer } = await withFullBacklog(direction)
    const controller = new AbortController()
    const aborted = peer.muxer.createStream({ signal: controller.signal }).catch(() => undefined)
    const next = peer.muxer.createStream()
    peer.deliver(windowUpdate(ownId, 0, ACK))
    controller.abort()
    await nextTurn()
    peer.takeFrames()
    const first = await aborted

    expect(await isPending(next)).toBe(first != null)
  })

  test('M: inbound streams not yet accepted are bounded: an application that is not there yet gets them all when it is', async () => {
    const peer = createRawPeer({ direction, maxEarlyStreams: 4 })
    peer.deliver(...[0, 2, 4, 6].map(offset => data(peerId + offset, pattern(3), SYN)))
    const ids: string[] = []
    peer.muxer.addEventListener('stream', evt => { ids.push(evt.detail.id) })
    await nextTurn()

    expect(ids).toEqual([0, 2, 4, 6].map(offset => String(peerId + offset)))
  })

  test('M: inbound streams not yet accepted are bounded, from the end of the turn on: libp2p is there some microtasks after the first chunk', async () => {
    const peer = createRawPeer({ direction, maxEarlyStreams: 4 })
    const sent = Array.from({ length: 100 }, (_, i) => peerId + 2 * i)
    peer.deliver(...sent.map(id => data(id, pattern(3), SYN)))
    await quietMicrotasks()
    const ids: number[] = []
    peer.muxer.addEventListener('stream', evt => { ids.push(Number(evt.detail.id)) })
    await turnsUntil(() => ids.length === sent.length)

    expect(ids).toEqual(sent)
    expect(peer.transport.status).toBe('open')
  })

  test('M: inbound streams not yet accepted are bounded: beyond maxEarlyStreams each is reset, and GoAway(2) says that it was not the peer', async () => {
    const peer = createRawPeer({ direction, maxEarlyStreams: 4 })
    const ids = Array.from({ length: 5 }, (_, i) => peerId + 2 * i)
    peer.deliver(...ids.map(id => data(id, pattern(3), SYN)))
    await nextTurn()

    expect(headers(peer.takeFrames())).toEqual([...ids.map(id => [WINDOW_UPDATE, RST, id, 0]), [GO_AWAY, 0, 0, 2]])
    expect(peer.transport.abortedWith).toMatchObject({ name: 'MaxEarlyStreamsError' })
    expect(peer.muxer.streams).toHaveLength(0)
  })

  test('M: inbound streams that were over before anybody listened do not count against maxEarlyStreams', async () => {
    const peer = createRawPeer({ direction, maxEarlyStreams: 4 })
    const ids = Array.from({ length: 8 }, (_, i) => peerId + 2 * i)
    peer.deliver(...ids.flatMap(id => [data(id, pattern(3), SYN), ...(id === peerId ? [] : [windowUpdate(id, 0, RST)])]))
    await nextTurn()

    expect([peer.transport.status, peer.muxer.streams.length]).toEqual(['open', 1])
  })

  test('a chunk that opens a thousand streams has 32 of them announced in each turn of the event loop, in order, with what came on them', async () => {
    const peer = createRawPeer({ direction })
    const sent = Array.from({ length: 1000 }, (_, i) => peerId + 2 * i)
    const announced: number[] = []
    let bytes = 0
    peer.muxer.addEventListener('stream', ({ detail: stream }) => {
      announced.push(Number(stream.id))
      stream.addEventListener('message', ({ data }) => { bytes += data.byteLength })
    })
    peer.deliver(...sent.map(id => data(id, pattern(3), SYN)))
    const perTurn = [announced.length]

    while (announced.length < sent.length) {
      const before = announced.length
      await oneTurn()
      perTurn.push(announced.length - before)
    }

    expect(announced).toEqual(sent)
    expect(bytes).toBe(3 * sent.length)
    expect(Math.max(...perTurn)).toBe(32)
  })

  test.each([
    ['a message', data],
    ['nothing', (id: number, _: Uint8Array, flags: number) => windowUpdate(id, 0, flags)]
  ])('a stream that has waited for its turn tells of the peer\'s end when it is announced, behind %s', async (_, first) => {
    const peer = createRawPeer({ direction })
    const sent = Array.from({ length: 40 }, (_, i) => peerId + 2 * i)
    const heard: string[] = []
    peer.muxer.addEventListener('stream', ({ detail: stream }) => {
      stream.addEventListener('message', () => {})
      stream.addEventListener('end', () => { heard.push(`${stream.id} end`) })
      stream.addEventListener('remoteCloseWrite', () => {
        heard.push(`${stream.id} remoteCloseWrite`)
        stream.close().catch(() => {})
      })
    })
    peer.deliver(...sent.flatMap(id => [first(id, pattern(3), SYN), windowUpdate(id, 0, FIN)]))
    await nextTurn()
    await nextTurn()

    for (const event of ['end', 'remoteCloseWrite']) {
      expect(heard.filter(said => said.endsWith(` ${event}`))).toEqual(sent.map(id => `${id} ${event}`))
    }

    expect(peer.muxer.streams).toEqual([])
  })

  test('streams that wait for their turn when nobody listens any more are kept for who listens next', async () => {
    const peer = createRawPeer({ direction })
    const announced: number[] = []
    const listen = ({ detail }: CustomEvent): void => { announced.push(Number(detail.id)) }
    const sent = Array.from({ length: 40 }, (_, i) => peerId + 2 * i)
    peer.muxer.addEventListener('stream', listen)
    peer.deliver(...sent.map(id => windowUpdate(id, 0, SYN)))
    peer.muxer.removeEventListener('stream', listen)
    await nextTurn()
    expect(announced).toHaveLength(32)
    peer.muxer.addEventListener('stream', listen)
    await nextTurn()

    expect(announced).toEqual(sent)
  })

  test('a stream that the peer has reset before its turn came is not announced', async () => {
    const peer = createRawPeer({ direction })
    const sent = Array.from({ length: 40 }, (_, i) => peerId + 2 * i)
    const announced: number[] = []
    peer.muxer.addEventListener('stream', ({ detail }) => { announced.push(Number(detail.id)) })
    peer.deliver(...sent.map(id => data(id, pattern(3), SYN)))
    peer.deliver(windowUpdate(sent[35], 0, RST))
    await nextTurn()

    expect(announced).toEqual(sent.filter((_, i) => i !== 35))
  })

  test('a stream that was aborted makes room for another at maxOutboundStreams, whose SYN follows its RST', async () => {
    const peer = converse({ direction, maxOutboundStreams: 1 })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 0, ACK))
    peer.transport.isFull = true
    stream.send(pattern(1))
    await peer.written()
    const closed = new Promise(resolve => {
      stream.addEventListener('close', () => { resolve(peer.muxer.createStream()) })
    })
    stream.abort(new Error('Enough'))
    expect(await closed).toMatchObject({ id: String(secondOwnId) })
    const third = peer.muxer.createStream()
    third.catch(() => {})
    peer.transport.drain()
    await expect(third).rejects.toThrow(expect.objectContaining({ name: 'TooManyOutboundProtocolStreamsError' }))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, ownId, 0], [WINDOW_UPDATE, SYN, secondOwnId, 0]])
  })

  test('D: ids run out at 2^32: the last one is good for one stream', async () => {
    const peer = converse({ direction })
    const lastId = peerId === 1 ? 0xffff_ffff : 0xffff_fffe
    peer.deliver(data(lastId, pattern(3), SYN))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, lastId, 0]])
    peer.inbound[0].send(pattern(2))
    expect(await peer.written()).toEqual([[DATA, 0, lastId, 2]])
    expect(peer.inbound[0].id).toBe(String(lastId))
    await expectAlive(peer)

    peer.deliver(windowUpdate(lastId, 0, SYN))
    await expectEnded(peer, 1)
  })
})
