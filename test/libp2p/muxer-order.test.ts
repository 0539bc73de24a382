// Noise agrees on a muxer, and each end takes the first of the other's list: what happens if the lists are not in the same order.
import { mplex } from '@libp2p/mplex'
import { pEvent } from 'p-event'
import { afterEach, describe, expect, test } from 'vitest'
import { isOwn, muxers, OWN_MUXERS } from '../../testing/muxers.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Connection, Libp2p, StreamMuxerFactory } from '@libp2p/interface'
import type { StreamCloseEvent } from '@libp2p/interface'

const YAMUX = '/yamux/1.0.0'
const MPLEX = '/mplex/6.7.0'
const PROTOCOL = '/test/1.0.0'

const nodes: Libp2p[] = []

afterEach(async () => {
  await Promise.all(nodes.splice(0).map(async node => { await node.stop() }))
})

async function createNodeWith (streamMuxers: Array<() => StreamMuxerFactory>): Promise<Libp2p> {
  const node = await createNode('ours', { streamMuxers })
  await node.handle(PROTOCOL, () => {})
  nodes.push(node)

  return node
}

describe.each<MuxerName>([...OWN_MUXERS, 'stock'])('%s', name => {
  /** The connection as the dialler and as the listener see it */
  async function connect (dialler: string[], listener: string[]): Promise<Connection[]> {
    const yamux = await muxers[name]()
    const toMuxers = (names: string[]): Array<() => StreamMuxerFactory> => names.map(name => name === YAMUX ? yamux : mplex())
    const [from, to] = await Promise.all([createNodeWith(toMuxers(dialler)), createNodeWith(toMuxers(listener))])
    const accepted = pEvent<'connection:open', CustomEvent<Connection>>(to, 'connection:open')

    return [await from.dial(to.getMultiaddrs()), (await accepted).detail]
  }

  test.each([
    ['the same order', [YAMUX, MPLEX], [YAMUX, MPLEX], YAMUX],
    ['the same order, mplex first', [MPLEX, YAMUX], [MPLEX, YAMUX], MPLEX],
    ['only yamux at the dialler', [YAMUX], [MPLEX, YAMUX], YAMUX],
    ['only yamux at the listener', [MPLEX, YAMUX], [YAMUX], YAMUX],
    ['only mplex at one end', [YAMUX, MPLEX], [MPLEX], MPLEX]
  ])('both ends have the same muxer with %s', async (_, dialler, listener, expected) => {
    const connections = await connect(dialler, listener)

    expect(connections.map(({ multiplexer }) => multiplexer)).toEqual([expected, expected])
    expect((await connections[0].newStream(PROTOCOL)).protocol).toBe(PROTOCOL)
  })

  test('each end has the other muxer when the lists are in another order, and the connection ends at the first stream', async () => {
    const [dialled, accepted] = await connect([YAMUX, MPLEX], [MPLEX, YAMUX])
    const closed = pEvent<'close', StreamCloseEvent>(dialled, 'close')
    const ended = isOwn(name) ? pEvent<'close', StreamCloseEvent>(accepted, 'close') : undefined
    expect([dialled.multiplexer, accepted.multiplexer]).toEqual([MPLEX, YAMUX])

    await expect(dialled.newStream(PROTOCOL)).rejects.toThrow()
    await closed

    // stock says "InvalidFrameError: Invalid frame type" in its log alone
    if (ended != null) {
      expect((await ended).error).toMatchObject({
        name: 'InvalidFrameError',
        code: 'ERR_INVALID_FRAME',
        message: expect.stringMatching(/^received a frame of type \d+ on stream id \d+|^received a frame of (version|type) \d+, /)
      })
    }
  })

  test('a stream that is opened from the end with yamux is never negotiated', async () => {
    const [dialled, accepted] = await connect([MPLEX, YAMUX], [YAMUX, MPLEX])
    expect([dialled.multiplexer, accepted.multiplexer]).toEqual([YAMUX, MPLEX])

    await expect(dialled.newStream(PROTOCOL, { signal: AbortSignal.timeout(500) })).rejects.toThrow()
  })
})
