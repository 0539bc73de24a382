// The parent's view of one muxer's two processes: a sender and a receiver.
import { startChild } from './child.ts'
import type { Spent } from './counters.ts'
import type { MuxerName } from './muxers.ts'
import type { PeerCommands, Sent } from './peer.ts'
import type { Row } from './rows.ts'

export interface Measured {
  sent: Sent
  receiverSpent: Spent
}

export interface Pair {
  muxer: MuxerName
  /** Resolves when both processes run and are connected */
  ready: Promise<void>
  measure(row: Row, atLeastMs: number): Promise<Measured>
  stop(): Promise<void>
}

const peer = new URL('peer.ts', import.meta.url)

/** `nodeOptions` are for both processes, as `--trace-gc` */
export function startPair (muxer: MuxerName, nodeOptions: string[] = []): Pair {
  const sender = startChild<PeerCommands>(peer, `sender of ${muxer}`, { execArgv: nodeOptions })
  const receiver = startChild<PeerCommands>(peer, `receiver of ${muxer}`, { execArgv: nodeOptions })

  async function connect (): Promise<void> {
    const [addresses] = await Promise.all([receiver.commands.start(muxer), sender.commands.start(muxer)])
    await sender.commands.dial(addresses)
  }

  return {
    muxer,
    ready: connect(),

    async measure (row, atLeastMs) {
      try {
        await receiver.commands.receive(row.id)
        await sender.commands.open(row.id)

        await receiver.commands.startCounting()
        const sent = await sender.commands.send(atLeastMs)
        const receiverSpent = await receiver.commands.spent()

        await sender.commands.close()
        await receiver.commands.close()

        return { sent, receiverSpent }
      } catch (err) {
        throw new Error(`${muxer}, ${row.label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([sender.stop(), receiver.stop()])
    }
  }
}
