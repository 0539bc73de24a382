// A node whose metrics go into a registry of Prometheus, and whose wire can be had.
import { prometheusMetrics } from '@libp2p/prometheus-metrics'
import { yamux } from '../../src/index.ts'
import { createNode } from '../../testing/libp2p/node.ts'
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

export async function createMeasuredNode ({ registry, muxer, onWire }: NodeInit): Promise<Libp2p> {
  return createNode('ours', {
    streamMuxers: [components => {
      const factory = yamux(muxer)(components)
      const createStreamMuxer: StreamMuxerFactory['createStreamMuxer'] = wire => {
        onWire?.(wire)

        return factory.createStreamMuxer(wire)
      }

      return { protocol: factory.protocol, createStreamMuxer }
    }],
    metrics: registry && prometheusMetrics({ registry, collectDefaultMetrics: false })
  })
}
