// Writers that wait for 'drain' on a stream that ends.
import { expect, test } from 'vitest'
import { RST, pattern, windowUpdate } from '../../testing/protocol/frames.ts'
import { converse, WINDOW_BYTES } from '../../testing/protocol/conversation.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

const ends: Array<[how: string, end: (stream: YamuxStream, peer: Conversation) => void, why: string]> = [
  ['its own abort', stream => { stream.abort(new Error('Enough')) }, 'Enough'],
  ['a reset by the peer', (_, peer) => { peer.deliver(windowUpdate(1, 7, RST)) }, 'The peer reset stream 1 with error code 7'],
  ['the end of the transport', (_, peer) => { peer.transport.end(new Error('Connection reset')) }, 'The connection closed before the stream had ended']
]

test.each(ends)('a writer that was told to wait learns of %s, whether it began to wait before or after', async (_, end, why) => {
  const peer = converse()
  const stream = await peer.open()
  peer.transport.isFull = true
  stream.send(pattern(1))
  expect(stream.send(pattern(2 * WINDOW_BYTES))).toBe(false)

  const before = stream.onDrain()
  end(stream, peer)
  await expect(before).rejects.toThrow(why)
  await expect(stream.onDrain()).rejects.toThrow(why)
})

test('a writer that was not told to wait does not wait, whether the stream has ended or not', async () => {
  const peer = converse()
  const stream = await peer.open()
  await stream.onDrain()
  stream.abort(new Error('Enough'))
  await stream.onDrain()
})
