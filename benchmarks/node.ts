// The libp2p node that every process of a benchmark runs.
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { countedNoise } from './pair/counters.ts'
import type { ServiceMap, StreamMuxerFactory } from '@libp2p/interface'
import type { Libp2p, Libp2pOptions } from 'libp2p'

/** Idle pairs wait for their turn, and handshakes on a busy machine for a core, longer than TCP and libp2p would let them */
const PATIENCE_MS = 3_600_000

/** The transport of all benchmarks over TCP, with or without libp2p around it */
export const createTcp = (): ReturnType<typeof tcp> => tcp({
  inboundSocketInactivityTimeout: PATIENCE_MS,
  outboundSocketInactivityTimeout: PATIENCE_MS
})

/** libp2p would let a host dial five times a second, and end what takes 10 seconds */
export const manyConnections: Libp2pOptions = {
  connectionManager: {
    inboundConnectionThreshold: Infinity,
    maxConnections: Infinity,
    maxIncomingPendingConnections: Infinity,
    dialTimeout: PATIENCE_MS,
    addressDialTimeout: PATIENCE_MS,
    inboundUpgradeTimeout: PATIENCE_MS
  }
}

/** What all benchmarks have in common, `init` comes on top of it */
export function nodeOptions<Services extends ServiceMap> (createMuxer: () => StreamMuxerFactory, init: Libp2pOptions<Services> = {}): Libp2pOptions<Services> {
  return {
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [createTcp()],
    connectionEncrypters: [countedNoise()],
    streamMuxers: [createMuxer],
    connectionMonitor: { enabled: false },
    ...init
  }
}

export async function createNodeWith<Services extends ServiceMap> (createMuxer: () => StreamMuxerFactory, init?: Libp2pOptions<Services>): Promise<Libp2p<Services>> {
  return createLibp2p(nodeOptions(createMuxer, init))
}
