// The end that a contestant needs.
import { createBareEndpoint } from './bare.ts'
import { createHttp2Endpoint } from './http2.ts'
import { createLibp2pEndpoint } from './libp2p.ts'
import { portWire } from './port-wire.ts'
import { tcpWire } from './tcp-wire.ts'
import type { Contestant } from '../../contestants.ts'
import type { Endpoint } from './endpoint.ts'
import type { MessagePort } from 'node:worker_threads'

/** `port` leads to the other end where both are threads of one process */
export async function createEndpoint ({ muxer, transport }: Contestant, port: MessagePort | null): Promise<Endpoint> {
  if (muxer === 'http2') {
    return createHttp2Endpoint(transport === 'tcp-noise')
  }

  if (transport === 'tcp') {
    return createBareEndpoint(muxer, tcpWire())
  }

  if (transport === 'memory') {
    if (port == null) {
      throw new Error('Without a port there is no other thread to connect to')
    }

    return createBareEndpoint(muxer, portWire(port))
  }

  return createLibp2pEndpoint(muxer, transport)
}
