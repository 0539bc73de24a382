// A child process: one libp2p node that sends or receives at the pace of the experiment on command.
import { multiaddr } from '@multiformats/multiaddr'
import { answer } from '../../harness/child.ts'
import { countSocketWrites, startCounting } from '../../counters.ts'
import { streamLimits } from '../../muxers.ts'
import { createNode } from '../../node.ts'
import { streamOpener } from '../../scenarios/scenario.ts'
import { pacedReceiver, pacedSender } from './paced.ts'
import type { Spent } from '../../counters.ts'
import type { MuxerName } from '../../muxers.ts'
import type { PacedReceiver, PacedSender, SendTimes } from './paced.ts'
import type { Connection } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

export interface Usage extends Spent {
  rssBytes: number
}

const protocol = '/experiment/1.0.0'

let node: Libp2p
let connection: Connection
let sender: PacedSender
let receiver: PacedReceiver
let spentSince: () => Spent

const commands = {
  /** Returns the address to dial */
  async start (muxer: MuxerName): Promise<string> {
    countSocketWrites()
    node = await createNode(muxer)

    return node.getMultiaddrs()[0].toString()
  },

  async dial (address: string): Promise<void> {
    connection = await node.dial(multiaddr(address))
  },

  async accept (): Promise<void> {
    const half = pacedReceiver()

    receiver = half
    await node.handle(protocol, stream => { half.onStream(stream) }, streamLimits)
  },

  async open (): Promise<void> {
    sender = await pacedSender(streamOpener(connection, protocol, streamLimits.maxOutboundStreams))
  },

  async send (messagesPerStream: number): Promise<SendTimes> {
    return sender.send(messagesPerStream)
  },

  expect (messagesPerStream: number): void {
    receiver.expect(messagesPerStream)
  },

  async arrived (): Promise<Float64Array> {
    return receiver.arrived()
  },

  startCounting (): void {
    spentSince = startCounting()
  },

  usage (): Usage {
    return { ...spentSince(), rssBytes: process.memoryUsage.rss() }
  },

  async close (): Promise<void> {
    await sender.close()
  },

  async unaccept (): Promise<void> {
    await node.unhandle(protocol)
  }
}

export type PeerCommands = typeof commands

answer(commands)
