// Uploads to two peers at once: what arrives without a limit, and with one of 1 MB/s for all connections of the node.
//
//   npm run example docs/examples/upload-limit/start.ts
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { uploadLimit } from 'libp2p-coalescing-yamux/path-control'
import type { Libp2p, Stream } from '@libp2p/interface'
import type { YamuxMuxerInit } from 'libp2p-coalescing-yamux'

const PROTOCOL = '/example/upload/1'
const UPLOAD_BYTES = 2_000_000
const LIMIT = { bytesPerS: 1_000_000 }

// one limit for one node: whoever calls uploadLimit decides what shares it
const peers = await Promise.all([createPeer(), createPeer()])
const without = await measure({})
const limited = await measure({ pathControl: uploadLimit(LIMIT) })

console.table({ 'without a limit': without, 'with 1 MB/s': limited })
await Promise.all(peers.map(async peer => peer.stop()))

async function measure (options: YamuxMuxerInit): Promise<object> {
  const node = await createNode(options)
  const streams = await Promise.all(peers.map(async peer => node.dialProtocol(peer.getMultiaddrs(), PROTOCOL)))
  const beganMs = performance.now()
  const counts = await Promise.all(streams.map(upload))
  const seconds = (performance.now() - beganMs) / 1000
  await node.stop()

  return {
    'arrived, bytes': counts.join(' + '),
    'took, s': Math.round(seconds * 10) / 10,
    'rate, MB/s': Math.round(counts.reduce((sum, count) => sum + count, 0) / seconds / 100_000) / 10
  }
}

/** Returns how many bytes the peer has read */
async function upload (stream: Stream): Promise<number> {
  const bytes = new Uint8Array(50_000)

  for (let sentBytes = 0; sentBytes < UPLOAD_BYTES; sentBytes += bytes.byteLength) {
    if (!stream.send(bytes)) {
      await stream.onDrain()
    }
  }

  await stream.close()
  let answer = ''

  for await (const chunk of stream) {
    answer += new TextDecoder().decode(chunk.subarray())
  }

  return Number(answer)
}

async function createPeer (): Promise<Libp2p> {
  const peer = await createNode()

  await peer.handle(PROTOCOL, async stream => {
    let count = 0

    for await (const bytes of stream) {
      count += bytes.byteLength
    }

    stream.send(new TextEncoder().encode(String(count)))
    await stream.close()
  })

  return peer
}

async function createNode (options: YamuxMuxerInit = {}): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux(options)]
  })
}
