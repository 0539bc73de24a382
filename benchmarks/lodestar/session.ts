// The parent's view of one muxer's two processes: the node, and its peers.
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../harness/child.ts'
import { WARM_UP_MS } from './workload.ts'
import type { MuxerName } from '../muxers.ts'
import type { NodeCommands, Usage } from './node-process.ts'
import type { Done, PeersCommands } from './peers-process.ts'

export interface Measured extends Done {
  usage: Usage
}

export interface Session {
  muxer: MuxerName
  /** Resolves when all peers are connected, and what they do has been done for a while */
  start (): Promise<void>
  measure (durationMs: number, profilePath?: string): Promise<Measured>
  stop (): Promise<void>
}

const COMMAND_TIMEOUT_MS = 120_000
/** For the last messages to come */
const QUIET_MS = 300

export function startSession (muxer: MuxerName): Session {
  const options = { timeoutMs: COMMAND_TIMEOUT_MS }
  const node = startChild<NodeCommands>(new URL('node-process.ts', import.meta.url), `node of ${muxer}`, options)
  const peers = startChild<PeersCommands>(new URL('peers-process.ts', import.meta.url), `peers of ${muxer}`, options)

  return {
    muxer,

    async start () {
      await peers.commands.start(muxer, await node.commands.start(muxer))
      await peers.commands.load(WARM_UP_MS)
    },

    async measure (durationMs, profilePath) {
      try {
        await node.commands.startCounting(profilePath)
        const done = await peers.commands.load(durationMs)
        await sleep(QUIET_MS)
        const usage = await node.commands.usage()

        if (usage.received !== done.published) {
          throw new Error(`The node got ${usage.received} of ${done.published} messages`)
        }

        return { ...done, usage }
      } catch (err) {
        throw new Error(`${muxer}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([node.stop(), peers.stop()])
    }
  }
}
