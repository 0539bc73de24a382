// The parent's view of one measurement: two processes, both of them new, and a connection that nothing has passed but what opens its streams.
import { startChild } from '../../testing/programs/child.ts'
import type { MuxerName } from '../contestants.ts'
import type { PeerCommands } from './end-process.ts'
import type { BusyMetrics, BusyRow } from './workload.ts'

export interface Session {
  measure(): Promise<BusyMetrics>
  stop(): Promise<void>
}

const peer = new URL('./end-process.ts', import.meta.url)

export function startSession (muxer: MuxerName, row: BusyRow): Session {
  const children = ['busy process', 'sender'].map(title => startChild<PeerCommands>(peer, title))
  const [busy, sender] = children.map(({ commands }) => commands)

  async function exchange (): Promise<number> {
    const [fromMs, toMs] = await Promise.all([sender.send(), (row.answerBytes > 0 ? sender : busy).arrived()])
    // as its turn is over
    const turnEndsMs = await busy.turnEnds()

    return turnEndsMs.filter(endMs => endMs > fromMs && endMs <= toMs).length
  }

  return {
    async measure () {
      const [addresses] = await Promise.all([busy.start(muxer, row), sender.start(muxer, row)])
      await sender.dial(addresses)
      await sender.open()
      // while nobody is busy: each step of a negotiation would take a turn
      await busy.opened()
      await busy.startWork()

      const turns = await exchange()
      // the pace of a server's turns, and what the path carries, are known by then
      const laterTurns = row.answerBytes > 0 ? await exchange() : undefined
      await busy.stopWork()

      return { turns, ...laterTurns !== undefined && { laterTurns } }
    },

    async stop () {
      await Promise.all(children.map(async child => child.stop()))
    }
  }
}
