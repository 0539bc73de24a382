// A child process: a libp2p node for each connection, which sends or receives a work on command.
import { multiaddr } from '@multiformats/multiaddr'
import { answer } from '../../harness/child.ts'
import { nowMs } from '../../clock.ts'
import { createNodeWith } from '../../node.ts'
import { openStreams } from '../../scenarios/streams.ts'
import { findLink } from './links.ts'
import { Receiver, Sender } from './transfer.ts'
import { findVariant } from './variants.ts'
import { findWork } from './works.ts'
import type { Connection } from '@libp2p/interface'

/** Of a variant on a link */
interface End {
  connection?: Connection
  receiver: Receiver
}

const protocol = '/links/1.0.0'
const limits = { maxInboundStreams: 100, maxOutboundStreams: 100 }
const ends = new Map<string, End>()

function endOf (id: string): End {
  const end = ends.get(id)

  if (end == null) {
    throw new Error(`There is no node ${id}`)
  }

  return end
}

const commands = {
  /** Returns the address to dial */
  async listen (id: string, variantId: string): Promise<string> {
    const node = await createNodeWith(findVariant(variantId).createMuxer)
    const end = { receiver: new Receiver() }
    ends.set(id, end)
    await node.handle(protocol, stream => { end.receiver.onStream(stream) }, limits)

    return node.getMultiaddrs()[0].toString()
  },

  async dial (id: string, variantId: string, address: string): Promise<void> {
    const node = await createNodeWith(findVariant(variantId).createMuxer)
    const connection = await node.dial(multiaddr(address))
    ends.set(id, { connection, receiver: new Receiver() })
  },

  /** Resolves with the time at which all of it has arrived and was verified */
  async received (id: string, linkId: string, workId: string): Promise<number> {
    const { receiver } = endOf(id)
    receiver.reset()
    await receiver.expect(findWork(findLink(linkId), workId))

    return nowMs()
  },

  /** On streams of its own; resolves with the time at which it began when all is handed down */
  async send (id: string, linkId: string, workId: string): Promise<number> {
    const work = findWork(findLink(linkId), workId)
    const { connection } = endOf(id)
    const streams = await openStreams(async () => (connection as Connection).newStream([protocol], limits), work.streams)
    const startMs = nowMs()
    const sender = new Sender(streams)
    await sender.send(work)
    await sender.close()

    return startMs
  }
}

export type PeerCommands = typeof commands

answer(commands)
