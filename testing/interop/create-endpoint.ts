// An end of a connection, by what it runs over.
import { createLibp2pEndpoint } from './libp2p.ts'
import { createPlainTcpEndpoint } from './plain-tcp.ts'
import type { Endpoint, EndpointInit } from './endpoint.ts'

export async function createEndpoint (over: 'plain' | 'tcp' | 'ws', init: EndpointInit): Promise<Endpoint> {
  return over === 'plain' ? createPlainTcpEndpoint(init) : createLibp2pEndpoint(over, init)
}
