// The parent's view of one muxer's two processes, with the link between them.
import { startChild } from '../../harness/child.ts'
import { atPort, portOf } from '../../relay/address.ts'
import { countWriteCalls } from './strace.ts'
import { INTERVAL_MS, LINK, STRACE_MS, WARM_UP_MS } from './workload.ts'
import type { Child } from '../../harness/child.ts'
import type { MuxerName } from '../../muxers.ts'
import type { SendTimes } from './paced.ts'
import type { PeerCommands, Usage } from './peer.ts'
import type { RelayCommands } from '../../relay/relay.ts'

export interface Measured extends SendTimes {
  arrivedAtMs: Float64Array
  senderUsage: Usage
  receiverUsage: Usage
  /** Beyond the delay and the rate of the link, one entry for each chunk that the relay passed on */
  relayLateMs: Float64Array
  /** Calls of write and writev by the sender, missing where strace is */
  writeCallsPerS?: number
}

export interface Session {
  muxer: MuxerName
  /** Resolves when both processes run and are connected */
  ready: Promise<void>
  measure(): Promise<Measured>
  stop(): Promise<void>
}

/** Of a command beyond the time that it takes by design */
const MARGIN_MS = 30_000

const peer = new URL('peer.ts', import.meta.url)

export function startSession (muxer: MuxerName, relay: Child<RelayCommands>, windowMs: number): Session {
  const options = { timeoutMs: windowMs + MARGIN_MS }
  const sender = startChild<PeerCommands>(peer, `sender of ${muxer}`, options)
  const receiver = startChild<PeerCommands>(peer, `receiver of ${muxer}`, options)

  async function connect (): Promise<void> {
    const [address] = await Promise.all([receiver.commands.start(muxer), sender.commands.start(muxer)])
    const relayPort = await relay.commands.relayTo(portOf(address), LINK)

    await sender.commands.dial(atPort(address, relayPort))
  }

  async function transfer (durationMs: number): Promise<SendTimes & { arrivedAtMs: Float64Array }> {
    const messagesPerStream = durationMs / INTERVAL_MS

    await receiver.commands.expect(messagesPerStream)
    const [arrivedAtMs, times] = await Promise.all([receiver.commands.arrived(), sender.commands.send(messagesPerStream)])

    return { ...times, arrivedAtMs }
  }

  /** In a time of its own, because strace slows the sender down */
  async function countedWriteCallsPerS (): Promise<number | undefined> {
    const takeCount = await countWriteCalls(sender.pid)

    if (takeCount == null) {
      return undefined
    }

    await transfer(STRACE_MS)

    return await takeCount() / STRACE_MS * 1000
  }

  return {
    muxer,
    ready: connect(),

    async measure () {
      try {
        await receiver.commands.accept()
        await sender.commands.open()
        await transfer(WARM_UP_MS)

        await Promise.all([sender.commands.startCounting(), receiver.commands.startCounting(), relay.commands.takeLateness()])
        const times = await transfer(windowMs)
        const [senderUsage, receiverUsage, relayLateMs] = await Promise.all([
          sender.commands.usage(),
          receiver.commands.usage(),
          relay.commands.takeLateness()
        ])

        const writeCallsPerS = await countedWriteCallsPerS()

        await sender.commands.close()
        await receiver.commands.unaccept()

        return { ...times, senderUsage, receiverUsage, relayLateMs, writeCallsPerS }
      } catch (err) {
        throw new Error(`${muxer}: ${err instanceof Error ? err.message : String(err)}`, { cause: err })
      }
    },

    async stop () {
      await Promise.all([sender.stop(), receiver.stop()])
    }
  }
}
