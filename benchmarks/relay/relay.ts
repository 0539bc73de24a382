// A child process: relays TCP connections on the loopback interface over links that it imitates.
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { answer } from '../child.ts'
import { carry } from './link.ts'
import type { AddressInfo, Server } from 'node:net'
import type { RelayedLink } from './link.ts'

let latenessMs: number[] = []

function noteLateness (lateMs: number): void {
  latenessMs.push(lateMs)
}

function createRelay (targetPort: number, link: RelayedLink): Server {
  const options = { allowHalfOpen: true, noDelay: true }

  return createServer(options, inbound => {
    const outbound = connect({ ...options, host: '127.0.0.1', port: targetPort })

    carry(inbound, outbound, link, noteLateness)
    carry(outbound, inbound, link, noteLateness)
  })
}

const commands = {
  /** Returns the port whose connections go on to the target, each over a link of its own */
  async relayTo (targetPort: number, link: RelayedLink): Promise<number> {
    const server = createRelay(targetPort, link)

    server.listen(0, '127.0.0.1')
    await once(server, 'listening')

    return (server.address() as AddressInfo).port
  },

  /** The same from a Unix socket, for which kernels buffer some 200 KB where they have 4 MB and more for TCP on the loopback interface */
  async relayFrom (path: string, targetPort: number, link: RelayedLink): Promise<void> {
    const server = createRelay(targetPort, link)

    server.listen(path)
    await once(server, 'listening')
  },

  /** How late each chunk since the last call left, beyond the delay and the rate of the link */
  takeLateness (): Float64Array {
    const taken = Float64Array.from(latenessMs)
    latenessMs = []

    return taken
  }
}

export type RelayCommands = typeof commands

answer(commands)
