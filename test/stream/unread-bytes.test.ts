// What waits to be read is the stream's own: the transport may use the memory of its chunk again.
import { StreamMessageEvent } from '@libp2p/interface'
import { expect, test } from 'vitest'
import { ACK, data, pattern, RST, windowUpdate } from '../../testing/protocol/frames.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { YamuxStream } from '../../src/index.ts'

test.each([
  ['nobody listens', (_: YamuxStream) => {}],
  ['the stream is paused', (stream: YamuxStream) => { stream.pause() }]
])('while %s, what came keeps its bytes although the chunk is overwritten', async (_, hold) => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(1, 0, ACK))
  hold(stream)
  const chunk = data(1, pattern(100))
  peer.transport.dispatchEvent(new StreamMessageEvent(chunk))
  chunk.fill(0)
  const received: number[] = []
  stream.addEventListener('message', evt => { received.push(...evt.data.subarray()) })

  if (stream.readStatus === 'paused') {
    stream.resume()
  }

  await nextTurn()

  expect(received).toEqual([...pattern(100)])
})

test.each([
  ['a listener', (stream: YamuxStream, onBytes: (count: number) => void) => { stream.addEventListener('message', ({ data }) => { onBytes(data.byteLength) }) }],
  ['a second loop', (stream: YamuxStream, onBytes: (count: number) => void) => { read(stream, onBytes).catch(() => {}) }]
])('%s that comes in the same moment as a loop gets what had waited as well', async (_, join) => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  peer.deliver(windowUpdate(1, 0, ACK), data(1, pattern(100)))
  await nextTurn()
  const counts = [0, 0]
  read(stream, count => { counts[0] += count }).catch(() => {})
  join(stream, count => { counts[1] += count })
  await nextTurn()

  expect(counts).toEqual([100, 100])
})

async function read (stream: YamuxStream, onBytes: (count: number) => void): Promise<void> {
  for await (const { byteLength } of stream) {
    onBytes(byteLength)
  }
}

test('a paused stream that the peer resets while nothing waits to be read takes nothing that is put back any more', async () => {
  const peer = createRawPeer()
  const stream = await peer.muxer.createStream()
  stream.pause()
  peer.deliver(windowUpdate(1, 0, RST))
  await nextTurn()

  expect([stream.readStatus, stream.readableEnded]).toEqual(['closed', true])
  expect(() => { stream.push(pattern(1)) }).toThrow(expect.objectContaining({ name: 'StreamStateError' }))
})
