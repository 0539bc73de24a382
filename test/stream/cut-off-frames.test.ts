// A connection that ends within a frame, where each frame is one event.
import { expect, test } from 'vitest'
import { concat, data, pattern } from '../../testing/protocol/frames.ts'
import { nextTurn } from '../../testing/protocol/raw-peer.ts'
import { converse, receive } from '../../testing/protocol/conversation.ts'
import type { Conversation } from '../../testing/protocol/conversation.ts'
import type { YamuxStream } from '../../src/index.ts'

/** A stream on which 10 bytes of a frame of 100 have come */
async function withinFrame (): Promise<{ peer: Conversation, stream: YamuxStream }> {
  const peer = converse({ coalesce: { mergeMessages: false } })
  const stream = await peer.open()
  peer.deliver(data(1, pattern(100)).subarray(0, 12 + 10))

  return { peer, stream }
}

async function closeHere ({ muxer, transport }: Conversation): Promise<void> {
  await muxer.close()
  await transport.close()
}

test('a loop gets what came of the frame, and ends, when this side closes the connection', async () => {
  const { peer, stream } = await withinFrame()
  const chunks: Uint8Array[] = []
  let isOver = false
  const reading = (async () => {
    for await (const chunk of stream) {
      chunks.push(chunk.subarray())
    }

    isOver = true
  })()

  await nextTurn()
  expect(chunks).toEqual([])
  await closeHere(peer)
  await nextTurn()
  expect(isOver).toBe(true)
  await reading
  expect(concat(...chunks)).toEqual(pattern(10))
})

test('a listener gets what came of the frame, and the end, when this side closes the connection', async () => {
  const { peer, stream } = await withinFrame()
  const received = receive(stream)
  let ends = 0
  stream.addEventListener('end', () => { ends++ })

  await closeHere(peer)
  await nextTurn()
  expect(received.chunks).toEqual([pattern(10)])
  expect(ends).toBe(1)
  expect(stream.readStatus).toBe('closed')
})
