// A dapp as its author writes it: connects to the peer that its address names, and shows how long a ping took.
import { noise } from '@chainsafe/libp2p-noise'
import { ping } from '@libp2p/ping'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'

try {
  const node = await createLibp2p({
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    services: { ping: ping() },
    connectionGater: { denyDialMultiaddr: () => false }
  })
  const connection = await node.dial(multiaddr(decodeURIComponent(globalThis.location.hash.slice(1))))
  const roundTripMs = await node.services.ping.ping(connection.remotePeer)

  document.body.textContent = `${connection.multiplexer}: ${roundTripMs} ms`
} catch (err) {
  document.body.textContent = String(err.stack)
}
