// What `mergeMessages: 'backlog'`, the default, keeps apart and what it merges, frame by frame.
import { Uint8ArrayList } from 'uint8arraylist'
import { describe, expect, test } from 'vitest'
import { concat, data, DATA, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { connect } from '../hazards/fixtures/connected.ts'
import { receive, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

const BACKLOG_BYTES = 16_384

async function lengthsOf (peer: Conversation): Promise<number[]> {
  await nextTurn()

  return peer.takeFrames().filter(({ type }) => type === DATA).map(({ length }) => length)
}

describe('what is sent', () => {
  test('is a frame each, until a send finds a frame\'s worth waiting: then all that waits is full frames', async () => {
    const { peer, stream } = await connect()
    stream.send(pattern(16_383))
    stream.send(pattern(100))
    expect(await lengthsOf(peer)).toEqual([16_383, 100])

    stream.send(pattern(16_383))
    stream.send(pattern(1))
    stream.send(pattern(100))
    expect(await lengthsOf(peer)).toEqual([BACKLOG_BYTES + 100])
  })

  test.each([16_372, 16_373, 16_384])('is one frame also while the first bytes of a connection look for its rate: %i bytes', async byteLength => {
    const { peer, stream } = await connect({ coalesce: { maxQueueDelayMs: 10 } })
    stream.send(pattern(byteLength))

    expect(await lengthsOf(peer)).toEqual([byteLength])
  })

  test('is kept apart again once nothing waits', async () => {
    const { peer, stream } = await connect()

    for (let i = 0; i < 300; i++) {
      stream.send(pattern(100, i))
    }

    expect(await lengthsOf(peer)).toEqual([30_000])

    stream.send(pattern(10))
    stream.send(pattern(20))
    expect(await lengthsOf(peer)).toEqual([10, 20])
  })

  test('is not cut where a write ends: the next one begins with it', async () => {
    const { peer, stream } = await connect({ coalesce: { maxBytes: 20_000 } })
    const other = await peer.open()
    peer.deliver(windowUpdate(3, 1))
    stream.send(pattern(12_000, 1))
    other.send(pattern(12_000, 2))
    expect(await lengthsOf(peer)).toEqual([12_000, 12_000])
  })

  test('is cut where one write cannot hold it', async () => {
    const { peer, stream } = await connect({ coalesce: { maxBytes: 4096 } })
    stream.send(pattern(6000))
    const lengths = await lengthsOf(peer)

    expect(lengths.length).toBe(2)
    expect(lengths[0] + lengths[1]).toBe(6000)
  })

  test('is cut by the peer\'s credit, as the stock muxer does: a message never waits for more credit than one byte', async () => {
    const { peer, stream } = await connect()
    stream.send(pattern(WINDOW_BYTES + 1 - 60))
    await lengthsOf(peer)
    stream.send(pattern(100))
    expect(await lengthsOf(peer)).toEqual([60])

    peer.deliver(windowUpdate(1, 1000))
    expect(await lengthsOf(peer)).toEqual([40])
  })

  test('in parts that are longer than a frame together shares frames from its first byte on', async () => {
    const { peer, stream } = await connect()
    stream.send(new Uint8ArrayList(pattern(3), pattern(30_000)))
    expect(await lengthsOf(peer)).toEqual([30_003])

    stream.send(pattern(10))
    stream.send(new Uint8ArrayList(pattern(3), pattern(30_000)))
    expect(await lengthsOf(peer)).toEqual([10, 30_003])
  })
})

describe('what is received', () => {
  test('is an event for each short frame while less than 16 KiB of the stream wait', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    peer.deliver(concat(data(1, pattern(16_000, 1)), data(1, pattern(383, 2))))

    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([16_000, 383])
  })

  test('is one event from 16 KiB in a chunk on', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    peer.deliver(concat(data(1, pattern(16_000, 1)), data(1, pattern(384, 2)), data(1, pattern(5, 3))))
    peer.deliver(concat(data(1, pattern(1, 4)), data(1, pattern(2, 5))))

    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([16_389, 1, 2])
  })

  test('of a short frame that the end of a chunk cuts waits for the rest of it', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    const frame = data(1, pattern(16_383))
    peer.deliver(concat(data(1, pattern(10)), frame.subarray(0, 5000)))
    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([10])

    peer.deliver(frame.subarray(5000, 9000))
    peer.deliver(concat(frame.subarray(9000), data(1, pattern(20))))
    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([10, 16_383 + 20])
  })

  test('of a full frame is handed over as it comes', async () => {
    const { peer, stream } = await connect()
    const received = receive(stream)
    const frame = data(1, pattern(BACKLOG_BYTES))
    peer.deliver(frame.subarray(0, 5000))
    peer.deliver(concat(frame.subarray(5000), data(1, pattern(20))))

    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([4988, BACKLOG_BYTES - 4988, 20])
  })

  test('and waited while nobody read is merged only if it was 16 KiB', async () => {
    const { peer, stream } = await connect()
    stream.pause()
    peer.deliver(data(1, pattern(10)))
    peer.deliver(data(1, pattern(20)))
    const received = receive(stream)
    stream.resume()
    await nextTurn()
    expect(received.chunks.map(({ byteLength }) => byteLength)).toEqual([10, 20])

    stream.pause()

    for (let i = 0; i < 200; i++) {
      peer.deliver(data(1, pattern(100, i)))
    }

    stream.resume()
    expect(received.chunks.slice(2).map(({ byteLength }) => byteLength)).toEqual([20_000])
  })
})
