// Two nodes whose metrics can be scraped, and between them some of everything that the dashboard can show.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { Registry } from 'prom-client'
import { atPort, portOf } from '../../testing/relay/address.ts'
import { relayTo } from '../../testing/relay/server.ts'
import { createMeasuredNode, NO_FRAME } from './node.ts'
import type { Stoppable } from '../../testing/programs/run.ts'
import type { Connection, Libp2p, MessageStream, Stream } from '@libp2p/interface'
import type { AddressInfo } from 'node:net'

const PRIORITY = { '/vote/1.0.0': 'urgent', '/backup/1.0.0': 'bulk' } as const
const PROTOCOLS = ['/chat/1.0.0', '/file/1.0.0', '/forgotten/1.0.0', '/deaf/1.0.0', ...Object.keys(PRIORITY)]
const MAX_INBOUND_STREAMS = 150
const MUXER = { priority: PRIORITY, maxInboundStreams: MAX_INBOUND_STREAMS }
const MAX_PROTOCOL_STREAMS = 1000
const LINE = { bytesPerMs: 2500, delayMs: 20, bufferBytes: 250_000 }
const CHATS = 60
const CHAT = new Uint8Array(120)
const VOTE = new Uint8Array(300)
const FILE_PART = new Uint8Array(65_536)
/** More than windows grow to when neither end reads */
const DEAF = new Uint8Array(24 * 2 ** 20)

interface MeteredNode {
  node: Libp2p
  /** Of its metrics */
  port: number
}

export interface Load extends Stoppable {
  /** Of the nodes' metrics */
  ports: number[]
  /** Resolves when all of it was there once */
  run (durationMs: number): Promise<void>
}

export async function startLoad (): Promise<Load> {
  const nodes = await Promise.all([createMeteredNode(), createMeteredNode()])
  const [{ node: near }, { node: far }] = nodes
  const wires: MessageStream[] = []
  const stranger = await createMeasuredNode({ onWire: wire => { wires.push(wire) } })
  const address = far.getMultiaddrs()[0].toString()
  const { port, server } = await relayTo(portOf(address), LINE, { onReleased () {} })

  return {
    ports: nodes.map(({ port }) => port),

    async run (durationMs) {
      const connection = await near.dial(multiaddr(atPort(address, port)))
      const at = async (part: number, work: () => Promise<unknown>): Promise<void> => {
        await delay(part * durationMs)
        await work()
      }

      await Promise.all([
        at(0, async () => chat(connection, durationMs)),
        at(0, async () => vote(connection, durationMs)),
        at(0.15, async () => transfer(connection, '/file/1.0.0', 0.2 * durationMs)),
        at(0.25, async () => transfer(connection, '/backup/1.0.0', 0.25 * durationMs)),
        at(0.6, async () => forget(connection, 0.12 * durationMs)),
        at(0.7, async () => stall(connection, 0.15 * durationMs)),
        at(0.8, async () => openMany(connection)),
        at(0.9, async () => {
          await stranger.dial(far.getMultiaddrs())
          wires.at(-1)?.send(NO_FRAME)
        }),
        delay(durationMs)
      ])
    },

    async stop () {
      server.close()
      await Promise.all([near, far, stranger].map(async node => node.stop()))
    }
  }
}

async function createMeteredNode (): Promise<MeteredNode> {
  const registry = new Registry()
  const node = await createMeasuredNode({ registry, muxer: MUXER })
  const server = createServer(async (_, response) => { response.end(await registry.metrics()) })
  server.listen(0, '127.0.0.1').unref()
  await once(server, 'listening')

  for (const protocol of PROTOCOLS) {
    await node.handle(protocol, stream => { receive(stream, protocol) }, { maxInboundStreams: MAX_PROTOCOL_STREAMS, maxOutboundStreams: MAX_PROTOCOL_STREAMS })
  }

  return { node, port: (server.address() as AddressInfo).port }
}

function receive (stream: Stream, protocol: string): void {
  if (protocol === '/forgotten/1.0.0') {
    stream.pause()
  } else if (protocol === '/deaf/1.0.0') {
    stream.pause()
    stream.send(DEAF)
  } else {
    stream.addEventListener('message', () => {})
    stream.addEventListener('remoteCloseWrite', async () => stream.close())
  }
}

/** Small messages on many streams */
async function chat (connection: Connection, durationMs: number): Promise<void> {
  const streams = await open(connection, '/chat/1.0.0', CHATS)

  await repeat(durationMs, 100, () => {
    for (const stream of streams) {
      stream.send(CHAT)
    }
  })
}

async function vote (connection: Connection, durationMs: number): Promise<void> {
  const [stream] = await open(connection, '/vote/1.0.0', 1)

  await repeat(durationMs, 40, () => { stream.send(VOTE) })
}

/** As much as the line carries */
async function transfer (connection: Connection, protocol: string, durationMs: number): Promise<void> {
  const [stream] = await open(connection, protocol, 1)
  const endMs = performance.now() + durationMs

  while (performance.now() < endMs) {
    if (!stream.send(FILE_PART)) {
      await stream.onDrain()
    }
  }

  await stream.close()
}

/** What the other side does not read for a while */
async function forget (connection: Connection, durationMs: number): Promise<void> {
  const streams = await open(connection, '/forgotten/1.0.0', 8)

  for (const stream of streams) {
    stream.send(new Uint8Array(2 ** 19))
  }

  await delay(durationMs)
  abort(streams)
}

/** Both ends write and neither reads */
async function stall (connection: Connection, durationMs: number): Promise<void> {
  const streams = await open(connection, '/deaf/1.0.0', 1)
  streams[0].pause()
  streams[0].send(DEAF)
  await delay(durationMs)
  abort(streams)
}

/** More streams than the other side allows */
async function openMany (connection: Connection): Promise<void> {
  const opened = await Promise.allSettled(Array.from({ length: MAX_INBOUND_STREAMS }, async () => connection.newStream('/chat/1.0.0', { maxOutboundStreams: MAX_PROTOCOL_STREAMS })))
  abort(opened.flatMap(result => result.status === 'fulfilled' ? [result.value] : []))
}

async function open (connection: Connection, protocol: string, count: number): Promise<Stream[]> {
  return Promise.all(Array.from({ length: count }, async () => connection.newStream(protocol, { maxOutboundStreams: MAX_PROTOCOL_STREAMS })))
}

function abort (streams: Stream[]): void {
  for (const stream of streams) {
    stream.abort(new Error('This part of the load is over'))
  }
}

async function repeat (durationMs: number, intervalMs: number, work: () => void): Promise<void> {
  const endMs = performance.now() + durationMs

  while (performance.now() < endMs) {
    work()
    await delay(intervalMs)
  }
}
