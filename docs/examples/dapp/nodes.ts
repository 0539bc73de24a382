// What the page talks to: a relay that anybody reaches through WebSockets, and a node that nobody reaches but through it.
import { noise } from '@chainsafe/libp2p-noise'
import { circuitRelayServer, circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { ECHO } from './protocol.ts'
import type { Stream } from '@libp2p/interface'

const relay = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0/ws'] },
  transports: [webSockets()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify(), relay: circuitRelayServer() }
})

const hidden = await createLibp2p({
  // no port of its own: it keeps a connection to the relay, as behind a router at home
  addresses: { listen: [`${relay.getMultiaddrs()[0]}/p2p-circuit`] },
  transports: [webSockets(), circuitRelayTransport()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  services: { identify: identify() }
})

for (const node of [relay, hidden]) {
  // relays limit what a connection may carry, so each protocol has to say that this is enough for it
  await node.handle(ECHO, echo, { runOnLimitedConnection: true })
}

const page = 'http://localhost:5173/'
console.log(`Through WebSockets:  ${page}#${relay.getMultiaddrs()[0]}`)
console.log(`Through the relay:   ${page}#${hidden.getMultiaddrs()[0]}`)

async function echo (stream: Stream): Promise<void> {
  for await (const bytes of stream) {
    if (!stream.send(bytes)) {
      await stream.onDrain()
    }
  }

  await stream.close()
}
