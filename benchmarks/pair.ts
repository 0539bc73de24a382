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
  /** A little of the row's work, not measured */
  warmUp(row: Row): Promise<void>
  measure(row: Row, atLeastMs: number): Promise<Measured>
  stop(): Promise<void>
}

/**
 * The row's own work comes before what is measured, on both sides of every comparison: the first third of a second
 * after another row is up to a fifth slower, while the heap takes on the shape that this one needs.
 */
const LEAD_IN_MS = 100

const peer = new URL('peer.ts', import.meta.url)

/** `nodeOptions` are for both processes, as `--trace-gc` */
export function startPair (muxer: MuxerName, nodeOptions: string[] = []): Pair {
  const sender = startChild<PeerCommands>(peer, `sender of ${muxer}`, { execArgv: nodeOptions })
  const receiver = startChild<PeerCommands>(peer, `receiver of ${muxer}`, { execArgv: nodeOptions })

  async function connect (): Promise<void> {
    const [addresses] = await Promise.all([receiver.commands.start(muxer), sender.commands.start(muxer)])
    await sender.commands.dial(addresses)
  }

  async function runOnOpenStreams<Result> (row: Row, work: () => Promise<Result>): Promise<Result> {
    try {
      await receiver.commands.receive(row.id)
      await sender.commands.open(row.id)
      await sender.commands.send(LEAD_IN_MS)

      const result = await work()

      await sender.commands.close()
      await receiver.commands.close()

      return result
    } catch (err) {
      throw new Error(`${muxer}, ${row.label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
    }
  }

  return {
    muxer,
    ready: connect(),

    async warmUp (row) {
      await runOnOpenStreams(row, async () => {})
    },

    async measure (row, atLeastMs) {
      return runOnOpenStreams(row, async () => {
        await receiver.commands.startCounting()
        const sent = await sender.commands.send(atLeastMs)
        const receiverSpent = await receiver.commands.spent()

        return { sent, receiverSpent }
      })
    },

    async stop () {
      await Promise.all([sender.stop(), receiver.stop()])
    }
  }
}
