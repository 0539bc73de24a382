// Bytes that an application puts back onto a stream, one by one or in thousands of parts: nothing is spread, lost or moved again and again.
import { byteStream } from '@libp2p/utils'
import { concat } from 'uint8arrays/concat'
import { equals } from 'uint8arrays/equals'
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test, vi } from 'vitest'
import { data, DATA, FIN, pattern, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { endings, expectAlive, receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { forbidIncidents } from '../../testing/protocol/incidents.ts'
import { connect, oneByteFrames, readLoop } from './fixtures/connected.ts'
import type { YamuxMuxerInit, YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

forbidIncidents()

describe.each(['backlog', true, false] as const)('with mergeMessages: %s', mergeMessages => {
  const init: YamuxMuxerInit = { coalesce: { mergeMessages }, streamOptions: { maxReadBufferLength: Infinity } }

  describe('130,000 bytes put back one by one before anybody reads', () => {
    const COUNT = 130_000

    /** Over what has arrived: 10 bytes */
    async function putBack (): Promise<{ peer: Conversation, stream: YamuxStream, expected: Uint8Array }> {
      const { peer, stream } = await connect(init)
      const bytes = pattern(COUNT)
      peer.deliver(data(1, pattern(10, 99)))

      for (let i = COUNT - 1; i >= 0; i--) {
        stream.unshift(bytes.subarray(i, i + 1))
      }

      expect(stream.readBufferLength).toBe(COUNT + 10)

      return { peer, stream, expected: concat([bytes, pattern(10, 99)]) }
    }

    test('are read in the right order by a listener', async () => {
      const { stream, expected } = await putBack()
      const received = receive(stream)
      await nextTurn()

      expect(equals(concat(received.chunks), expected)).toBe(true)

      expect(received.chunks.length).toBe(1)
      expect(stream.status).toBe('open')
    })

    test('are read in the right order by a loop', async () => {
      const { peer, stream, expected } = await putBack()
      peer.deliver(windowUpdate(1, 0, FIN))

      expect(equals(await readLoop(stream), expected)).toBe(true)
    })

    test('are gone with an abort', async () => {
      const { peer, stream } = await putBack()
      const events = endings(stream)
      stream.abort(new Error('Enough'))

      expect(stream.readBufferLength).toBe(0)
      expect(events).toHaveLength(1)
      await expectAlive(peer)
    })
  })

  test('a list of 150,000 parts is put back, and read in the right order', async () => {
    const { peer, stream } = await connect(init)
    const bytes = pattern(150_000)
    const list = Uint8ArrayList.fromUint8Arrays(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)), bytes.byteLength)
    peer.deliver(data(1, pattern(10, 99)))
    stream.unshift(list)
    expect(stream.readBufferLength).toBe(150_010)
    const received = receive(stream)
    await nextTurn()

    expect(equals(concat(received.chunks), concat([bytes, pattern(10, 99)]))).toBe(true)
  })

  test('pushed bytes may come to more than maxReadBufferLength with those that wait, if the window is larger', async () => {
    const { peer, stream } = await connect({ streamOptions: { initialStreamWindowSize: 500_000, maxReadBufferLength: 300_000 } })
    peer.deliver(data(1, pattern(400_000)))
    stream.push(pattern(3))
    const received = receive(stream)
    await nextTurn()

    expect(stream.status).toBe('open')
    expect(received.byteLength).toBe(400_003)
  })

  test('a list of 150,000 parts is pushed, and read in the right order', async () => {
    const { peer, stream } = await connect(init)
    const bytes = pattern(150_000)
    const list = Uint8ArrayList.fromUint8Arrays(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)), bytes.byteLength)
    peer.deliver(data(1, pattern(10, 99)))
    stream.push(list)
    stream.push(pattern(3))
    const received = receive(stream)
    await nextTurn()

    expect(equals(concat(received.chunks), concat([pattern(10, 99), bytes, pattern(3)]))).toBe(true)
  })

  test('a list of 150,000 parts is sent, and written in the right order', async () => {
    const { peer, stream } = await connect(init)
    const bytes = pattern(150_000)
    stream.send(Uint8ArrayList.fromUint8Arrays(Array.from(bytes, (_, i) => bytes.subarray(i, i + 1)), bytes.byteLength))
    await nextTurn()
    await nextTurn()

    expect(equals(concat(peer.takeFrames().filter(({ type }) => type === DATA).map(({ payload }) => payload)), bytes)).toBe(true)
  })

  test('150,000 frames of one byte that libp2p\'s byte stream did not read are read behind it', async () => {
    const { peer, stream } = await connect(init)
    const bytes = pattern(150_000)
    const bytesOfStream = byteStream(stream)
    const FRAMES_A_CHUNK = 10_000

    for (let i = 0; i < bytes.byteLength; i += FRAMES_A_CHUNK) {
      peer.deliver(oneByteFrames(bytes.subarray(i, i + FRAMES_A_CHUNK)))
    }

    expect(equals((await bytesOfStream.read({ bytes: 5 })).subarray(), bytes.subarray(0, 5))).toBe(true)
    const unwrapped = bytesOfStream.unwrap()
    expect(unwrapped.readBufferLength).toBe(bytes.byteLength - 5)
    peer.deliver(data(1, pattern(10, 99)), windowUpdate(1, 0, FIN))
    const received = receive(stream)
    await nextTurn()

    expect(equals(concat(received.chunks), concat([bytes.subarray(5), pattern(10, 99)]))).toBe(true)
    expect(stream.readableEnded).toBe(true)
  })

  test('50,000 bytes put back by turns with reads of one of them keep their order, and let the event loop come round', async () => {
    const { peer, stream } = await connect(init)
    const bytes = pattern(50_000)
    peer.deliver(data(1, bytes))
    let seen = 0
    const first: number[] = []
    stream.addEventListener('message', ({ data }) => {
      // takes a byte, and puts back the others
      const all = data.subarray()
      first.push(all[0])

      if (++seen < 50 && all.byteLength > 1) {
        stream.unshift(all.subarray(1))
      }
    })

    await vi.waitFor(() => { expect(first).toHaveLength(50) }, { timeout: 10_000 })
    expect(Uint8Array.from(first)).toEqual(bytes.subarray(0, 50))
  })

  test.each(['listener', 'loop'])('a %s that can do nothing with part of a message puts it back, and is given more with it', async by => {
    const { peer, stream } = await connect(init)
    const sizes: number[] = []
    const whole = new Promise<Uint8Array>(resolve => {
      const onChunk = (chunk: Uint8Array): void => {
        sizes.push(chunk.byteLength)

        if (chunk.byteLength < 4) {
          stream.unshift(chunk)
        } else {
          resolve(chunk)
        }
      }

      if (by === 'listener') {
        stream.addEventListener('message', ({ data }) => { onChunk(data.subarray()) })
      } else {
        const read = async (): Promise<void> => {
          for await (const chunk of stream) {
            onChunk(chunk.subarray())
          }
        }

        // the test aborts it
        read().catch(() => {})
      }
    })
    peer.deliver(data(1, pattern(4).subarray(0, 2)))
    await new Promise(resolve => { setTimeout(resolve, 10) })
    // the event loop came round, and it was not asked ten thousand times meanwhile
    expect(sizes.length).toBeLessThan(20)
    peer.deliver(data(1, pattern(4).subarray(2)))

    expect(await whole).toEqual(pattern(4))
    stream.abort(new Error('Enough'))
  })
})

