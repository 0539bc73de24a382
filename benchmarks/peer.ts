// A child process: one libp2p node that runs halves of scenarios on command.
import { multiaddr } from '@multiformats/multiaddr'
import { answer } from './child.ts'
import { countSocketWrites, startCounting } from './counters.ts'
import { streamLimits } from './muxers.ts'
import { createNode } from './node.ts'
import { findRow } from './rows.ts'
import { scenarios } from './scenarios/index.ts'
import { streamOpener } from './scenarios/scenario.ts'
import type { Spent } from './counters.ts'
import type { MuxerName } from './muxers.ts'
import type { ReceiverHalf, SenderHalf } from './scenarios/scenario.ts'
import type { Connection } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

export interface Sent {
  units: number
  durationMs: number
  latenciesMs: number[]
  spent: Spent
}

const protocol = '/benchmark/1.0.0'

let node: Libp2p
let connection: Connection
let senderHalf: SenderHalf | undefined
let receiverHalf: ReceiverHalf | undefined
let spentSince: () => Spent

const commands = {
  /** Returns the addresses to dial */
  async start (muxer: MuxerName): Promise<string[]> {
    countSocketWrites()
    node = await createNode(muxer)

    return node.getMultiaddrs().map(String)
  },

  async dial (addresses: string[]): Promise<void> {
    connection = await node.dial(addresses.map(address => multiaddr(address)))
  },

  async receive (rowId: string): Promise<void> {
    const row = findRow(rowId)
    const half = scenarios[row.scenario].receive(row)

    receiverHalf = half
    await node.handle(protocol, stream => { half.onStream(stream) }, streamLimits)
  },

  async open (rowId: string): Promise<void> {
    const row = findRow(rowId)
    const openStream = streamOpener(connection, protocol, streamLimits.maxOutboundStreams)

    senderHalf = await scenarios[row.scenario].send(openStream, row)
  },

  /**
   * Does one unit of work, then without a break as many as fill this much time: to wait for the
   * confirmation of each would cost a fast muxer more than a slow one.
   */
  async send (atLeastMs: number): Promise<Sent> {
    if (senderHalf == null) {
      throw new Error('Nothing is open to send on')
    }

    const requestsBefore = senderHalf.latenciesMs?.length
    const spentSince = startCounting()
    const startMs = performance.now()
    await senderHalf.work(1)
    const unitMs = performance.now() - startMs
    const moreUnits = Math.ceil(Math.max(0, atLeastMs - unitMs) / unitMs)

    if (moreUnits > 0) {
      await senderHalf.work(moreUnits)
    }

    const units = 1 + moreUnits
    const durationMs = performance.now() - startMs

    return { units, durationMs, latenciesMs: senderHalf.latenciesMs?.slice(requestsBefore) ?? [], spent: spentSince() }
  },

  startCounting (): void {
    spentSince = startCounting()
  },

  spent (): Spent {
    return spentSince()
  },

  async close (): Promise<void> {
    await senderHalf?.close()
    receiverHalf?.close()
    senderHalf = undefined
    receiverHalf = undefined
    await node.unhandle(protocol)
  }
}

export type PeerCommands = typeof commands

answer(commands)
