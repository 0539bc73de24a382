// Two libp2p nodes in two processes: services, echoes, and many streams at once.
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { MUXER_PAIRS } from '../../testing/muxers.ts'
import { createServingNode } from '../../testing/libp2p/serving-node.ts'
import { echo } from '../../testing/libp2p/echo.ts'
import { startPeer } from '../../testing/libp2p/spawn.ts'
import { PROTOCOLS } from '../../testing/libp2p/handlers.ts'
import type { TestNode } from '../../testing/libp2p/serving-node.ts'
import type { Peer } from '../../testing/libp2p/spawn.ts'
import type { PeerId } from '@libp2p/interface'

const START_TIMEOUT_MS = 30_000
const MANY_STREAMS_TIMEOUT_MS = 60_000
const MANY_STREAMS = 1_000
const MEBIBYTE = 2 ** 20

describe.each(MUXER_PAIRS)('a node with $dialler that dials a node with $listener', ({ dialler, listener }) => {
  let node: TestNode
  let peer: Peer
  let peerId: PeerId

  beforeAll(async () => {
    [node, peer] = await Promise.all([createServingNode(dialler), startPeer(listener)])
    const connection = await node.libp2p.dial(peer.address)
    peerId = connection.remotePeer
  }, START_TIMEOUT_MS)

  afterAll(async () => {
    await node?.libp2p.stop()
    await peer?.kill()
  })

  test('agrees on yamux', () => {
    expect(node.libp2p.getConnections(peerId).map(connection => connection.multiplexer)).toEqual(['/yamux/1.0.0'])
  })

  test.each([1, MEBIBYTE])('gets the same %i bytes back from an echo', async byteLength => {
    expect(await echo(node, { streamCount: 1, byteLength })).toEqual({ openAtOnce: 1, matching: 1 })
  })

  test('gets its own payload back on each of 1,000 streams open at once', async () => {
    const result = await echo(node, { streamCount: MANY_STREAMS, byteLength: 1_000 })

    expect(result).toEqual({ openAtOnce: MANY_STREAMS, matching: MANY_STREAMS })
  }, MANY_STREAMS_TIMEOUT_MS)

  test('opens streams while the other side opens streams too', async () => {
    const request = { streamCount: 50, byteLength: 64 * 1024 }
    const results = await Promise.all([echo(node, request), peer.echo(request)])

    expect(results).toEqual([{ openAtOnce: 50, matching: 50 }, { openAtOnce: 50, matching: 50 }])
  })

  test('keeps no stream once all are closed on both sides', async () => {
    const isOpen = (protocol: string): boolean => Object.values<string>(PROTOCOLS).includes(protocol)

    await vi.waitFor(() => {
      const [connection] = node.libp2p.getConnections(peerId)
      expect(connection?.streams.filter(stream => isOpen(stream.protocol))).toEqual([])
    }, { timeout: 10_000 })
  })
})
