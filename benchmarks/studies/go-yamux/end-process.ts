// A child process: one end of a connection that sends or receives at the pace of the study on command.
import { countSocketWrites, startCounting } from '../../pair/counters.ts'
import { createLibp2pEndpoint } from '../../pair/endpoints/libp2p.ts'
import { answer } from '../../../testing/programs/child.ts'
import { pacedReceiver, pacedSender } from './paced.ts'
import type { Spent } from '../../pair/counters.ts'
import type { Endpoint } from '../../pair/endpoints/endpoint.ts'
import type { MuxerName } from '../../contestants.ts'
import type { PacedReceiver, PacedSender, SendTimes } from './paced.ts'

export interface Usage extends Spent {
  rssBytes: number
}

let endpoint: Endpoint
let sender: PacedSender
let receiver: PacedReceiver
let spentSince: () => Spent

const commands = {
  /** Returns the address to dial */
  async start (muxer: MuxerName): Promise<string> {
    countSocketWrites()
    endpoint = await createLibp2pEndpoint(muxer, 'tcp-noise')
    await endpoint.handle(stream => { receiver.onStream(stream) })

    return (await endpoint.listen())[0]
  },

  async dial (address: string): Promise<void> {
    await endpoint.dial([address])
  },

  accept (): void {
    receiver = pacedReceiver()
  },

  async open (): Promise<void> {
    sender = await pacedSender(endpoint.openStream)
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
  }
}

export type PeerCommands = typeof commands

answer(commands)
