/**
 * A libp2p node of a browser, in a page or a worker, that dials and exchanges bytes.
 */
import { noise } from '@chainsafe/libp2p-noise'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from '../../../src/index.ts'
import { ECHO, exchange, PATIENCE } from '../../../testing/browser/transfer.ts'

export interface Task {
  address: string
  streamCount: number
  bytesPerStream: number
}

export async function dialAndExchange ({ address, streamCount, bytesPerStream }: Task): Promise<void> {
  const node = await createLibp2p({
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionManager: PATIENCE,
    // browsers refuse to dial local peers otherwise
    connectionGater: { denyDialMultiaddr: () => false }
  })

  try {
    const connection = await node.dial(multiaddr(address))
    await exchange(async () => connection.newStream(ECHO, { maxOutboundStreams: streamCount }), streamCount, bytesPerStream)
  } finally {
    await node.stop()
  }
}
