// Nodes of a shop whose messages are slow, each for another reason: what an operator looks for.
import { setTimeout as sleep } from 'node:timers/promises'
import { multiaddr } from '@multiformats/multiaddr'
import { yamux } from '../../src/index.ts'
import { relayTo } from '../relay/server.ts'
import { createNode } from './node.ts'
import { drained } from './streams.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { Libp2p, Stream } from '@libp2p/interface'

export interface SlowNode {
  node: Libp2p
  /** What is slow: resolves when it has happened once */
  once (): Promise<void>
  stop (): Promise<void>
}

const ORDERS = '/shop/orders/1'
const PHOTOS = '/shop/photos/1'
const REPORTS = '/shop/reports/1'
const ORDER_BYTES = 100
const PHOTO_BYTES = 200_000
const REPORT_BYTES = 300_000
/** 1 Mbit/s, as a bad uplink */
const SLOW_BYTES_PER_MS = 125
const QUICK_BYTES_PER_MS = 12_500
const ROUND_TRIP_MS = 30

interface Shop {
  options?: YamuxMuxerInit
  bytesPerMs?: number
  /** How long the peer thinks before it answers an order */
  answersAfterMs?: number
  /** The peer rests after each chunk of a report */
  readsEachMs?: number
}

interface OpenShop {
  node: Libp2p
  peer: Libp2p
  open (protocol: string): Promise<Stream>
  stop (): Promise<void>
}

async function openShop ({ options = {}, bytesPerMs = QUICK_BYTES_PER_MS, answersAfterMs = 0, readsEachMs = 0 }: Shop): Promise<OpenShop> {
  const [node, peer] = await Promise.all([options, {}].map(init => createNode('ours', { streamMuxers: [yamux(init)] })))
  const port = Number(peer.getMultiaddrs()[0].getComponents().find(({ name }) => name === 'tcp')?.value)
  const relay = await relayTo(port, { bytesPerMs, delayMs: ROUND_TRIP_MS / 2, bufferBytes: 1_000_000, segmentBytes: 1500 }, { onReleased () {} })

  await peer.handle(ORDERS, stream => {
    stream.addEventListener('message', () => { setTimeout(() => { stream.send(new Uint8Array(ORDER_BYTES)) }, answersAfterMs) })
  })
  await peer.handle([PHOTOS, REPORTS], async stream => {
    for await (const chunk of stream) {
      await sleep(chunk.byteLength > 0 ? readsEachMs : 0)
    }
  })

  return {
    node,
    peer,
    open: async protocol => node.dialProtocol(multiaddr(`/ip4/127.0.0.1/tcp/${relay.port}/p2p/${peer.peerId.toString()}`), protocol),
    stop: async () => {
      await Promise.all([node.stop(), peer.stop()])
      relay.server.close()
    }
  }
}

/** Each order waits for its answer */
async function placeOrders ({ open }: OpenShop): Promise<() => Promise<void>> {
  const stream = await open(ORDERS)

  return async () => new Promise(resolve => {
    stream.addEventListener('message', () => { resolve() }, { once: true })
    stream.send(new Uint8Array(ORDER_BYTES))
  })
}

/** Ends with the stream */
async function keepSending (stream: Stream, byteLength: number): Promise<void> {
  while (stream.writeStatus === 'writable') {
    if (!stream.send(new Uint8Array(byteLength))) {
      await drained(stream)
    }
  }
}

/** Each report is sent when the last one has left */
async function sendReports ({ open }: OpenShop): Promise<() => Promise<void>> {
  const stream = await open(REPORTS)

  return async () => new Promise(resolve => {
    stream.addEventListener('idle', () => { resolve() }, { once: true })
    stream.send(new Uint8Array(REPORT_BYTES))
  })
}

/** Each message of the peer is news that this side handles for a while */
async function readNews ({ node, peer }: OpenShop, handlesForMs: number): Promise<() => Promise<void>> {
  const { promise, resolve } = Promise.withResolvers<Stream>()
  await node.handle(REPORTS, stream => { resolve(stream) })
  keepSending(await peer.dialProtocol(node.getMultiaddrs(), REPORTS), REPORT_BYTES).catch(() => {})
  const chunks = (await promise)[Symbol.asyncIterator]()

  return async () => {
    await chunks.next()
    await sleep(handlesForMs)
  }
}

const CAUSES = {
  'the program reads slowly': { shop: {}, work: async (shop: OpenShop) => readNews(shop, 700) },
  'the peer gives no credit': { shop: { readsEachMs: 700 }, work: sendReports },
  'the uplink is slow': { shop: { bytesPerMs: SLOW_BYTES_PER_MS }, work: sendReports },
  'the program is busy': {
    shop: {},
    work: async (shop: OpenShop) => {
      const timer = setInterval(() => { spin(300) }, 310)
      shop.node.addEventListener('stop', () => { clearInterval(timer) })

      return placeOrders(shop)
    }
  },
  'the lane is starved': {
    shop: { bytesPerMs: SLOW_BYTES_PER_MS, options: { priority: { '/shop/orders/*': 'bulk' } } },
    work: async (shop: OpenShop) => {
      const once = await placeOrders(shop)

      for (let count = 0; count < 3; count++) {
        keepSending(await shop.open(PHOTOS), PHOTO_BYTES).catch(() => {})
      }

      return once
    }
  },
  'the peer answers late': { shop: { answersAfterMs: 900 }, work: placeOrders }
} satisfies Record<string, { shop: Shop, work: (shop: OpenShop) => Promise<() => Promise<void>> }>

export type Cause = keyof typeof CAUSES

export const causes = Object.keys(CAUSES) as Cause[]

export async function createSlowNode (cause: Cause): Promise<SlowNode> {
  const { shop, work } = CAUSES[cause]
  const opened = await openShop(shop)

  return { node: opened.node, once: await work(opened), stop: opened.stop }
}

function spin (forMs: number): void {
  const endMs = performance.now() + forMs

  while (performance.now() < endMs) {
    // busy
  }
}
