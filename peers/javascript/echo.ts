// An echo target for conformance/ in JavaScript: `node echo.ts <muxer> <host:port> [open | dial | libp2p]`. With `open` it opens a stream on each
// connection too, with `dial` it dials again and again instead of listening, with `libp2p` it is a node with Noise, and agrees on protocols.
import { once } from 'node:events'
import { defaultLogger } from '@libp2p/logger'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createNode } from '../../testing/libp2p/node.ts'
import { returnAll } from '../../testing/libp2p/streams.ts'
import { muxers } from '../../testing/muxers.ts'
import type { MultiaddrConnection, Stream, Upgrader } from '@libp2p/interface'

const PROTOCOL = '/echo/1.0.0'
const MAX_STREAMS = 1_000
const REDIAL_MS = 20

const [muxerName, address, mode] = process.argv.slice(2)
const factory = (await muxers[muxerName as keyof typeof muxers]())({})
const [host, port] = address.split(':')
const target = multiaddr(`/ip4/${host}/tcp/${port}`)

function echo (stream: Stream): void {
  // what the suite does to a stream is its business
  returnAll(stream).catch(() => {})
}

/** Where libp2p would agree on encryption and a muxer */
async function begin (connection: MultiaddrConnection): Promise<MultiaddrConnection> {
  const muxer = factory.createStreamMuxer(connection)
  muxer.addEventListener('stream', ({ detail }) => { echo(detail) })

  if (mode === 'open') {
    const stream = await muxer.createStream()
    stream.send(new TextEncoder().encode('hello'))
    echo(stream)
  }

  return connection
}

if (mode === 'libp2p') {
  const node = await createNode('ours', { addresses: { listen: [target.toString()] }, streamMuxers: [() => factory] })
  await node.handle(PROTOCOL, echo, { maxInboundStreams: MAX_STREAMS })
  console.info(node.getMultiaddrs()[0].toString().split('/').filter((_, index) => index === 2 || index === 4).join(':'))
} else {
  const transport = tcp()({ logger: defaultLogger() })
  const upgrader = { upgradeInbound: begin, upgradeOutbound: begin } as unknown as Upgrader

  while (mode === 'dial') {
    const connection = await transport.dial(target, { upgrader, signal: AbortSignal.timeout(REDIAL_MS) }).catch(() => undefined)

    if (connection != null) {
      await new Promise(resolve => { connection.addEventListener('close', resolve) })
    }
  }

  const listener = transport.createListener({ upgrader })
  await listener.listen(target)
  console.info(listener.getAddrs().map(bound => bound.toString().split('/').filter((_, index) => index === 2 || index === 4).join(':'))[0])
}
