// A DHT of 50 nodes in two processes: each looks up who has what others provide.
import { setTimeout as sleep } from 'node:timers/promises'
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { createMuxer } from '../endpoints/muxer.ts'
import { transportInit } from '../endpoints/transport-init.ts'
import { createNodeWith, manyConnections } from '../node.ts'
import { timeEach } from './application.ts'
import { dht, keyOf } from './installed/kad-dht.js'
import type { EndInit, StartEnd } from './application.ts'
import type { Dht } from './installed/kad-dht.js'
import type { Libp2p } from 'libp2p'

interface Provided {
  name: string
  providerId: string
}

interface Lookup extends Provided {
  seeker: Libp2p<{ dht: Dht }>
}

const NODES_PER_END = 25
/** How far ahead in the ring of all nodes those are that a node dials: every other is few hops away */
const STEPS = [1, 2, 5, 11, 23]
/** Of the other nodes, who have to know it before lookups begin: what a bucket holds */
const KNOWN_PEERS = 20
/** Tables are filled while nodes dial, which leaves two cores little for a handshake */
const DIAL_TIMEOUT_MS = 30_000
const POLL_MS = 50
const LATEST_TABLE_MS = 60_000
const LOOKUPS_AT_ONCE = 10

async function createNode ({ muxer, transport }: EndInit): Promise<Libp2p<{ dht: Dht }>> {
  return createNodeWith(await createMuxer(muxer), {
    ...await transportInit(muxer, transport),
    ...manyConnections,
    connectionManager: { ...manyConnections.connectionManager, dialTimeout: DIAL_TIMEOUT_MS, inboundUpgradeTimeout: DIAL_TIMEOUT_MS },
    services: { identify: identify(), ping: ping(), dht: dht() }
  })
}

async function untilTablesAreFull (nodes: Array<Libp2p<{ dht: Dht }>>): Promise<void> {
  const deadlineMs = performance.now() + LATEST_TABLE_MS
  const smallest = (): number => Math.min(...nodes.map(({ services }) => services.dht.routingTable.size))

  while (smallest() < KNOWN_PEERS) {
    if (performance.now() > deadlineMs) {
      throw new Error(`After ${LATEST_TABLE_MS / 1000} s a node still knows ${smallest()} peers instead of ${KNOWN_PEERS}`)
    }

    await sleep(POLL_MS)
  }
}

async function provide (node: Libp2p, name: string): Promise<Provided> {
  await node.contentRouting.provide(await keyOf(name))

  return { name, providerId: node.peerId.toString() }
}

/** To the end, as providers beyond the first are of use: the walk to those who are closest to the key */
async function lookUp ({ seeker, name, providerId }: Lookup): Promise<void> {
  const found = new Set<string>()

  for await (const { id } of seeker.contentRouting.findProviders(await keyOf(name))) {
    found.add(id.toString())
  }

  if (found.size !== 1 || !found.has(providerId)) {
    throw new Error(`Of "${name}" the providers ${[...found].join(', ') || 'nobody'} were found instead of ${providerId}`)
  }
}

function createEnd (end: number): StartEnd {
  return async init => {
    const nodes = await Promise.all(Array.from({ length: NODES_PER_END }, async () => createNode(init)))
    const perNode = init.isShort ? 1 : 8

    return {
      addresses: nodes.map(node => node.getMultiaddrs()[0].toString()),

      async connect (addresses) {
        const ring = addresses.flat()

        for (const [index, node] of nodes.entries()) {
          const own = end * NODES_PER_END + index

          for (const step of STEPS) {
            await node.dial(multiaddr(ring[(own + step) % ring.length]))
          }
        }

        await Promise.all(nodes.map(async ({ services }) => services.dht.refreshRoutingTable()))
        await untilTablesAreFull(nodes)
      },

      prepare: async round => Promise.all(nodes.map(async (node, index) => provide(node, `round ${round}, node ${index} of end ${end}`))),

      async work (told) {
        const provided = told[1 - end] as Provided[]
        const lookups = Array.from({ length: perNode }, (_, turn) =>
          nodes.map((seeker, index): Lookup => ({ seeker, ...provided[(index + turn) % provided.length] }))).flat()

        return { latenciesMs: await timeEach(lookups, LOOKUPS_AT_ONCE, lookUp) }
      }
    }
  }
}

export const kadDht: StartEnd[] = [createEnd(0), createEnd(1)]
