// The flow control rules: windows of 262,144 bytes each way, what spends and what grants credit, and when it is given back.
import { describe, expect, test } from 'vitest'
import { ACK, data, DATA, FIN, pattern, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, headers, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { ROLES } from '../../testing/protocol/roles.ts'
import type { Conversation, Header } from '../../testing/protocol/conversation.ts'

const HALF_BYTES = WINDOW_BYTES / 2
const MAX_UINT32 = 0xffff_ffff

/** The payload among the frames, of one stream if an id is given */
function payloadBytes (frames: Header[], streamId?: number): number {
  return frames.reduce((sum, [type, , id, length]) => type === DATA && (streamId ?? id) === id ? sum + length : sum, 0)
}

/** Lets the peer send so many bytes on a stream, in frames of 16 KiB */
function fill (peer: Conversation, id: number, byteLength: number): void {
  for (let sent = 0; sent < byteLength; sent += 16_384) {
    peer.deliver(data(id, pattern(Math.min(16_384, byteLength - sent), sent)))
  }
}

describe.each(ROLES)('as $role', ({ direction, ownId, secondOwnId, peerId }) => {
  test.each(['opened here', 'opened by the peer'])('M: a stream %s starts with a window of 262,144 bytes to send', async opener => {
    const peer = converse({ direction })
    const stream = opener === 'opened here' ? await peer.open() : await peer.accept(peerId)
    stream.send(pattern(WINDOW_BYTES + 1))
    expect(payloadBytes(await peer.written())).toBe(WINDOW_BYTES)

    peer.deliver(windowUpdate(Number(stream.id), 1))
    expect(await peer.written()).toEqual([[DATA, 0, Number(stream.id), 1]])
  })

  test.each(['opened here', 'opened by the peer'])('M: a stream %s starts with a window of 262,144 bytes to receive', async opener => {
    const peer = converse({ direction })
    const stream = opener === 'opened here' ? await peer.open() : await peer.accept(peerId)
    fill(peer, Number(stream.id), WINDOW_BYTES)
    expect(stream.readBufferLength).toBe(WINDOW_BYTES)
    await expectAlive(peer)

    peer.deliver(data(Number(stream.id), pattern(1)))
    expect(stream.readBufferLength).toBe(0)
    await expectEnded(peer, 1)
  })

  test('M: there is no session window: every stream may fill its own', async () => {
    const peer = converse({ direction })
    const sent = []

    for (let i = 0; i < 8; i++) {
      const stream = await peer.open()
      stream.send(pattern(WINDOW_BYTES))
      fill(peer, Number(stream.id), WINDOW_BYTES)
      sent.push(...await peer.written())
    }

    expect(payloadBytes(sent)).toBe(8 * WINDOW_BYTES)
    expect(peer.muxer.streams.map(({ readBufferLength }) => readBufferLength)).toEqual(Array.from({ length: 8 }, () => WINDOW_BYTES))
    await expectAlive(peer)
  })

  test('M: WindowUpdate carries a delta: two of them add up', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 0x0001_0203), windowUpdate(ownId, 0x0002_0000))
    stream.send(pattern(2 ** 20))

    expect(payloadBytes(await peer.written())).toBe(WINDOW_BYTES + 0x0003_0203)
  })

  test('M: WindowUpdate carries a delta, on SYN too', async () => {
    const peer = converse({ direction })
    peer.deliver(windowUpdate(peerId, 1000, SYN))
    peer.inbound[0].send(pattern(2 ** 20))

    expect(payloadBytes(await peer.written())).toBe(WINDOW_BYTES + 1000)
  })

  test('M: WindowUpdate carries a delta, on ACK too', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    stream.send(pattern(2 ** 20))
    expect(payloadBytes(await peer.written())).toBe(WINDOW_BYTES)
    peer.deliver(windowUpdate(ownId, 1000, ACK))

    expect(payloadBytes(await peer.written())).toBe(1000)
  })

  test('M: WindowUpdate carries a delta, on FIN too: half a stream may still be granted', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, 1000, ACK | FIN))
    stream.send(pattern(2 ** 20))

    expect(payloadBytes(await peer.written())).toBe(WINDOW_BYTES + 1000)
  })

  test('M: only Data payload spends credit: headers, empty frames and other streams do not', async () => {
    const peer = converse({ direction })
    await peer.open()
    const other = await peer.open()
    peer.deliver(...Array.from({ length: 1000 }, () => data(ownId, pattern(0))), ...Array.from({ length: 1000 }, () => windowUpdate(ownId, 1)))
    peer.deliver(...Array.from({ length: 256 }, () => data(ownId, pattern(1024))), data(secondOwnId, pattern(1)))

    expect(other.readBufferLength).toBe(1)
    await expectAlive(peer)
    peer.deliver(data(ownId, pattern(1)))
    await expectEnded(peer, 1)
  })

  test('M: only Data payload spends credit when sent: many small frames carry as much as few large ones', async () => {
    const peer = converse({ direction, coalesce: { strategy: 'off', mergeMessages: false } })
    const stream = await peer.open()

    for (let i = 0; i < 300; i++) {
      stream.send(pattern(1024))
    }

    const frames = await peer.written()
    expect(payloadBytes(frames)).toBe(WINDOW_BYTES)
    expect(frames).toHaveLength(256)
  })

  test('D: a sender that overruns its window gets GoAway(1) on the SYN path, and no stream is left behind', async () => {
    const peer = converse({ direction })
    peer.deliver(data(peerId, pattern(WINDOW_BYTES + 1), SYN))

    expect(peer.inbound).toHaveLength(0)
    expect(await expectEnded(peer, 1)).toHaveLength(1)
  })

  test('D: grants may sum to 2^32-1', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    peer.deliver(windowUpdate(ownId, MAX_UINT32 - WINDOW_BYTES))
    await expectAlive(peer)

    stream.send(pattern(10))
    await nextTurn()
    peer.deliver(windowUpdate(ownId, 10))
    await expectAlive(peer)
  })

  test('D: grants that sum past 2^32-1 get GoAway(1)', async () => {
    const peer = converse({ direction })
    const events = endings(await peer.open())
    peer.deliver(windowUpdate(ownId, MAX_UINT32 - WINDOW_BYTES), windowUpdate(ownId, 1))

    expect(events.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'ERR_SEND_WINDOW_OVERFLOW', message: expect.stringContaining(String(MAX_UINT32)) })])
    await expectEnded(peer, 1)
  })

  test.each([SYN, SYN | ACK, SYN | FIN])('D: grants that sum past 2^32-1 get GoAway(1) on the SYN path too: flags %i', async flags => {
    const peer = converse({ direction })
    peer.deliver(windowUpdate(peerId, MAX_UINT32 - WINDOW_BYTES + 1, flags))

    await expectEnded(peer, 1)
  })

  test('M: a larger window is advertised with the SYN, and may be used from then on', async () => {
    const peer = converse({ direction, streamOptions: { initialStreamWindowSize: 2 ** 20 } })
    const stream = await peer.muxer.createStream()
    stream.send(pattern(10))
    const frames = await peer.written()
    expect(frames[0]).toEqual([WINDOW_UPDATE, SYN, ownId, 2 ** 20 - WINDOW_BYTES])
    expect(frames.slice(1)).toEqual([[DATA, 0, ownId, 10]])

    fill(peer, ownId, 2 ** 20)
    expect(stream.readBufferLength).toBe(2 ** 20)
    await expectAlive(peer)
    peer.deliver(data(ownId, pattern(1)))
    await expectEnded(peer, 1)
  })

  test('M: a larger window is advertised with the ACK, and may be used from then on', async () => {
    const peer = converse({ direction, streamOptions: { initialStreamWindowSize: 2 ** 20 } })
    peer.deliver(data(peerId, pattern(WINDOW_BYTES), SYN))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, ACK, peerId, 2 ** 20 - WINDOW_BYTES]])

    fill(peer, peerId, 2 ** 20 - WINDOW_BYTES)
    expect(peer.inbound[0].readBufferLength).toBe(2 ** 20)
    await expectAlive(peer)
  })

  test('M: a larger window may be used only once it is advertised: not while the ACK waits to be written', async () => {
    const peer = converse({ direction, streamOptions: { initialStreamWindowSize: 2 ** 20 } })
    peer.transport.isFull = true
    await peer.muxer.createStream()
    await nextTurn()
    peer.deliver(windowUpdate(peerId, 0, SYN))
    fill(peer, peerId, WINDOW_BYTES)
    peer.deliver(data(peerId, pattern(1)))

    await expectEnded(peer, 1)
  })

  test('S: credit is given back when half the window has been read, never for each frame', async () => {
    const peer = converse({ direction })
    receive(await peer.open())
    fill(peer, ownId, HALF_BYTES - 1000)
    expect(await peer.written()).toEqual([])
    peer.deliver(data(ownId, pattern(1000)))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, 0, ownId, HALF_BYTES]])

    fill(peer, ownId, 4 * WINDOW_BYTES)
    const grants = headers(peer.takeFrames())
    expect(grants.length).toBeLessThanOrEqual(8)
  })

  test('S: credit is given back for what was read, so that a stream never holds more than its window', async () => {
    const peer = converse({ direction })
    const stream = await peer.open()
    const received = receive(stream)
    let grantedBytes = WINDOW_BYTES
    let sentBytes = 0

    for (let round = 0; round < 40; round++) {
      const count = grantedBytes - sentBytes
      fill(peer, ownId, count)
      sentBytes += count
      expect(sentBytes - received.byteLength).toBeLessThanOrEqual(WINDOW_BYTES)
      grantedBytes += (await peer.written()).reduce((sum, [, , , delta]) => sum + delta, 0)

      if (round % 3 === 0) {
        stream.pause()
      } else if (stream.readStatus === 'paused') {
        stream.resume()
      }
    }

    expect(sentBytes).toBeGreaterThan(5 * WINDOW_BYTES)
    await expectAlive(peer)
  })
})
