// A child process: one libp2p node that sends or receives on command.
import { subscribe } from 'node:diagnostics_channel'
import { multiaddr } from '@multiformats/multiaddr'
import { answer } from '../../harness/child.ts'
import { nowMs } from '../../clock.ts'
import { streamLimits } from '../../muxers.ts'
import { createNodeWith } from '../../node.ts'
import { streamOpener } from '../../scenarios/scenario.ts'
import { createReceiver } from './receiver.ts'
import { createSender } from './sender.ts'
import { findVariant } from './variants.ts'
import { TCP_PHASES } from './workload.ts'
import type { Arrived, Receiver, Shares } from './receiver.ts'
import type { Sender, UrgentSent } from './sender.ts'
import type { Variant } from './variants.ts'
import type { Socket } from 'node:net'
import type { Connection } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

const protocol = '/ablation/1.0.0'

let variant: Variant
let node: Libp2p
let connection: Connection
let sender: Sender
let receiver: Receiver
/** Of the one connection that this process has */
let socket: Socket

/** Nothing else tells which socket libp2p uses */
for (const channel of ['net.client.socket', 'net.server.socket']) {
  subscribe(channel, message => { socket = (message as { socket: Socket }).socket })
}

const commands = {
  /** Returns the address to dial */
  async start (variantId: string): Promise<string> {
    variant = findVariant(variantId)
    node = await createNodeWith(variant.createMuxer)

    return node.getMultiaddrs()[0].toString()
  },

  async dial (address: string): Promise<void> {
    connection = await node.dial(multiaddr(address))
  },

  async accept (): Promise<void> {
    const accepting = createReceiver({ nowMs, passedBytes: () => socket.bytesRead })

    receiver = accepting
    await node.handle(protocol, stream => { accepting.onStream(stream) }, streamLimits)
  },

  async open (): Promise<void> {
    const openStream = streamOpener(connection, protocol, streamLimits.maxOutboundStreams)

    sender = await createSender(openStream, variant.lanes, { nowMs, passedBytes: () => socket.bytesWritten })
  },

  async watch (): Promise<Shares> {
    return receiver.watch(TCP_PHASES)
  },

  async send (): Promise<UrgentSent> {
    sender.startBulk()

    return sender.sendUrgent(TCP_PHASES.warmUpMs + TCP_PHASES.measuredMs)
  },

  async stopBulk (): Promise<number[]> {
    return sender.stopBulk()
  },

  async arrived (bytesOfStream: number[]): Promise<Arrived> {
    return receiver.arrived(bytesOfStream)
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
