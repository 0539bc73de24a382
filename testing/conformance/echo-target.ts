// A muxer on bare TCP that sends back what comes on any stream: what the conformance suite asks of a target.
import { defaultLogger } from '@libp2p/logger'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { returnAll } from '../libp2p/streams.ts'
import type { MultiaddrConnection, Stream, StreamMuxerFactory, Upgrader } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'

export interface EchoTargetInit {
  factory: StreamMuxerFactory
  /** Whether it opens a stream on each connection, writes on it and echoes there too */
  opens?: boolean
}

export interface EchoTarget {
  address: string
  stop (): Promise<void>
}

export function toMultiaddr (address: string): Multiaddr {
  const [host, port] = address.split(':')

  return multiaddr(`/ip4/${host}/tcp/${port}`)
}

export function toAddress (multiaddr: Multiaddr): string {
  const [, , host, , port] = multiaddr.toString().split('/')

  return `${host}:${port}`
}

export function echo (stream: Stream): void {
  // what the suite does to a stream is its business
  returnAll(stream).catch(() => {})
}

/** Where libp2p would agree on encryption and a muxer */
function createUpgrader ({ factory, opens = false }: EchoTargetInit): Upgrader {
  const begin = async (connection: MultiaddrConnection): Promise<MultiaddrConnection> => {
    const muxer = factory.createStreamMuxer(connection)
    muxer.addEventListener('stream', ({ detail }) => { echo(detail) })

    if (opens) {
      const stream = await muxer.createStream()
      stream.send(new TextEncoder().encode('hello'))
      echo(stream)
    }

    return connection
  }

  return { upgradeInbound: begin, upgradeOutbound: begin } as unknown as Upgrader
}

export async function listen (address: string, init: EchoTargetInit): Promise<EchoTarget> {
  const listener = tcp()({ logger: defaultLogger() }).createListener({ upgrader: createUpgrader(init) })
  await listener.listen(toMultiaddr(address))

  return { address: toAddress(listener.getAddrs()[0]), stop: async () => { await listener.close() } }
}

/** Dials, and does so again whenever the connection has ended or there is none, until it is told to stop */
export async function dialAgainAndAgain (address: string, init: EchoTargetInit, signal: AbortSignal): Promise<void> {
  const transport = tcp()({ logger: defaultLogger() })

  while (!signal.aborted) {
    const connection = await transport.dial(toMultiaddr(address), { upgrader: createUpgrader(init), signal }).catch(() => undefined)

    await new Promise(resolve => {
      connection?.addEventListener('close', resolve)
      signal.addEventListener('abort', resolve)
      setTimeout(resolve, connection == null ? 50 : 2 ** 31 - 1)
    })
  }
}
