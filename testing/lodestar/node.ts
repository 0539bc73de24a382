// A libp2p node as Lodestar's beacon node makes it, except for QUIC, discovery and the muxers.
import { noise } from '@chainsafe/libp2p-noise'
import { identify } from '@libp2p/identify'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import type { GossipSubComponents } from '@libp2p/gossipsub'
import type { Identify } from '@libp2p/identify'
import type { ComponentLogger, StreamMuxerFactory, Transport } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'
import type { Registry } from 'prom-client'

export type LodestarLibp2p = Libp2p<{ identify: Identify, components: GossipSubComponents }>

export interface NodeInit {
  /** TCP by default. QUIC brings encryption and streams of its own. */
  createQuic?: () => (components: any) => Transport
  muxers: Array<() => StreamMuxerFactory>
  maxPeers: number
  /** Where it listens; its own machine by default */
  host?: string
  /** Without it there are no metrics, as of Lodestar unless it is asked for them */
  registry?: Registry
  logger?: ComponentLogger
}

const PENDING_CONNECTIONS = 5

export async function createNode ({ createQuic, muxers, maxPeers, host = '127.0.0.1', registry, logger }: NodeInit): Promise<LodestarLibp2p> {
  return createLibp2p({
    addresses: { listen: [createQuic == null ? `/ip4/${host}/tcp/0` : `/ip4/${host}/udp/0/quic-v1`], announce: [] },
    nodeInfo: { name: 'lodestar', version: '1.0.0', userAgent: 'lodestar/1.0.0' },
    connectionEncrypters: createQuic == null ? [noise()] : [],
    transports: [createQuic != null
      ? createQuic()
      : tcp({
        maxConnections: maxPeers,
        backlog: PENDING_CONNECTIONS,
        closeServerOnMaxConnections: { closeAbove: maxPeers, listenBelow: maxPeers }
      })],
    streamMuxers: muxers,
    metrics: registry == null ? undefined : prometheusMetrics({ collectDefaultMetrics: false, preserveExistingMetrics: true, registry }),
    connectionManager: {
      maxParallelDials: 100,
      maxPeerAddrsToDial: 4,
      dialTimeout: 30_000,
      maxIncomingPendingConnections: PENDING_CONNECTIONS,
      // not Lodestar's: here all peers have one address, which libp2p takes for one impatient dialler
      inboundConnectionThreshold: Infinity
    },
    connectionMonitor: { enabled: false },
    peerStore: { maxAddressAge: Infinity, maxPeerAge: Infinity },
    logger,
    services: {
      // Lodestar asks once it wants to keep the connection
      identify: identify({ runOnConnectionOpen: false }),
      components: (components: any): GossipSubComponents => ({
        peerId: components.peerId,
        privateKey: components.privateKey,
        logger: components.logger,
        peerStore: components.peerStore,
        registrar: components.registrar,
        connectionManager: components.connectionManager
      })
    }
  })
}
