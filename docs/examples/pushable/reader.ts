// The slow side: it reads 4 MiB a second and sends everything back.
//
//   npm run example docs/examples/pushable/reader.ts
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { webSockets } from '@libp2p/websockets'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { Outbox } from './outbox.ts'
import { PROTOCOL } from './protocol.ts'
import type { Stream } from '@libp2p/interface'

const BYTES_PER_MS = 4096

const node = await createLibp2p({
  addresses: { listen: ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0/ws'] },
  transports: [tcp(), webSockets()],
  connectionEncrypters: [noise()],
  // at most this much arrives unread. By default the window grows on long, fast paths
  streamMuxers: [yamux({ streamOptions: { maxStreamWindowSize: 262_144 } })]
})

await node.handle(PROTOCOL, async stream => {
  console.log('Somebody writes')

  try {
    await sendBack(stream)
    console.log('All is sent back')
  } catch (err: any) {
    console.error(`Not all is sent back: ${err.message}`)
    stream.abort(err)
  }
})

const [overTcp, overWebSockets] = node.getMultiaddrs()
console.log(`Waiting at ${overTcp}`)
console.log(`A page:    http://localhost:5173/#${overWebSockets}`)

async function sendBack (stream: Stream): Promise<void> {
  const outbox = new Outbox(stream)

  // the writer gets credit when the loop asks for the next bytes, so a slow loop holds it back
  for await (const bytes of stream) {
    await sleep(bytes.byteLength / BYTES_PER_MS)
    await outbox.push(bytes.subarray())
  }

  await outbox.end()
}
