// Connections of a page by transport and muxer, each of which stays open once it was used.
import { noise } from '@chainsafe/libp2p-noise'
import { webSockets } from '@libp2p/websockets'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { MessagePortStream } from '../../testing/browser/message-port-stream.ts'
import { muxers } from '../muxers.ts'
import { SINK } from './messages.ts'
import type { MuxerName } from '../contestants.ts'
import type { Stream } from '@libp2p/interface'

export type Open = () => Promise<Stream>

/** To a worker of this page */
export async function connectToWorker (name: MuxerName): Promise<Open> {
  const worker = new Worker(new URL('./sink-worker.ts', import.meta.url), { type: 'module' })
  const { port1, port2 } = new MessageChannel()
  worker.postMessage({ port: port2, name }, [port2])
  const createMuxer = await muxers[name]()
  const muxer = createMuxer().createStreamMuxer(new MessagePortStream(port1, 'outbound'))

  return async () => muxer.createStream()
}

/** Over a WebSocket and Noise to a process */
export async function connectToProcess (name: MuxerName, address: string): Promise<Open> {
  const node = await createLibp2p({
    transports: [webSockets()],
    connectionEncrypters: [noise()],
    streamMuxers: [await muxers[name]()],
    // browsers refuse to dial local peers otherwise
    connectionGater: { denyDialMultiaddr: () => false }
  })
  const connection = await node.dial(multiaddr(address))

  return async () => connection.newStream(SINK)
}
