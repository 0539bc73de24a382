// What a stream leaves behind is gone with the next young collection: what it holds on to waits for a full one, which is dear.
import { expect, test } from 'vitest'
import { data, FIN, pattern, SYN } from '../../testing/protocol/frames.ts'
import { collectYoungGarbage, heapBytes, usedHeapBytes } from '../../testing/protocol/garbage.ts'
import { createRawPeer, nextTurn } from '../../testing/protocol/raw-peer.ts'
import type { RawPeer } from '../../testing/protocol/raw-peer.ts'

const STREAMS = 5000
/** A stream alone takes twice as much */
const LEFT_BYTES_A_STREAM = 1000

/** The peer opens streams one after the other, which are answered and closed */
async function serve (peer: RawPeer, firstId: number, count: number): Promise<void> {
  for (let id = firstId; id < firstId + 2 * count; id += 2) {
    peer.deliver(data(id, pattern(10), SYN | FIN))
    await nextTurn()
    peer.takeWrites()
  }
}

test('of streams that are over, were listened to and have logged nothing is left', async () => {
  const peer = createRawPeer({ direction: 'inbound' })
  peer.muxer.addEventListener('stream', ({ detail: stream }) => {
    // as libp2p does to agree on a protocol
    stream.log.newScope('mss:handle').trace('selected')
    stream.addEventListener('message', ({ data }) => { stream.send(data) })
    stream.addEventListener('remoteCloseWrite', async () => stream.close())
  })

  await serve(peer, 1, 1000)
  const beforeBytes = await heapBytes()
  await serve(peer, 2001, STREAMS)
  expect(peer.muxer.streams).toEqual([])
  await collectYoungGarbage()
  await collectYoungGarbage()

  expect((usedHeapBytes() - beforeBytes) / STREAMS).toBeLessThan(LEFT_BYTES_A_STREAM)
})
