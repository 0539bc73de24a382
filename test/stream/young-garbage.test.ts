// What a stream leaves behind is gone with the next young collection: what it holds on to waits for a full one, which is dear.
import { expect, test } from 'vitest'
import { data, FIN, pattern, SYN } from '../fixtures/frames.ts'
import { collectYoungGarbage, heapBytes, usedHeapBytes } from '../fixtures/garbage.ts'
import { createRawPeer, nextTurn } from '../fixtures/raw-peer.ts'
import type { RawPeer } from '../fixtures/raw-peer.ts'

/** Held by each of its listeners */
const HELD_BYTES = 10_000
const STREAMS_A_TURN = 5

/** The peer opens streams, whose listeners answer and close them */
async function serve (peer: RawPeer, firstId: number, count: number): Promise<void> {
  for (let id = firstId; id < firstId + 2 * count; id += 2) {
    peer.deliver(data(id, pattern(10), SYN | FIN))

    if (id % (2 * STREAMS_A_TURN) === 1) {
      await nextTurn()
      peer.takeWrites()
    }
  }

  await nextTurn()
  peer.takeWrites()
}

test('of streams that are over and had listeners nothing is left', async () => {
  const peer = createRawPeer({ direction: 'inbound' })
  peer.muxer.addEventListener('stream', ({ detail: stream }) => {
    const held = new Array<number>(HELD_BYTES / 8).fill(0)
    stream.addEventListener('message', ({ data }) => { stream.send(data) })
    stream.addEventListener('remoteCloseWrite', () => {
      held.pop()
      stream.close().catch(() => {})
    })
  })

  await serve(peer, 1, 100)
  const beforeBytes = await heapBytes()
  await serve(peer, 201, 1000)
  expect(peer.muxer.streams).toEqual([])
  await collectYoungGarbage()
  await collectYoungGarbage()

  expect(usedHeapBytes() - beforeBytes).toBeLessThan(1000 * HELD_BYTES / 10)
})
