/**
 * A capture with something to see: a node that uploads over 10 Mbit/s, while its peer, which has `@libp2p/yamux`, sends it a file.
 * Pongs and answers then wait behind that file; and one reader stops for a second, so that its stream has no credit.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { captureFrames } from '../src/capture.ts'
import { createNode } from '../testing/libp2p/node.ts'
import { drained } from '../testing/libp2p/streams.ts'
import { atPort, portOf } from '../testing/relay/address.ts'
import { relayTo } from '../testing/relay/server.ts'
import type { Stream } from '@libp2p/interface'

const LINK = { bytesPerMs: 1250, delayMs: 20, bufferBytes: 1_048_576, segmentBytes: 1460 }
const FILE_BYTES = 1_200_000
const MESSAGE_BYTES = 100
const MESSAGE_EVERY_MS = 100
const QUIET_MS = 800
const READER_STOPS_MS = 1000
const ENDS_AFTER_MS = 3000
/** The names of protocols are in it */
const PAYLOAD_BYTES = 64

export async function captureExample (): Promise<Uint8Array[]> {
  const pieces: Uint8Array[] = []
  const node = await createNode('ours')
  const peer = await createNode('stock')
  await peer.handle('/chat/1', stream => { stream.addEventListener('message', () => { stream.send(new Uint8Array(MESSAGE_BYTES)) }) })
  await peer.handle('/upload/1', stream => { stream.addEventListener('message', () => {}) })
  await peer.handle('/slow-reader/1', async stream => {
    stream.pause()
    await sleep(QUIET_MS + READER_STOPS_MS)
    stream.addEventListener('message', () => {})
    stream.resume()
  })
  await peer.handle('/download/1', async stream => {
    await sleep(QUIET_MS)
    stream.send(new Uint8Array(FILE_BYTES))
    await stream.close()
  })

  const address = peer.getMultiaddrs()[0].toString()
  const { port, server } = await relayTo(portOf(address), LINK, { onReleased: () => {} }, LINK)
  const capture = captureFrames(node, { write: bytes => pieces.push(bytes), payloadBytes: PAYLOAD_BYTES })
  const connection = await node.dial(multiaddr(atPort(address, port)))
  const chat = await connection.newStream('/chat/1')
  fill(await connection.newStream('/upload/1'))
  const slow = await connection.newStream('/slow-reader/1')
  slow.send(new Uint8Array(FILE_BYTES / 2))
  const download = await connection.newStream('/download/1')
  download.addEventListener('message', () => {})

  for (let ms = 0; ms < ENDS_AFTER_MS; ms += MESSAGE_EVERY_MS) {
    chat.send(new Uint8Array(MESSAGE_BYTES))
    await sleep(MESSAGE_EVERY_MS)
  }

  capture.stop()
  connection.abort(new Error('All is captured'))
  await Promise.all([node.stop(), peer.stop()])
  server.close()

  return pieces
}

async function fill (stream: Stream): Promise<void> {
  try {
    while (true) {
      if (!stream.send(new Uint8Array(65_536))) {
        await drained(stream)
      }
    }
  } catch {
    // the connection has ended
  }
}
