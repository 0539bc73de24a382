// The fast side.
//
//   npm run example docs/examples/pushable/writer.ts <address>
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { exchange, PROTOCOL } from './protocol.ts'

const [address] = process.argv.slice(2)

const node = await createLibp2p({
  transports: [tcp()],
  connectionEncrypters: [noise()],
  streamMuxers: [yamux()]
})

try {
  console.log(await exchange(await node.dialProtocol(multiaddr(address), PROTOCOL)))
} catch (err: any) {
  console.error(`Not all came back: ${err.message}`)
  process.exitCode = 1
}

await node.stop()
