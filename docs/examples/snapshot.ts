// What each stream of a node waits for, as a table once a second.
//
//   npm run example docs/examples/snapshot.ts
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { snapshotNode } from 'libp2p-coalescing-yamux/snapshot'
import type { Libp2p } from '@libp2p/interface'

const [node, peer] = await Promise.all([createNode(), createNode()])

await peer.handle('/example/read/1', stream => { stream.addEventListener('message', () => {}) })
await peer.handle('/example/never-read/1', stream => { stream.pause() })
await peer.handle('/example/news/1', stream => { stream.send(new Uint8Array(1000)) })

for (const protocol of ['/example/read/1', '/example/never-read/1']) {
  const stream = await node.dialProtocol(peer.getMultiaddrs(), protocol)
  stream.send(new Uint8Array(5_000_000))
}

// the peer sends on it, and this node does not read
await node.dialProtocol(peer.getMultiaddrs(), '/example/news/1')

// a busy program delays all streams, which no stream shows
const delays = monitorEventLoopDelay({ resolution: 10 })
delays.enable()

for (let second = 0; second < 3; second++) {
  await sleep(1000)
  console.log(`A timer of 10 ms took up to ${Math.round(delays.max / 1e6)} ms`)
  delays.reset()
  console.table(rowsOf(node))
}

await Promise.all([node.stop(), peer.stop()])

/** Connections with another muxer have no streams here */
function rowsOf (node: Libp2p): object[] {
  return snapshotNode(node).connections.flatMap(({ peer, streams = [] }) => streams.map(stream => ({
    peer: peer?.slice(-6),
    protocol: stream.protocol,
    'waits for': stream.waitsFor,
    lane: stream.priority,
    'waiting, ms': stream.waitingMs && Math.round(stream.waitingMs),
    'quiet, ms': Math.round(stream.quietMs),
    'queued, bytes': stream.queuedBytes,
    'unread, bytes': stream.unreadBytes
  })))
}

async function createNode (): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()]
  })
}
