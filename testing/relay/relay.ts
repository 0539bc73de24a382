// A child process: relays TCP connections on the loopback interface over links that it imitates.
import { answer } from '../programs/child.ts'
import { relayFrom, relayTo } from './server.ts'
import type { RelayedLink } from './link.ts'

let latenessMs: number[] = []

function onReleased (lateMs: number): void {
  latenessMs.push(lateMs)
}

const commands = {
  /** Returns the port whose connections go on to the target, each over a link of its own; the way back is the same unless told otherwise */
  async relayTo (targetPort: number, there: RelayedLink, back = there): Promise<number> {
    const { port } = await relayTo(targetPort, there, { onReleased }, back)

    return port
  },

  /** The same from a Unix socket */
  async relayFrom (path: string, targetPort: number, link: RelayedLink): Promise<void> {
    await relayFrom(path, targetPort, link, { onReleased })
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
