// Connections between two threads of a process: each is a pair of ports, handed over through the port that both begin with.
import { MessagePortStream } from '../../../testing/browser/message-port-stream.ts'
import type { Wire } from './bare.ts'
import type { MessageStreamDirection } from '@libp2p/interface'
import type { MessagePort as NodePort } from 'node:worker_threads'

/** What a socket reads at once: a port would hand over whatever it is sent as one piece */
const CHUNK_BYTES = 65_536

function streamOver (port: MessagePort, direction: MessageStreamDirection): MessagePortStream {
  const stream = new MessagePortStream(port, direction)
  stream.maxMessageSize = CHUNK_BYTES

  return stream
}

export function portWire (between: NodePort): Wire {
  return {
    async listen (onConnection) {
      between.on('message', (port: MessagePort) => { onConnection(streamOver(port, 'inbound')) })

      return []
    },

    async dial () {
      const { port1, port2 } = new MessageChannel()
      between.postMessage(port2, [port2 as unknown as NodePort])

      return streamOver(port1, 'outbound')
    }
  }
}
