// Gossip during twenty transfers that fill a link of 10 Mbit/s: how long messages take without lanes, and with them.
//
//   npm run example docs/examples/gossip-with-lanes/start.ts
import { setTimeout as sleep } from 'node:timers/promises'
import { noise } from '@chainsafe/libp2p-noise'
import { gossipsub } from '@libp2p/gossipsub'
import { identify } from '@libp2p/identify'
import { tcp } from '@libp2p/tcp'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { isYamuxStream, yamux } from 'libp2p-coalescing-yamux'
import { startSlowLine } from './slow-line.ts'
import type { Stream } from '@libp2p/interface'
import type { YamuxMuxerInit } from 'libp2p-coalescing-yamux'

const TOPIC = 'news'
const BULK = '/example/bulk/1'
const TRANSFERS = 20
const MESSAGES = 60
const INTERVAL_MS = 30

// gossip goes first, the transfers take what it leaves
const LANES: YamuxMuxerInit = { priority: { '/meshsub/*': 'urgent', [BULK]: 'bulk' } }

// both together, each over a link of its own
const [without, withLanes] = await Promise.all([measure({}), measure(LANES)])

console.table({ 'without lanes': without, 'with lanes': withLanes })

async function measure (options: YamuxMuxerInit): Promise<object> {
  const sender = await createNode(options)
  const receiver = await createNode(options)
  const { pubsub } = receiver.services
  const latenciesMs: number[] = []
  let bulkBytes = 0

  await receiver.handle(BULK, async stream => {
    for await (const bytes of stream) {
      bulkBytes += bytes.byteLength
    }
  })
  pubsub.subscribe(TOPIC)
  pubsub.addEventListener('message', ({ detail: { data } }) => {
    latenciesMs.push(performance.now() - Number(new TextDecoder().decode(data)))
  })

  const tcpPort = receiver.getMultiaddrs()[0].getComponents().find(({ name }) => name === 'tcp')?.value
  const connection = await sender.dial(multiaddr(`/ip4/127.0.0.1/tcp/${await startSlowLine(Number(tcpPort))}`))

  while (sender.services.pubsub.getSubscribers(TOPIC).length === 0) {
    await sleep(10)
  }

  for (let i = 0; i < TRANSFERS; i++) {
    fill(await connection.newStream(BULK)).catch(() => { /* this is how it ends */ })
  }

  await sleep(1_000)
  const beginMs = performance.now()
  bulkBytes = 0

  for (let i = 0; i < MESSAGES; i++) {
    await sender.services.pubsub.publish(TOPIC, new TextEncoder().encode(String(performance.now())))
    await sleep(INTERVAL_MS)
  }

  const bulkMbits = bulkBytes * 8 / 1_000 / (performance.now() - beginMs)

  while (latenciesMs.length < MESSAGES) {
    await sleep(10)
  }

  const gossip = connection.streams.filter(isYamuxStream).find(({ protocol }) => protocol.startsWith('/meshsub/'))
  connection.abort(new Error('All is measured'))
  await sender.stop()
  await receiver.stop()
  latenciesMs.sort((a, b) => a - b)

  return {
    'lane of gossip': gossip?.priority,
    'median, ms': Math.round(latenciesMs[MESSAGES * 0.5]),
    'longest, ms': Math.round(latenciesMs[MESSAGES - 1]),
    'transfers, Mbit/s': Math.round(bulkMbits * 10) / 10
  }
}

async function fill (stream: Stream): Promise<void> {
  const bytes = new Uint8Array(65_536)

  while (true) {
    if (!stream.send(bytes)) {
      await stream.onDrain()
    }
  }
}

async function createNode (options: YamuxMuxerInit) {
  return createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux(options)],
    services: { identify: identify(), pubsub: gossipsub() }
  })
}
