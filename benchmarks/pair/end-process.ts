// A child process, or a thread: one end of a connection that runs halves of scenarios on command.
import { workerData } from 'node:worker_threads'
import { answer } from '../../testing/programs/child.ts'
import { countSocketWrites, startCounting } from './counters.ts'
import { createEndpoint } from './endpoints/index.ts'
import { startObserving } from './runtime.ts'
import { scenarios } from './scenarios/index.ts'
import type { Contestant } from '../contestants.ts'
import type { Spent } from './counters.ts'
import type { Endpoint } from './endpoints/endpoint.ts'
import type { Row } from '../rows.ts'
import type { Runtime } from './runtime.ts'
import type { ReceiverHalf, SenderHalf } from './scenarios/scenario.ts'

/** What is not known is left out: native code writes to its sockets unseen */
export type PeerSpent = Partial<Spent & Runtime> & Pick<Spent, 'cpuMs'>

export interface Sent {
  units: number
  durationMs: number
  latenciesMs: number[]
  spent: PeerSpent
}

let endpoint: Endpoint
let senderHalf: SenderHalf | undefined
let receiverHalf: ReceiverHalf | undefined
let spentSince: () => PeerSpent

function countAndObserve (): () => PeerSpent {
  const observed = startObserving()
  const counted = startCounting()

  return () => {
    const { cpuMs, ...writes } = counted()

    return { cpuMs, ...endpoint.countsWrites && writes, ...observed() }
  }
}

const commands = {
  /** Returns the addresses to dial, if it is to listen */
  async start (contestant: Contestant, isListening: boolean): Promise<string[]> {
    countSocketWrites()
    endpoint = await createEndpoint(contestant, workerData)

    return isListening ? endpoint.listen() : []
  },

  async dial (addresses: string[]): Promise<void> {
    await endpoint.dial(addresses)
  },

  async receive (row: Row): Promise<void> {
    const half = scenarios[row.scenario].receive(row)

    receiverHalf = half
    await endpoint.handle(stream => { half.onStream(stream) })
  },

  async open (row: Row): Promise<void> {
    senderHalf = await scenarios[row.scenario].send(async () => endpoint.openStream(), row)
  },

  /**
   * Does one unit of work, then without a break as many as fill this much time: to wait for the
   * confirmation of each would cost a fast muxer more than a slow one.
   */
  async send (atLeastMs: number): Promise<Sent> {
    if (senderHalf == null) {
      throw new Error('Nothing is open to send on')
    }

    const { latenciesMs } = senderHalf
    const requestsBefore = latenciesMs?.length
    const spentSince = countAndObserve()
    const startMs = performance.now()
    await senderHalf.work(1)
    const unitMs = performance.now() - startMs
    const moreUnits = Math.ceil(Math.max(0, atLeastMs - unitMs) / unitMs)

    if (moreUnits > 0) {
      await senderHalf.work(moreUnits)
    }

    const units = 1 + moreUnits
    const durationMs = performance.now() - startMs

    return {
      units,
      durationMs,
      latenciesMs: latenciesMs?.slice(requestsBefore) ?? [],
      spent: spentSince()
    }
  },

  count (): void {
    spentSince = countAndObserve()
  },

  spent (): PeerSpent {
    return spentSince()
  },

  async close (): Promise<void> {
    await senderHalf?.close()
    receiverHalf?.close()
    senderHalf = undefined
    receiverHalf = undefined
    await endpoint.unhandle()
  }
}

export type PeerCommands = typeof commands

/** What a pair wants of either end, whatever it is written in */
export interface End {
  commands: { [Name in keyof PeerCommands]: (...args: Parameters<PeerCommands[Name]>) => Promise<Awaited<ReturnType<PeerCommands[Name]>>> }
  stop(): Promise<void>
}

answer(commands)
