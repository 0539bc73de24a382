// With `mergeMessages: false` a message of at most a frame is one frame, whatever there is of credit, room and reserve, and whatever is pushed meanwhile.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test } from 'vitest'
import { ACK, concat, data, DATA, FIN, pattern, RST, SYN, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, expectAlive, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { connect, within } from './fixtures/connected.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

describe('with mergeMessages: false, a message of at most maxMessageSize', () => {
  async function apart (init: YamuxMuxerInit = {}): Promise<{ peer: Conversation, stream: YamuxStream, lengths: (id?: number) => Promise<number[]> }> {
    const { peer, stream } = await connect({ ...init, coalesce: { mergeMessages: false, ...init.coalesce } })

    return {
      peer,
      stream,
      // of its DATA frames since the last call
      lengths: async (id = 1) => {
        await nextTurn()

        return (await peer.written()).filter(([type, , frameId]) => type === DATA && frameId === id).map(([, , , length]) => length)
      }
    }
  }

  /** What the peer lets a stream send at first here: it has granted one byte with its ACK */
  const CREDIT_BYTES = WINDOW_BYTES + 1

  test.each<'turn' | 'delay' | 'off'>(['turn', 'off'])('waits for the credit that it needs, and is not cut, with \'%s\'', async strategy => {
    const { peer, stream, lengths } = await apart({ coalesce: { strategy } })
    stream.send(pattern(250_000))
    expect((await lengths()).reduce((sum, length) => sum + length, 0)).toBe(250_000)
    stream.send(pattern(16_000))
    stream.send(pattern(10))
    expect(await lengths()).toEqual([])
    peer.deliver(windowUpdate(1, 16_000 - (CREDIT_BYTES - 250_000) - 1))
    expect(await lengths()).toEqual([])
    peer.deliver(windowUpdate(1, 1))
    expect(await lengths()).toEqual([16_000])
    peer.deliver(windowUpdate(1, 9))
    expect(await lengths()).toEqual([])
    peer.deliver(windowUpdate(1, 1))
    expect(await lengths()).toEqual([10])
  })

  test('that waits for credit holds back nobody else', async () => {
    const { peer, stream, lengths } = await apart()
    const other = await peer.open()
    peer.deliver(windowUpdate(3, 1, ACK))
    stream.send(pattern(250_000))
    await lengths()
    stream.send(pattern(16_000))
    other.send(pattern(100))
    await nextTurn()

    expect(await lengths(3)).toEqual([100])
    expect(stream.writeBufferLength).toBe(16_000)
    peer.deliver(windowUpdate(1, 100_000))
    expect(await lengths()).toEqual([16_000])
  })

  test('that waits for credit goes before the FIN, and is gone with an abort', async () => {
    const { peer, stream, lengths } = await apart()
    stream.send(pattern(250_000))
    await lengths()
    stream.send(pattern(16_000))
    const closing = stream.close()
    expect(await peer.written()).toEqual([])
    peer.deliver(windowUpdate(1, 100_000))
    await closing
    expect(await peer.written()).toEqual([[DATA, 0, 1, 16_000], [WINDOW_UPDATE, FIN, 1, 0]])

    const other = await peer.open()
    other.send(pattern(250_000))
    await lengths(3)
    other.send(pattern(16_000))
    other.abort(new Error('Enough'))
    peer.deliver(windowUpdate(3, 100_000))
    expect(await peer.written()).toEqual([[WINDOW_UPDATE, RST, 3, 0]])
    await expectAlive(peer)
  })

  test('that waits for credit lets its writer wait for drain, and go on', async () => {
    const { peer, stream, lengths } = await apart()
    stream.send(pattern(250_000))
    await lengths()

    while (stream.send(pattern(16_000))) {
      // until it is to wait
    }

    const draining = stream.onDrain().then(() => 'drained')
    peer.deliver(windowUpdate(1, 1_000_000))
    expect((await lengths()).every(length => length === 16_000)).toBe(true)
    expect(await within(draining)).toBe('drained')
  })

  test('that carries the SYN or ACK takes it along', async () => {
    const peer = converse({ coalesce: { mergeMessages: false } })
    const stream = await peer.muxer.createStream()
    stream.send(pattern(16_000))
    const [first, ...others] = (await peer.written()).filter(([, , id]) => id === 1)

    expect([first, ...others].filter(([, flags]) => flags === SYN)).toHaveLength(1)
    expect([first, ...others].filter(([type]) => type === DATA).map(([, , , length]) => length)).toEqual([16_000])
  })

  test.each([2048, 4096, 10_000, 10_011])('is not cut by coalesce.maxBytes: 10,000 bytes with %i', async maxBytes => {
    const { stream, lengths } = await apart({ coalesce: { maxBytes } })
    stream.send(pattern(5))
    stream.send(pattern(10_000))
    stream.send(pattern(7))

    expect(await lengths()).toEqual([5, 10_000, 7])
  })

  test('is not cut by what a full transport leaves to urgent streams', async () => {
    const { peer, stream, lengths } = await apart({ coalesce: { maxBytes: 20_000, reservedBytes: 10_000 } })
    const urgent = await peer.open()
    peer.deliver(windowUpdate(3, 1, ACK))
    urgent.priority = 'urgent'
    const sizes = [12_000, 16_000, 500, 16_384, 9000]

    for (let i = 0; i < 5; i++) {
      peer.transport.isFull = true
      sizes.forEach(size => { stream.send(pattern(size)) })
      urgent.send(pattern(100))

      // full again and again
      for (let j = 0; j < 20; j++) {
        await nextTurn()
        peer.transport.isFull = true
        peer.transport.dispatchEvent(new Event('drain'))
      }

      peer.transport.drain()
      const frames = (await peer.written()).filter(([type]) => type === DATA)
      expect(frames.filter(([, , id]) => id === 1).map(([, , , length]) => length)).toEqual(sizes)
      expect(frames.filter(([, , id]) => id === 3).map(([, , , length]) => length)).toEqual([100])
      peer.deliver(windowUpdate(1, 100_000))
    }

    expect(await lengths()).toEqual([])
  })

  test.each([1024, 5000, 65_536])('is one frame up to maxMessageSize: %i', async maxMessageSize => {
    const { stream, lengths } = await apart({ maxMessageSize })
    stream.send(pattern(maxMessageSize))
    stream.send(new Uint8ArrayList(pattern(maxMessageSize - 100), pattern(100)))
    expect(await lengths()).toEqual([maxMessageSize, maxMessageSize])
    stream.send(pattern(maxMessageSize + 1))
    const frames = await lengths()
    expect(frames.length).toBeGreaterThan(1)
    expect(frames.reduce((sum, length) => sum + length, 0)).toBe(maxMessageSize + 1)
  })

  test('pushed behind frames that wait, while half a frame has arrived, is read between them', async () => {
    const { peer, stream } = await apart()
    const frame = data(1, pattern(100, 5))
    peer.deliver(data(1, pattern(10)), data(1, pattern(20)), frame.subarray(0, 12 + 40))
    stream.push(pattern(7, 1))
    peer.deliver(frame.subarray(12 + 40, 12 + 60))
    stream.push(pattern(8, 2))
    stream.unshift(pattern(9, 3))
    peer.deliver(frame.subarray(12 + 60), data(1, pattern(3)))
    const received = receive(stream)
    await nextTurn()

    expect(received.chunks).toEqual([concat(pattern(9, 3), pattern(10)), pattern(20), pattern(7, 1), pattern(8, 2), pattern(100, 5), pattern(3)])
    expect(stream.readBufferLength).toBe(0)
  })

  test('of which half had arrived when the stream ended is read behind what was pushed', async () => {
    const { peer, stream } = await apart()
    const received = receive(stream)
    peer.deliver(data(1, pattern(100, 5)).subarray(0, 12 + 40))
    stream.push(pattern(7, 1))
    await nextTurn()
    peer.transport.end(new Error('Connection reset'))
    await nextTurn()

    expect(received.chunks).toEqual([pattern(7, 1), pattern(100, 5).subarray(0, 40)])
  })
})
