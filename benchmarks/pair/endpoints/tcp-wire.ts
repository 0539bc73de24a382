// libp2p's own TCP transport, handed over where libp2p would agree on encryption and a muxer.
import { defaultLogger } from '@libp2p/logger'
import { multiaddr } from '@multiformats/multiaddr'
import { createTcp } from '../../node.ts'
import type { Wire } from './bare.ts'
import type { Connection, MultiaddrConnection, Upgrader } from '@libp2p/interface'

function upgraderTo (onConnection: (connection: MultiaddrConnection) => void): Upgrader {
  return {
    async upgradeOutbound (connection: MultiaddrConnection) {
      onConnection(connection)

      return undefined as unknown as Connection
    },
    async upgradeInbound (connection: MultiaddrConnection) { onConnection(connection) }
  } as unknown as Upgrader
}

export function tcpWire (): Wire {
  const transport = createTcp()({ logger: defaultLogger() })

  return {
    async listen (onConnection) {
      const listener = transport.createListener({ upgrader: upgraderTo(onConnection) })
      await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))

      return listener.getAddrs().map(String)
    },

    async dial ([address]) {
      const dialled = Promise.withResolvers<MultiaddrConnection>()
      await transport.dial(multiaddr(address), { upgrader: upgraderTo(dialled.resolve), signal: new AbortController().signal })

      return dialled.promise
    }
  }
}
