// The parent's view of one measurement: the processes at the ends of a line, all of them new.
import { setTimeout as sleep } from 'node:timers/promises'
import { startChild } from '../harness/child.ts'
import { nowMs } from '../clock.ts'
import type { Line } from './line.ts'
import type { PeerCommands, Urgent, Watched } from './peer.ts'
import type { Contestant, Work } from './workload.ts'

export interface Measured {
  urgent: Urgent[]
  senders: Watched[]
  receivers: Watched[]
}

export interface Session {
  measure(): Promise<Measured>
  stop(): Promise<void>
}

const COMMAND_TIMEOUT_MS = 120_000

const peer = new URL('peer.ts', import.meta.url)

export function startSession (contestant: Contestant, line: Line, { scenario, streams, measuredMs, warmUpMs }: Work, nodeOptions: string[] = []): Session {
  const start = (end: number): ReturnType<typeof startChild<PeerCommands>> => {
    const [execPath, ...execArgv] = [...line.commands[end], process.execPath, ...nodeOptions]

    return startChild<PeerCommands>(peer, end === 0 ? 'sender' : 'receiver', { execPath, execArgv, timeoutMs: COMMAND_TIMEOUT_MS })
  }
  const children = Array.from({ length: scenario === 'shared' ? 2 : 1 }, () => [start(0), start(1)])
  const pairs = children.map(([sender, receiver]) => ({ sender: sender.commands, receiver: receiver.commands }))
  const senders = pairs.map(({ sender }) => sender)
  const receivers = pairs.map(({ receiver }) => receiver)
  const saturating = scenario === 'both' ? [...senders, ...receivers] : senders

  async function connect (): Promise<void> {
    for (const { sender, receiver } of pairs) {
      const [addresses] = await Promise.all([receiver.start(contestant, line.addresses[1]), sender.start(contestant, line.addresses[0])])
      await sender.dial(await line.reach(addresses))
    }

    await Promise.all(saturating.map(async peer => peer.open(streams)))
  }

  async function halve (afterMs: number): Promise<void> {
    await sleep(afterMs)
    line.halve()
  }

  return {
    async measure () {
      try {
        await connect()
        await Promise.all(saturating.map(async peer => peer.startBulk()))

        if (scenario === 'pause') {
          await Promise.all(receivers.map(async peer => peer.startPausing()))
        }

        const leadInMs = warmUpMs + (scenario === 'halved' ? measuredMs / 2 : 0)
        const fromMs = nowMs() + leadInMs
        const window = { fromMs, toMs: fromMs + measuredMs }
        const [urgent, sent, received] = await Promise.all([
          Promise.all(senders.map(async peer => peer.sendUrgent(window))),
          Promise.all(senders.map(async peer => peer.watch(window))),
          Promise.all(receivers.map(async peer => peer.watch(window))),
          scenario === 'halved' && halve(leadInMs)
        ])

        return { urgent, senders: sent, receivers: received }
      } catch (err) {
        throw new Error(`${contestant.label}, ${line.label}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all(children.flat().map(async child => child.stop()))
      await line.remove()
    }
  }
}
