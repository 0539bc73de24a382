// A chat of two terminals: each line that one types, the other sees. Ctrl-D leaves.
//
//   npm run example docs/examples/chat.ts             waits for somebody, and prints where
//   npm run example docs/examples/chat.ts <address>   goes there
import { createInterface } from 'node:readline'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { lpStream } from '@libp2p/utils'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import type { Stream } from '@libp2p/interface'

const PROTOCOL = '/example/chat/1'
const [address] = process.argv.slice(2)

const node = await createLibp2p({
  addresses: { listen: address == null ? ['/ip4/127.0.0.1/tcp/0'] : [] },
  transports: [tcp()],
  connectionEncrypters: [noise()],
  // what somebody types should not wait for other streams of the connection
  streamMuxers: [yamux({ priority: { [PROTOCOL]: 'urgent' } })]
})

const stream = address == null ? await accept() : await node.dialProtocol(multiaddr(address), PROTOCOL)
// a stream is bytes, so each line has its length in front
const lines = lpStream(stream)
const keyboard = createInterface({ input: process.stdin })

console.log('Connected. Type something.')
const otherLeaves = showWhatComes()

for await (const line of keyboard) {
  await lines.write(new TextEncoder().encode(line))
}

await stream.close()
// a node that stops cuts its connections, and the other loses what it has not read yet. So wait until it leaves as well
await otherLeaves
await node.stop()

async function accept (): Promise<Stream> {
  const { promise: accepted, resolve } = Promise.withResolvers<Stream>()
  await node.handle(PROTOCOL, resolve)
  console.log(`Waiting at ${node.getMultiaddrs()[0]}`)
  await accepted
  // whoever comes third is told that nobody chats here
  await node.unhandle(PROTOCOL)

  return accepted
}

async function showWhatComes (): Promise<void> {
  try {
    while (true) {
      const line = await lines.read()
      console.log(`> ${new TextDecoder().decode(line.subarray())}`)
    }
  } catch (err: any) {
    console.log(err.name === 'UnexpectedEOFError' ? 'The other has left.' : `The other is gone: ${err.message}`)
    // ends the loop above
    keyboard.close()
  }
}
