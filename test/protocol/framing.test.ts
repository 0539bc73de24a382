// The framing rules: bytes of headers both ways, versions, types, flags, ids and sizes.
import { equals } from 'uint8arrays/equals'
import { describe, expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { ACK, concat, data, DATA, FIN, frame, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, headers, hex, hexOf, readAll, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { YamuxStream } from '../../src/index.ts'

test('M: the protocol id is /yamux/1.0.0', () => {
  expect(yamux()().protocol).toBe('/yamux/1.0.0')
  expect(converse().muxer.protocol).toBe('/yamux/1.0.0')
})

describe.each(ROLES)('as $role', ({ direction, ownId, secondOwnId, peerId }) => {
  test('M: headers are written as 12 bytes: version, type, flags, stream id, length, big endian', async () => {
    const peer = converse({ direction })
    const stream = await peer.muxer.createStream()
    await nextTurn()
    expect(peer.takeWrites().map(write => hexOf(write.subarray()))).toEqual([`00 01 0001 0000000${ownId} 00000000`])

    stream.send(new Uint8Array(0x0203).fill(0xee))
    await nextTurn()
    const [write] = peer.takeWrites()
    expect(hexOf(write.subarray(0, 12))).toBe(`00 00 0000 0000000${ownId} 00000203`)
    expect(write.byteLength).toBe(12 + 0x0203)
  })

  test('M: headers are read as 12 bytes: version, type, flags, stream id, length, big endian', async () => {
    const peer = converse({ direction })
    peer.deliver(hex(`00 00 0001 0102030${peerId} 00000102`), pattern(0x0102))
    const received = receive(peer.inbound[0])
    await nextTurn()

    expect(peer.inbound[0].id).toBe(String(0x01020300 + peerId))
    expect(received.byteLength).toBe(0x0102)
    expect(equals(concat(...received.chunks), pattern(0x0102))).toBe(true)
  })

  test('M: a header may be cut anywhere', async () => {
    const peer = converse({ direction })
    const bytes = concat(data(peerId, pattern(5), SYN), data(peerId, pattern(3, 9)), data(peerId, pattern(2, 7), FIN))

    for (const byte of bytes) {
      peer.deliver(Uint8Array.of(byte))
    }

    const received = receive(peer.inbound[0])
    await nextTurn()
    expect(concat(...received.chunks)).toEqual(concat(pattern(5), pattern(3, 9), pattern(2, 7)))
    expect(peer.inbound[0].remoteWriteStatus).toBe('closed')
  })

  const combinations = [DATA, WINDOW_UPDATE].flatMap(type => [0, ACK, FIN, ACK | FIN, RST, RST | ACK, RST | FIN, RST | ACK | FIN].map(others => ({ type, others })))

  test.each(combinations)('M: flags combine: type $type opens a stream with SYN and flags $others', async ({ type, others }) => {
    const peer = converse({ direction })
    const body = type === DATA && (others & RST) === 0 ? pattern(4) : 0
    peer.deliver(frame(type, SYN | others, peerId, body))
    await nextTurn()

    if ((others & RST) !== 0) {
      expect(peer.inbound).toHaveLength(0)
    } else {
      expect(peer.inbound).toHaveLength(1)
      expect(peer.inbound[0].readBufferLength).toBe(body === 0 ? 0 : 4)
      expect(peer.inbound[0].remoteWriteStatus).toBe((others & FIN) === 0 ? 'writable' : 'closed')
      expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 0]])
    }

    await expectAlive(peer)
  })

  test.each(combinations)('M: flags combine: type $type is heeded on a live stream with flags $others', async ({ type, others }) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const received = receive(stream)
    const body = type === DATA ? pattern(4) : 0
    peer.deliver(frame(type, others, ownId, body))

    expect(events).toHaveLength((others & RST) === 0 ? 0 : 1)
    expect(received.byteLength).toBe((others & RST) === 0 && type === DATA ? 4 : 0)
    expect(stream.remoteWriteStatus).toBe((others & (RST | FIN)) === 0 ? 'writable' : 'closed')
    await expectAlive(peer)
  })

  test.each([
    ['version 1', '01 02 0001 00000000 00000000'],
    ['version 255', 'ff 00 0001 00000001 00000000'],
    ['type 4', '00 04 0000 00000000 00000000'],
    ['type 4 on a stream id', '00 04 0000 00000001 00000000'],
    ['type 255', '00 ff 0000 00000001 00000000']
  ])('D: any other version or type ends the connection with GoAway(1): %s', async (_, digits) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    peer.deliver(hex(digits))

    expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ name: 'InvalidFrameError', code: 'ERR_INVALID_FRAME', goAwayCode: 1 })])
    await expectEnded(peer, 1)
  })

  test.each([
    ['Data on 0', '00 00 0000 00000000 00000000'],
    ['Data with SYN on 0', '00 00 0001 00000000 00000000'],
    ['WindowUpdate on 0', '00 01 0000 00000000 00000001'],
    ['WindowUpdate with SYN on 0', '00 01 0001 00000000 00000000'],
    ['WindowUpdate with RST on 0', '00 01 0008 00000000 00000000'],
    ['Ping on a stream id', '00 02 0001 00000001 00000000'],
    ['Pong on a stream id', '00 02 0002 00000002 00000000'],
    ['GoAway on a stream id', '00 03 0000 00000001 00000000'],
    ['GoAway on the last stream id', '00 03 0000 ffffffff 00000000']
  ])('M: id 0 is the session\'s, for Ping and GoAway only. D: connection error on %s', async (_, digits) => {
    const peer = converse({ direction })
    peer.deliver(hex(digits))

    await expectEnded(peer, 1)
  })

  test('S: the dialler uses odd ids, the listener even ones', async () => {
    const peer = converse({ direction })
    const ids = []

    for (let i = 0; i < 3; i++) {
      ids.push(Number((await peer.muxer.createStream()).id))
    }

    expect(ids).toEqual([ownId, secondOwnId, secondOwnId + 2])
    expect((await peer.written()).map(([, , id]) => id)).toEqual(ids)
  })

  test.each([DATA, WINDOW_UPDATE])('D: a SYN of the wrong parity is a connection error: type %i', async type => {
    const peer = converse({ direction })
    peer.deliver(frame(type, SYN, 100 + ownId, 0))

    expect(peer.inbound).toHaveLength(0)
    await expectEnded(peer, 1)
  })

  test('M: a Data frame of length 0 is legal and delivers nothing', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    peer.deliver(data(ownId, pattern(0)), data(ownId, pattern(0), ACK), data(ownId, pattern(0)))

    expect(received.chunks).toHaveLength(0)
    peer.deliver(data(ownId, pattern(1)))
    expect(received.byteLength).toBe(1)
    await expectAlive(peer)
  })

  test('M: a Data frame of length 0 may open, acknowledge and end a stream', async () => {
    const peer = converse({ direction })
    peer.deliver(data(peerId, pattern(0), SYN | FIN))

    expect(await readAll(peer.inbound[0])).toBe(0)
    expect(peer.inbound[0].remoteWriteStatus).toBe('closed')
  })

  test('D: no frame body is over 16 KiB where streams contend for a path that was not measured', async () => {
    const peer = converse({ direction, coalesce: { maxQueueDelayMs: 1000 } })
    const streams = [await peer.open(), await peer.open()]
    streams.forEach(stream => { stream.send(pattern(WINDOW_BYTES)) })
    await nextTurn()
    const lengthsOf = (wanted: number): number[] => frames.filter(([type, , id]) => type === DATA && id === wanted).map(([, , , length]) => length)
    const frames = headers(peer.takeFrames())

    expect(Math.max(...lengthsOf(ownId), ...lengthsOf(secondOwnId))).toBeLessThanOrEqual(16_384)
    expect(Math.min(lengthsOf(ownId).length, lengthsOf(secondOwnId).length)).toBeGreaterThan(0)
  })

  test.each([2, 3])('D: without a bound no frame body is over 64 KiB where %d streams contend', async count => {
    const peer = converse({ direction })
    const streams: YamuxStream[] = []

    for (let i = 0; i < count; i++) {
      streams.push(await peer.open())
    }

    streams.forEach(stream => { stream.send(pattern(WINDOW_BYTES)) })
    await nextTurn()
    const frames = peer.takeFrames()

    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThanOrEqual(65_536)

    for (const { id } of streams) {
      const payloads = frames.filter(frame => String(frame.id) === id).map(({ payload }) => payload)
      expect(equals(concat(...payloads), pattern(WINDOW_BYTES))).toBe(true)
    }
  })

  test('D: no frame body is over 64 KiB by default, where a stream has the connection to itself', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(WINDOW_BYTES))
    await nextTurn()
    const frames = peer.takeFrames()

    expect(Math.max(...frames.map(({ length }) => length))).toBeLessThanOrEqual(65_536)
    expect(equals(concat(...frames.map(({ payload }) => payload)), pattern(WINDOW_BYTES))).toBe(true)
  })

  test('D: no frame body is ever over 64 KiB, whatever the options ask for', async () => {
    const peer = converse({ direction, maxMessageSize: 2 ** 22, coalesce: { maxBytes: 2 ** 22 } })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 2 ** 22, ACK))
    stream.send(pattern(2 ** 21))
    await nextTurn()
    const lengths = headers(peer.takeFrames()).map(([, , , length]) => length)

    expect(Math.max(...lengths)).toBe(65_536)
    expect(lengths.reduce((sum, length) => sum + length, 0)).toBe(2 ** 21)
  })
})
