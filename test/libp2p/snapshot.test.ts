// Snapshots of real nodes: libp2p's connections lead to their muxers, whoever has dialled.
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { snapshotNode } from '../../src/snapshot.ts'
import { createNode } from '../../testing/libp2p/node.ts'
import type { MuxerName } from '../../testing/muxers.ts'
import type { Libp2p } from '@libp2p/interface'

const PROTOCOL = '/test/snapshot/1.0.0'
/** More than any window of a new stream */
const UNREAD_BYTES = 5_000_000

let nodes: Record<MuxerName, Libp2p>

beforeAll(async () => {
  nodes = { ours: await createNode('ours'), light: await createNode('light'), stock: await createNode('stock') }
  await Promise.all(Object.values(nodes).map(node => node.handle(PROTOCOL, stream => { stream.pause() })))
})

afterAll(async () => {
  await Promise.all(Object.values(nodes).map(node => node.stop()))
})

test.each([
  ['ours', 'light'],
  ['light', 'ours']
] as const)('%s names the stream to a peer with %s that does not read, and that peer its own', async (dialler, listener) => {
  const connection = await nodes[dialler].dial(nodes[listener].getMultiaddrs(), { force: true })
  const stream = await connection.newStream(PROTOCOL)
  stream.send(new Uint8Array(UNREAD_BYTES))

  await vi.waitFor(() => {
    expect(snapshotNode(nodes[dialler]).connections).toMatchObject([
      { peer: nodes[listener].peerId.toString(), direction: 'outbound', streams: [{ id: stream.id, protocol: PROTOCOL, waitsFor: 'credit', creditBytes: 0 }] }
    ])
    expect(snapshotNode(nodes[listener]).connections).toMatchObject([
      { peer: nodes[dialler].peerId.toString(), direction: 'inbound', streams: [{ id: stream.id, protocol: PROTOCOL, waitsFor: 'reader', readStatus: 'paused' }] }
    ])
  })
  connection.abort(new Error('The test is over'))
  await vi.waitFor(() => { expect(nodes[listener].getConnections()).toEqual([]) })
})

test('a connection of a node with another muxer has the name of that', async () => {
  const connection = await nodes.stock.dial(nodes.ours.getMultiaddrs(), { force: true })

  expect(snapshotNode(nodes.stock)).toEqual({ connections: [{ peer: nodes.ours.peerId.toString(), multiplexer: '/yamux/1.0.0' }] })
  await vi.waitFor(() => {
    expect(snapshotNode(nodes.ours).connections).toMatchObject([{ peer: nodes.stock.peerId.toString(), multiplexer: '/yamux/1.0.0', streams: [] }])
  })
  await connection.close()
})
