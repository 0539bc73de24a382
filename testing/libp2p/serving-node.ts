// A node that serves: one of the muxers, with room for a thousand streams, and all handlers of these tests.
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { HANDLERS, PROTOCOLS } from './handlers.ts'
import { muxers } from '../muxers.ts'
import { createNode } from './node.ts'
import type { ProtocolName } from './handlers.ts'
import type { MuxerName } from '../muxers.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { Identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'

/** Room for 1,000 streams of the test beside those of libp2p's own services */
export const MAX_STREAMS = 2_000
/** A thousand negotiations at once on a busy machine take longer than the default of 10 s allows for */
const NEGOTIATION_TIMEOUT_MS = 30_000

export interface TestNode {
  libp2p: Libp2p<{ identify: Identify, ping: Ping }>
}

export async function createServingNode (muxer: MuxerName, init: YamuxMuxerInit = {}): Promise<TestNode> {
  const libp2p = await createNode(muxer, {
    streamMuxers: [await muxers[muxer]({ maxInboundStreams: MAX_STREAMS, maxOutboundStreams: MAX_STREAMS, ...init })],
    connectionManager: {
      inboundStreamProtocolNegotiationTimeout: NEGOTIATION_TIMEOUT_MS,
      outboundStreamProtocolNegotiationTimeout: NEGOTIATION_TIMEOUT_MS
    },
    services: { identify: identify(), ping: ping() }
  })

  for (const name of Object.keys(PROTOCOLS) as ProtocolName[]) {
    await libp2p.handle(PROTOCOLS[name], HANDLERS[name], {
      maxInboundStreams: MAX_STREAMS,
      maxOutboundStreams: MAX_STREAMS
    })
  }

  return { libp2p }
}
