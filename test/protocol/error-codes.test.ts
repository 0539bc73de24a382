// The rules of the error-code extension: codes on RST and GoAway, in both directions.
import { describe, expect, test } from 'vitest'
import { RemoteGoAwayError, RemoteResetError } from '../../src/index.ts'
import { concat, data, DATA, frame, GO_AWAY, goAway, pattern, RST, SYN, WINDOW_UPDATE } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, hex, hexOf, readAll, receive } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'

/** The transport's and libp2p's ranges at their ends, the two first codes in use for libp2p, and codes nobody has given a meaning */
const CODES = [1, 0xfff, 0x1000, 0x1001, 0xffff, 0x1_0000, 0xffff_ffff]

describe.each(ROLES)('as $role', ({ direction, ownId, peerId }) => {
  test.each(CODES)('M: WindowUpdate with RST may carry an error code, which is surfaced on the stream\'s error: %i', async code => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const events = endings(stream)
    const reading = readAll(stream)
    peer.deliver(frame(WINDOW_UPDATE, RST, ownId, code))

    expect(events[0].error).toBeInstanceOf(RemoteResetError)
    expect(events[0].error).toMatchObject({ name: 'StreamResetError', errorCode: code, message: expect.stringContaining(String(code)) })
    await expect(reading).rejects.toThrow(expect.objectContaining({ errorCode: code }))
  })

  test.each([
    ['WindowUpdate', frame(WINDOW_UPDATE, RST, ownId)],
    ['Data', frame(DATA, RST, ownId)],
    ['Data with a body, which is not a code', data(ownId, pattern(0x1001), RST)]
  ])('M: 0 means no code, and Data with RST carries none: %s', async (_, rst) => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    const events = endings(stream)
    peer.deliver(rst)

    expect(events[0].error).toMatchObject({ name: 'StreamResetError', errorCode: undefined })
    expect(received.byteLength).toBe(0)
    await expectAlive(peer)
  })

  test('M: a code on RST is not taken for credit: other streams and the connection go on', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const other = await peer.open()
    peer.deliver(frame(WINDOW_UPDATE, RST, Number(stream.id), 0xffff_ffff))

    expect(other.status).toBe('open')
    await expectAlive(peer)
  })

  test.each(CODES)('M: this side\'s abort sends the error\'s code in the length of WindowUpdate with RST: %i', async code => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.abort(Object.assign(new Error('Enough'), { errorCode: code }))
    await nextTurn()

    expect(peer.takeWrites().map(write => hexOf(write.subarray()))).toEqual([`00 01 0008 0000000${ownId} ${code.toString(16).padStart(8, '0')}`])
  })

  test.each([undefined, 0, -1, 1.5, NaN, Infinity, 0x1_0000_0000, '4097', null])('M: 0 means no code: it is sent when an error has none that fits in 32 bits: %s', async errorCode => {
    const peer = converse({ direction })
    const stream = await peer.accept(peerId)
    stream.abort(Object.assign(new Error('Enough'), { errorCode }))

    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, peerId, 0]])
  })

  test('M: a stream refused for want of room carries no code of libp2p\'s', async () => {
    const peer = converse({ direction, maxInboundStreams: 0 })
    peer.deliver(frame(WINDOW_UPDATE, SYN, peerId))
    const [[type, flags, id, code], ...others] = await peer.written()

    expect([type, flags, id, others]).toEqual([WINDOW_UPDATE, RST, peerId, []])
    expect(code).toBeLessThan(0x1000)
  })

  test.each([1, 2, 3, 0x1001, 0xffff_ffff])('D: a GoAway\'s code is surfaced on the error of every stream it resets: %i', async code => {
    const peer = converse({ direction })
    const streams = [await peer.open(), await peer.open(), await peer.accept(peerId)]
    const events = streams.map(endings)
    const reading = readAll(streams[1])
    const pinging = peer.muxer.ping()
    peer.deliver(goAway(code))

    for (const [{ error }, ...others] of events) {
      expect(error).toBeInstanceOf(RemoteGoAwayError)
      expect(error).toMatchObject({ errorCode: code, message: expect.stringContaining(String(code)) })
      expect(others).toHaveLength(0)
    }

    await expect(reading).rejects.toThrow(expect.objectContaining({ errorCode: code }))
    await expect(pinging).rejects.toThrow()
    await nextTurn()
    expect(peer.transport.status).not.toBe('open')
  })

  test('D: a GoAway\'s code is surfaced: of several in a chunk the first that is no normal end', async () => {
    const peer = converse({ direction })
    const events = endings(await peer.open())
    peer.deliver(goAway(0), goAway(2), goAway(1))

    expect(events).toMatchObject([{ error: { errorCode: 2 } }])
  })

  test('D: what came before a GoAway with a code can still be read', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    peer.deliver(concat(data(ownId, pattern(12)), frame(GO_AWAY, 0, 0, 2)))

    expect(received.byteLength).toBe(12)
    expect(stream.status).toBe('reset')
    peer.deliver(hex(`00 00 0000 0000000${ownId} 00000001 ff`))
    expect(received.byteLength).toBe(12)
  })
})
