// The fast side in a page.
import { noise } from '@chainsafe/libp2p-noise'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { exchange, PROTOCOL } from './protocol.ts'

const node = await createLibp2p({
  transports: [webSockets()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()],
  // browsers dial no private addresses otherwise, and here all are on one machine
  connectionGater: { denyDialMultiaddr: () => false }
})

const result = document.querySelector('output')

try {
  const address = multiaddr(decodeURIComponent(location.hash.slice(1)))
  show(await exchange(await node.dialProtocol(address, PROTOCOL)))
} catch (err: any) {
  show(`Not all came back: ${err.message}`)
}

function show (text: string): void {
  if (result != null) {
    result.textContent = text
  }
}