describe('a listener that puts back what it has until a message is complete', () => {
  const MESSAGE_BYTES = 2 ** 20

  /** Puts back less than a message, and says what the longest was that it got. The peer sends as far as its credit reaches, `sentBytes` in all. */
  async function putBackUntil (messageBytes: number, sentBytes: number): Promise<{ peer: Conversation, stream: YamuxStream, longest: Uint8Array }> {
    const { peer, stream } = await connect()
    const bytes = pattern(sentBytes)
    let longest = new Uint8Array()
    let creditBytes = WINDOW_BYTES
    stream.addEventListener('message', ({ data }) => {
      longest = data.byteLength > longest.byteLength ? data.slice() : longest

      if (data.byteLength < messageBytes) {
        stream.unshift(data)
      }
    })

    for (let offset = 0; offset < sentBytes && creditBytes > 0 && stream.status === 'open';) {
      const sent = bytes.subarray(offset, offset + Math.min(creditBytes, WINDOW_BYTES))
      offset += sent.byteLength
      creditBytes -= sent.byteLength
      peer.deliver(data(1, sent))
      const updates = (await peer.written()).filter(([type]) => type === WINDOW_UPDATE)
      creditBytes += updates.reduce((sum, [, , , delta]) => sum + delta, 0)
    }

    return { peer, stream, longest }
  }

  test('gets all of it, also where it is longer than the window', async () => {
    const { longest } = await putBackUntil(MESSAGE_BYTES, MESSAGE_BYTES)

    expect(equals(longest, pattern(MESSAGE_BYTES))).toBe(true)
  })

  test('and never is, loses the stream when it has put back more than the read buffer and the window may hold', async () => {
    const { stream, longest } = await putBackUntil(Infinity, 20 * MESSAGE_BYTES)

    expect(stream.status).toBe('aborted')
    expect(longest.byteLength).toBeGreaterThan(4 * MESSAGE_BYTES)
    expect(longest.byteLength).toBeLessThan(17 * MESSAGE_BYTES)
  })
})

describe('nothing that is put back', () => {
  test.each(['push', 'unshift'] as const)('by %s() in a listener delays no message behind it', async method => {
    const { peer, stream } = await connect()
    const lengths: number[] = []
    stream.addEventListener('message', ({ data }) => {
      lengths.push(data.byteLength)
      stream[method](new Uint8Array(0))
    })
    peer.deliver(data(1, pattern(3)), data(1, pattern(4)), data(1, pattern(5)))

    expect(lengths).toEqual([3, 4, 5])
  })

  test.each(['push', 'unshift'] as const)('by %s() after the end opens no stream again', async method => {
    const { peer, stream } = await connect()
    receive(stream)
    await stream.close()
    peer.deliver(data(1, pattern(3), FIN))
    await nextTurn()
    expect([stream.status, stream.readStatus]).toEqual(['closed', 'closed'])

    stream[method](new Uint8Array(0))
    expect([stream.status, stream.readStatus]).toEqual(['closed', 'closed'])
  })
})
