// Peers that send more than they were given: @libp2p/yamux does, set to a larger initialStreamWindowSize, which it never advertises.
import { yamux as stock } from '@libp2p/yamux'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { pEvent } from 'p-event'
import { describe, expect, test } from 'vitest'
import { yamux } from '../../src/index.ts'
import { data, FIN, pattern, RST, SYN, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, endings, expectAlive, expectEnded, readAll, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import { createSink } from '../muxer/fixtures/recording-log.ts'
import type { Stream } from '@libp2p/interface'

const MEBIBYTE = 2 ** 20
const FRAME_BYTES = 65_536
/** What @libp2p/yamux would hold of a stream, by default */
const READ_BUFFER_BYTES = 4 * MEBIBYTE
const MAX_TOLERATED_BYTES = READ_BUFFER_BYTES - WINDOW_BYTES

describe('a peer that uses more than it was given', () => {
  test('may, as far as a stream may hold unread data, and every byte is delivered', async () => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES })
    const stream = await peer.open()

    for (let sent = 0; sent < READ_BUFFER_BYTES; sent += FRAME_BYTES) {
      peer.deliver(data(1, pattern(FRAME_BYTES, sent)))
    }

    await expectAlive(peer)
    peer.deliver(windowUpdate(1, 0, FIN))
    expect(await readAll(stream)).toBe(READ_BUFFER_BYTES)
  })

  test('ends the connection beyond that', async () => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES })
    const closes = endings(await peer.open())
    peer.deliver(data(1, pattern(READ_BUFFER_BYTES)))
    await expectAlive(peer)
    peer.deliver(data(1, pattern(1)))

    await expectEnded(peer, 1)
    expect(closes.map(({ error }) => error)).toEqual([expect.objectContaining({ code: 'ERR_RECEIVE_WINDOW_EXCEEDED' })])
  })

  test('has that once for a stream, not again for what was read', async () => {
    const peer = converse({ maxToleratedBytes: 1000 })
    const stream = await peer.open()
    stream.addEventListener('message', () => {})
    peer.deliver(data(1, pattern(WINDOW_BYTES + 1000)))
    await nextTurn()
    await expectAlive(peer)
    // all was read, and given back
    stream.pause()
    peer.deliver(data(1, pattern(WINDOW_BYTES + 1000)))
    await expectAlive(peer)
    peer.deliver(data(1, pattern(1)))

    await expectEnded(peer, 1)
  })

  test('has no more on all streams than all windows may grow by', async () => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES, maxConnectionWindow: 2 * MEBIBYTE })
    await peer.open()
    await peer.open()
    peer.deliver(data(1, pattern(WINDOW_BYTES + MEBIBYTE)))
    await expectAlive(peer)
    peer.deliver(data(3, pattern(WINDOW_BYTES + MEBIBYTE)))
    await expectAlive(peer)
    peer.deliver(data(3, pattern(1)))

    await expectEnded(peer, 1)
  })

  test('has it also where windows have grown by all they may', async () => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES, maxConnectionWindow: MEBIBYTE, streamOptions: { initialStreamWindowSize: WINDOW_BYTES } })
    const [first] = [await peer.open(), await peer.open()]
    // both ends write, and the first stream gets all there is
    first.send(pattern(2 * WINDOW_BYTES))
    peer.deliver(data(1, pattern(WINDOW_BYTES)))
    await nextTurn()
    peer.takeFrames()
    peer.deliver(data(3, pattern(WINDOW_BYTES + MEBIBYTE / 2)))

    await expectAlive(peer)
  })

  test('gives it back with the stream', async () => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES, maxConnectionWindow: 2 * MEBIBYTE })
    const first = await peer.open()
    await peer.open()
    peer.deliver(data(1, pattern(WINDOW_BYTES + MEBIBYTE)))
    first.abort(new Error('Enough'))
    await nextTurn()
    peer.takeFrames()
    peer.deliver(data(3, pattern(WINDOW_BYTES + MEBIBYTE)))

    await expectAlive(peer)
  })

  test.each([
    ['with the SYN', data(2, pattern(WINDOW_BYTES + 1), SYN)],
    ['with a reset', data(1, pattern(WINDOW_BYTES + 1), RST)]
  ])('may not %s', async (_, frame) => {
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES })
    await peer.open()
    peer.deliver(frame)

    await expectEnded(peer, 1)
  })

  test('is logged once for a connection', async () => {
    const { sink, log } = createSink()
    const peer = converse({ maxToleratedBytes: MAX_TOLERATED_BYTES, log })
    await peer.open()
    await peer.open()

    for (const id of [1, 3]) {
      peer.deliver(data(id, pattern(WINDOW_BYTES + 1)), data(id, pattern(1)))
    }

    expect(sink.lines.filter(([level]) => String(level).endsWith(':error'))).toEqual([
      [expect.any(String), '%e', expect.objectContaining({ message: expect.stringMatching(/stream 1\b.*initialStreamWindowSize.*262144.*maxReadBufferLength.*4194304/) })]
    ])
  })
})

test.each([1, 4])('a stock node with windows of %s MiB sends 12 MiB to a reader that comes late, and all arrive', async mebibytes => {
  const [outbound, inbound] = multiaddrConnectionPair()
  const sender = stock({ streamOptions: { initialStreamWindowSize: mebibytes * MEBIBYTE } })().createStreamMuxer(outbound)
  const receiver = yamux()().createStreamMuxer(inbound)
  const accepted = new Promise<Stream>(resolve => { receiver.addEventListener('stream', ({ detail }) => { resolve(detail) }) })
  const stream = await sender.createStream()
  const sending = (async () => {
    for (let sent = 0; sent < 12 * MEBIBYTE; sent += FRAME_BYTES) {
      if (!stream.send(new Uint8Array(FRAME_BYTES))) {
        await pEvent(stream, 'drain', { rejectionEvents: ['close'] })
      }
    }

    await stream.close()
  })()

  // it sends until it hears nothing
  const reader = await accepted

  for (let turn = 0; turn < 100; turn++) {
    await nextTurn()
  }

  let byteLength = 0

  for await (const chunk of reader) {
    byteLength += chunk.byteLength
  }

  expect(byteLength).toBe(12 * MEBIBYTE)
  await sending
  outbound.abort(new Error('The test is over'))
})
