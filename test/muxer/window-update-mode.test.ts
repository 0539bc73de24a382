// When the peer gets credit for more: as the application reads, or as data arrives.
import { expect, test } from 'vitest'
import { ACK, data, pattern, RST, WINDOW_UPDATE, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { RawPeer, RawPeerInit } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

const HALF_WINDOW_BYTES = 131_072

async function open (init: RawPeerInit): Promise<{ peer: RawPeer, stream: YamuxStream }> {
  const peer = createRawPeer(init)
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(1, 0, ACK))
  await nextTurn()
  peer.takeFrames()

  return { peer, stream }
}

async function deliverHalfAWindow (peer: RawPeer): Promise<void> {
  peer.deliver(data(1, pattern(HALF_WINDOW_BYTES)))
  await nextTurn()
}

test('onRead gives no credit for what nobody reads, however much the peer waits for it', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onRead' })
  await deliverHalfAWindow(peer)
  await deliverHalfAWindow(peer)

  expect(peer.takeFrames().filter(({ type, length }) => type === WINDOW_UPDATE && length > 0)).toEqual([])
  expect(stream.readBufferLength).toBe(2 * HALF_WINDOW_BYTES)
})

test('onRead gives credit for what a loop has taken when the loop asks for the next, not before', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onRead' })
  const loop = stream[Symbol.asyncIterator]()
  const first = loop.next()
  await deliverHalfAWindow(peer)
  expect((await first).value.byteLength).toBe(HALF_WINDOW_BYTES)
  await nextTurn()
  expect(peer.takeFrames()).toEqual([])

  loop.next().catch(() => {})
  await nextTurn()
  expect(peer.takeFrames()).toContainEqual(expect.objectContaining({ type: WINDOW_UPDATE, id: 1, length: HALF_WINDOW_BYTES }))
})

test('onRead gives credit for what is discarded because this side reads no more', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onRead' })
  await stream.closeRead()
  await deliverHalfAWindow(peer)

  expect(peer.takeFrames()).toContainEqual(expect.objectContaining({ type: WINDOW_UPDATE, id: 1, length: HALF_WINDOW_BYTES }))
})

test('onReceive gives credit for what nobody reads', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onReceive' })
  await deliverHalfAWindow(peer)

  // with a ping: nobody has measured the round trip yet
  expect(peer.takeFrames()).toContainEqual(expect.objectContaining({ type: WINDOW_UPDATE, id: 1, length: HALF_WINDOW_BYTES }))
  expect(stream.readBufferLength).toBe(HALF_WINDOW_BYTES)
})

test('onReceive gives credit once: reading what waited gives no more', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onReceive' })
  await deliverHalfAWindow(peer)
  peer.takeFrames()
  stream.addEventListener('message', () => {})
  await nextTurn()

  expect(stream.readBufferLength).toBe(0)
  expect(peer.takeFrames()).toEqual([])
})

test('onReceive resets a stream that has more unread than maxReadBufferLength, and holds no more', async () => {
  const { peer, stream } = await open({ windowUpdateMode: 'onReceive', streamOptions: { maxReadBufferLength: 500_000 } })
  let error: Error | undefined
  stream.addEventListener('close', evt => { error = evt.error })

  for (let i = 0; i < 3; i++) {
    await deliverHalfAWindow(peer)
  }

  expect(stream.status).toBe('open')
  await deliverHalfAWindow(peer)
  expect(stream.status).toBe('aborted')
  expect(error?.message).toBe('Read buffer length of 524288 exceeded limit of 500000, read status is readable')
  expect(stream.readBufferLength).toBe(0)
  expect(peer.takeFrames().at(-1)).toMatchObject({ flags: RST, id: 1 })
})
