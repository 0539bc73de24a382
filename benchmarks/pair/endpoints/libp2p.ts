// An end that is a whole libp2p node: encryption, negotiation of the muxer and of each stream's protocol.
import { multiaddr } from '@multiformats/multiaddr'
import { streamLimits } from '../../muxers.ts'
import { createNodeWith, manyConnections } from '../../node.ts'
import { createMuxer } from './muxer.ts'
import { transportInit } from './transport-init.ts'
import type { ContestantMuxer, TransportName } from '../../contestants.ts'
import type { Endpoint } from './endpoint.ts'
import type { Connection, StreamMuxerFactory } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

type CreateMuxer = () => StreamMuxerFactory

/** That of programs in `peers`, which may be at the other end */
const protocol = '/interop/1.0.0'

/** `wrap` gets between the muxer and libp2p */
export async function createLibp2pEndpoint (muxer: ContestantMuxer, transport: TransportName, host?: string, wrap = (create: CreateMuxer) => create): Promise<Endpoint> {
  const node: Libp2p = await createNodeWith(wrap(await createMuxer(muxer)), { ...await transportInit(muxer, transport, host), ...manyConnections })
  let addresses: string[] = []

  async function connection (): Promise<Connection> {
    if (muxer === 'none') {
      // one connection for every stream
      return node.dial(addresses.map(address => multiaddr(address)), { force: true })
    }

    return node.getConnections()[0]
  }

  return {
    countsWrites: muxer !== 'quic',

    async listen () {
      return node.getMultiaddrs().map(String)
    },

    async dial (remote) {
      addresses = remote

      if (muxer !== 'none') {
        await node.dial(addresses.map(address => multiaddr(address)))
      }
    },

    async handle (onStream) {
      await node.handle(protocol, onStream, streamLimits)
    },

    async unhandle () {
      await node.unhandle(protocol)
    },

    async openStream () {
      return (await connection()).newStream([protocol], { maxOutboundStreams: streamLimits.maxOutboundStreams })
    }
  }
}
