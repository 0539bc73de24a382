// What a libp2p node needs to know of its transport: which, and where it listens.
import { webSockets } from '@libp2p/websockets'
import { streamLimits } from '../../muxers.ts'
import type { ContestantMuxer, TransportName } from '../../contestants.ts'
import type { Libp2pOptions } from 'libp2p'

const LOOPBACK = '127.0.0.1'

export async function transportInit (muxer: ContestantMuxer, transport: TransportName, host = LOOPBACK): Promise<Libp2pOptions> {
  if (muxer === 'quic') {
    const { quic } = await import('../../quic/index.js')

    return { addresses: { listen: [`/ip4/${host}/udp/0/quic-v1`] }, transports: [quic({ maxConcurrentStreamLimit: streamLimits.maxInboundStreams })], connectionEncrypters: [], streamMuxers: [] }
  }

  if (transport === 'ws-noise') {
    return { addresses: { listen: [`/ip4/${host}/tcp/0/ws`] }, transports: [webSockets()] }
  }

  return { addresses: { listen: [`/ip4/${host}/tcp/0`] } }
}
