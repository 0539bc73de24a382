// A child process: one end of many connections that each carried a message on a few streams and are idle since.
import { setTimeout as sleep } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { answer } from '../../testing/programs/child.ts'
import { muxers, streamLimits } from '../muxers.ts'
import { createNodeWith, manyConnections } from '../node.ts'
import { bytesAt, isAt } from '../../testing/verified/pattern.ts'
import { pieceReader, replyReader } from '../../testing/verified/streams.ts'
import type { MuxerName } from '../contestants.ts'
import type { Stream } from '@libp2p/interface'
import type { Libp2p } from 'libp2p'

const PROTOCOL = '/benchmark/idle/1.0.0'
const MESSAGE_BYTES = 100
const SETTLING_MS = 500

let node: Libp2p
/** Streams that nothing refers to would be collected */
const streams: Stream[] = []

async function openStream (connection: Awaited<ReturnType<Libp2p['dial']>>): Promise<void> {
  const stream = await connection.newStream(PROTOCOL, streamLimits)
  const readReply = replyReader(stream, MESSAGE_BYTES)
  stream.send(bytesAt(0, MESSAGE_BYTES))

  if (!isAt(0, await readReply())) {
    throw new Error('The reply differs from the message')
  }

  streams.push(stream)
}

const commands = {
  /** Returns the addresses to dial */
  async start (muxer: MuxerName): Promise<string[]> {
    node = await createNodeWith(await muxers[muxer](), manyConnections)
    await node.handle(PROTOCOL, stream => {
      const echo = pieceReader(MESSAGE_BYTES, message => { stream.send(message) })
      stream.addEventListener('message', ({ data }) => { echo(data) })
      streams.push(stream)
    }, streamLimits)

    return node.getMultiaddrs().map(String)
  },

  async connect (addresses: string[], connections: number, streamsEach: number): Promise<void> {
    for (let count = 0; count < connections; count++) {
      const connection = await node.dial(addresses.map(address => multiaddr(address)), { force: true })
      await Promise.all(Array.from({ length: streamsEach }, async () => openStream(connection)))
    }
  },

  /** Objects and buffers that are still in use */
  async usedBytes (): Promise<number> {
    await sleep(SETTLING_MS)
    globalThis.gc?.()
    globalThis.gc?.()
    const { heapUsed, external } = process.memoryUsage()

    return heapUsed + external
  }
}

export type IdleConnectionsCommands = typeof commands

answer(commands)
