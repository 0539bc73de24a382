// A node whose metrics go into a registry of Prometheus, and whose wire can be had.
import { noise } from '@chainsafe/libp2p-noise'
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { yamux } from '../../src/index.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { Libp2p, MessageStream, StreamMuxerFactory } from '@libp2p/interface'
import type { Registry } from 'prom-client'

/** A header of a version that there is not */
export const NO_FRAME = new Uint8Array(12).fill(9)

interface NodeInit {
  /** None: it measures nothing */
  registry?: Registry
  muxer?: YamuxMuxerInit
  /** Gets what each connection is written to, below its muxer */
  onWire?(wire: MessageStream): void
}

export async function createNode ({ registry, muxer, onWire }: NodeInit): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [components => {
      const factory = yamux(muxer)(components)
      const createStreamMuxer: StreamMuxerFactory['createStreamMuxer'] = wire => {
        onWire?.(wire)

        return factory.createStreamMuxer(wire)
      }

      return { protocol: factory.protocol, createStreamMuxer }
    }],
    connectionMonitor: { enabled: false },
    metrics: registry && prometheusMetrics({ registry, collectDefaultMetrics: false })
  })
}
