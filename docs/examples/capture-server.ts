// A node whose frames a page of this machine can watch as they come: the inspector of `npm run live`, under "Address of a node's capture".
//
//   npm run example docs/examples/capture-server.ts
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { tcp } from '@libp2p/tcp'
import { createLibp2p } from 'libp2p'
import { yamux } from 'libp2p-coalescing-yamux'
import { captureFrames } from 'libp2p-coalescing-yamux/capture'
import type { Libp2p } from '@libp2p/interface'
import type { AddressInfo } from 'node:net'

const { CAPTURE_PORT = '9465' } = process.env
/** Pages of other sites must not see with whom this node talks */
const LOCAL_PAGE = /^http:\/\/(localhost|127\.0\.0\.1)(:\d+)?$/
/** A page that no longer reads must not fill this program's memory */
const MOST_UNREAD_BYTES = 16_777_216

const node = await createNode()

const server = createServer(({ headers: { origin = '' } }, response) => {
  if (!LOCAL_PAGE.test(origin)) {
    response.writeHead(403).end()
    return
  }

  response.writeHead(200, { 'content-type': 'application/octet-stream', 'access-control-allow-origin': origin })
  const capture = captureFrames(node, {
    // the beginning of each payload names the protocols of new streams
    payloadBytes: 64,
    write (bytes) {
      if (!response.write(bytes) && response.writableLength > MOST_UNREAD_BYTES) {
        response.destroy()
      }
    }
  })
  response.on('close', () => { capture.stop() })
})

server.listen(Number(CAPTURE_PORT), '127.0.0.1', () => {
  console.log(`Capture at http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
})

// something to watch: a peer that answers messages, and begins to read each file a second late
const peer = await createNode()
await peer.handle('/example/chat/1', async stream => {
  for await (const message of stream) {
    stream.send(message)
  }

  await stream.close()
})
await peer.handle('/example/file/1', async stream => {
  stream.pause()
  await sleep(1000)
  stream.addEventListener('message', () => {})
  stream.addEventListener('remoteCloseWrite', () => { stream.close().catch(() => {}) })
  stream.resume()
})

let count = 0
let chat = await node.dialProtocol(peer.getMultiaddrs(), '/example/chat/1')

while (true) {
  await sleep(200)
  chat.send(new Uint8Array(100))

  // both begin anew every two seconds, so that a capture has their SYN, and with it their credit
  if (count++ % 10 === 0) {
    await chat.close()
    chat = await node.dialProtocol(peer.getMultiaddrs(), '/example/chat/1')
    const file = await node.dialProtocol(peer.getMultiaddrs(), '/example/file/1')
    file.send(new Uint8Array(2_000_000))
    file.close().catch(() => { /* it takes longer than libp2p allows for */ })
  }
}

async function createNode (): Promise<Libp2p> {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()]
  })
}
