// Whoever reads a stream and aborts it gets no more of it, although the stream had ended before with bytes unread.
import { expect, test } from 'vitest'
import { data, FIN, pattern, RST, windowUpdate } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse } from '../../testing/protocol/conversation.ts'
import type { YamuxStream } from '../../src/index.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'

/** Three frames that nobody has read */
async function unread (): Promise<{ peer: Conversation, stream: YamuxStream }> {
  const peer = converse({ coalesce: { mergeMessages: false } })
  const stream = await peer.open()
  peer.deliver(data(1, pattern(10)), data(1, pattern(20)), data(1, pattern(30)))

  return { peer, stream }
}

/** Aborts at the first message; returns the length of each that it gets */
function abortAtFirst (stream: YamuxStream): number[] {
  const lengths: number[] = []
  stream.addEventListener('message', evt => {
    lengths.push(evt.data.byteLength)
    stream.abort(new Error('Enough'))
  })

  return lengths
}

test('a listener that aborts while the end of the connection is told gets no more', async () => {
  const { peer, stream } = await unread()
  const lengths = abortAtFirst(stream)
  peer.transport.end(new Error('Connection reset'))
  await nextTurn()

  expect(lengths).toEqual([10])
  expect([stream.status, stream.readStatus, stream.readBufferLength]).toEqual(['reset', 'closed', 0])
})

test('a listener that aborts long after the peer has reset the stream gets no more', async () => {
  const { peer, stream } = await unread()
  peer.deliver(windowUpdate(1, 0, RST))
  let ends = 0
  stream.addEventListener('end', () => { ends++ })
  const lengths = abortAtFirst(stream)
  await nextTurn()

  expect(lengths).toEqual([10])
  expect(ends).toBe(1)
})

test.each<[string, (stream: YamuxStream) => void]>([
  ['pause', stream => { stream.pause() }],
  ['resume', stream => { stream.resume() }],
  ['push data onto', stream => { stream.push(pattern(1)) }],
  ['push data onto', stream => { stream.unshift(pattern(1)) }]
])('nobody can %s a stream that is read no more', async (action, act) => {
  const { stream } = await unread()
  await stream.closeRead()

  expect(() => { act(stream) }).toThrow(`Cannot ${action} a stream that is closed`)
})

test('a loop over a stream that has ended throws the reason of an abort that left bytes unread', async () => {
  const { peer, stream } = await unread()
  peer.deliver(windowUpdate(1, 0, RST))
  const lengths: number[] = []

  await expect((async () => {
    for await (const chunk of stream) {
      lengths.push(chunk.byteLength)
      stream.abort(new Error('Enough'))
    }
  })()).rejects.toThrow()
  expect(lengths).toEqual([10])
})

test.each([
  ['reads', (): void => {}],
  ['reads while it is paused', (stream: YamuxStream): void => {
    stream.addEventListener('message', () => {})
    stream.pause()
  }]
])('what nobody %s stays when a stream that has ended is aborted', async (_, prepare) => {
  const { peer, stream } = await unread()
  prepare(stream)
  peer.deliver(windowUpdate(1, 0, FIN))
  await stream.close()
  stream.abort(new Error('Done with it'))
  expect([stream.status, stream.readBufferLength]).toEqual(['closed', 10 + 20 + 30])

  let readBytes = 0
  stream.addEventListener('message', evt => { readBytes += evt.data.byteLength })

  if (stream.readStatus === 'paused') {
    stream.resume()
  }

  await nextTurn()
  expect([readBytes, stream.readStatus]).toEqual([10 + 20 + 30, 'closed'])
})

test('a muxer that closes gives up no stream that ends meanwhile: what has come of it can be read', async () => {
  const { peer, stream } = await unread()
  peer.transport.isFull = true
  stream.send(pattern(1))
  await nextTurn()
  stream.send(pattern(2))
  const closing = peer.muxer.close()
  peer.transport.end()
  await closing
  let readBytes = 0

  for await (const chunk of stream) {
    readBytes += chunk.byteLength
  }

  expect(readBytes).toBe(10 + 20 + 30)
})
