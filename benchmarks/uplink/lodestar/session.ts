// The parent's view of one measurement: a line, the node at its one end and all peers at the other, all of it new.
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../../harness/child.ts'
import { nowMs } from '../../clock.ts'
import { layLine } from '../line.ts'
import { WARM_UP_MS } from '../workload.ts'
import { MBIT, SUBSCRIBERS } from './workload.ts'
import type { Window } from '../workload.ts'
import type { NodeCommands } from './node-process.ts'
import type { Gossiped, PeersCommands } from './peers-process.ts'
import type { Contestant, Work } from './workload.ts'

export interface Measured extends Gossiped {
  lateMs: Float64Array
  bulkBytes: number
  /** What waited in front of the line, looked at now and then */
  queuedBytes: number[]
}

export interface Session {
  measure (): Promise<Measured>
  stop (): Promise<void>
}

const COMMAND_TIMEOUT_MS = 120_000
const LOOK_EVERY_MS = 200
const [NODE_END, PEERS_END] = [0, 1]

export function startSession ({ muxer, label }: Contestant, { hasModem, peersMuxer = muxer, measuredMs }: Work): Session {
  const line = layLine(MBIT, hasModem)
  const start = <Commands extends object>(name: string, end: number): ReturnType<typeof startChild<Commands>> => {
    const [execPath, ...args] = line.commands[end]

    return startChild<Commands>(new URL(`${name}-process.ts`, import.meta.url), name, { execPath, execArgv: [...args, process.execPath], timeoutMs: COMMAND_TIMEOUT_MS })
  }
  const node = start<NodeCommands>('node', NODE_END)
  const peers = start<PeersCommands>('peers', PEERS_END)

  async function watchLine ({ fromMs, toMs }: Window): Promise<number[]> {
    const queuedBytes: number[] = []

    await sleep(fromMs - nowMs())

    while (nowMs() < toMs) {
      queuedBytes.push(line.queuedBytes(NODE_END))
      await sleep(LOOK_EVERY_MS)
    }

    return queuedBytes
  }

  return {
    async measure () {
      try {
        await peers.commands.start(peersMuxer, line.addresses[PEERS_END], await node.commands.start(muxer, line.addresses[NODE_END]))
        await node.commands.untilMeshesAreWhole()

        const fromMs = nowMs() + WARM_UP_MS
        const window = { fromMs, toMs: fromMs + measuredMs }
        const [{ messages, lateMs }, bulkBytes, queuedBytes] = await Promise.all([
          node.commands.publish(window),
          peers.commands.askForBlocks(window),
          watchLine(window)
        ])

        return { lateMs, bulkBytes, queuedBytes, ...await peers.commands.gossiped(messages * SUBSCRIBERS, window) }
      } catch (err) {
        throw new Error(`${label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([node.stop(), peers.stop()])
      line.remove()
    }
  }
}
