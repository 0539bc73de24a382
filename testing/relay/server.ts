// What a relay does with connections: each goes on to the target, over a link of its own in both directions.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { carry } from './link.ts'
import type { AddressInfo, Server, Socket } from 'node:net'
import type { RelayedLink } from './link.ts'

export interface RelayHandler {
  /** A chunk left, so much later than the link would have it */
  onReleased(lateMs: number): void
  /** `inbound` is that of who has dialled */
  onConnection?(inbound: Socket, outbound: Socket): void
}

function createRelay (targetPort: number, there: RelayedLink, handler: RelayHandler, back: RelayedLink): Server {
  const options = { allowHalfOpen: true, noDelay: true }

  return createServer(options, inbound => {
    const outbound = connect({ ...options, host: '127.0.0.1', port: targetPort })

    carry(inbound, outbound, there, handler.onReleased)
    carry(outbound, inbound, back, handler.onReleased)
    handler.onConnection?.(inbound, outbound)
  })
}

/** Returns the port whose connections go on to the target, and what listens there. The way back is the same unless told otherwise. */
export async function relayTo (targetPort: number, there: RelayedLink, handler: RelayHandler, back = there): Promise<{ port: number, server: Server }> {
  const server = createRelay(targetPort, there, handler, back)

  server.listen(0, '127.0.0.1')
  await once(server, 'listening')

  return { port: (server.address() as AddressInfo).port, server }
}

/** The same from a Unix socket, for which kernels buffer some 200 KB where they have 4 MB and more for TCP on the loopback interface */
export async function relayFrom (path: string, targetPort: number, link: RelayedLink, handler: RelayHandler): Promise<void> {
  const server = createRelay(targetPort, link, handler, link)

  server.listen(path)
  await once(server, 'listening')
}
