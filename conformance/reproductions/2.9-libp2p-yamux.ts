// The data of a frame with FIN comes after the end of the stream. Also with @chainsafe/libp2p-yamux: change the import.
// node conformance/reproductions/2.9-libp2p-yamux.ts
import { multiaddrConnectionPair } from '@libp2p/utils'
import { yamux } from '@libp2p/yamux'

const [client, server] = multiaddrConnectionPair()
const muxer = yamux()().createStreamMuxer(server)

muxer.addEventListener('stream', async ({ detail: stream }) => {
  let receivedBytes = 0

  for await (const bytes of stream) {
    receivedBytes += bytes.byteLength
  }

  console.info('expected 3 bytes, received', receivedBytes) // 0
})
client.send(Uint8Array.of(0, 1, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0)) // WINDOW_UPDATE SYN stream 1
client.send(Uint8Array.of(0, 0, 0, 4, 0, 0, 0, 1, 0, 0, 0, 3, 7, 8, 9)) // DATA FIN stream 1, 3 bytes
