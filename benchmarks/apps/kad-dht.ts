// A DHT of 50 nodes in two processes: each looks up who has what others provide.
import { identify } from '@libp2p/identify'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { untilCounted } from '../../testing/programs/clock.ts'
import { createMuxer } from '../pair/endpoints/muxer.ts'
import { transportInit } from '../pair/endpoints/transport-init.ts'
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
const SHORT_NODES_PER_END = 8
/** Of other nodes, who have to know it before lookups begin: what a bucket holds */
const KNOWN_PEERS = 20
const TABLES_STALL_MS = 60_000
const PROVIDERS_AT_ONCE = 5
const LOOKUPS_PER_NODE = 3
const LOOKUPS_AT_ONCE = 10

async function createNode ({ muxer, transport }: EndInit): Promise<Libp2p<{ dht: Dht }>> {
  return createNodeWith(await createMuxer(muxer), {
    ...await transportInit(muxer, transport),
    ...manyConnections,
    services: { identify: identify(), ping: ping(), dht: dht() }
  })
}

async function untilTablesAreFull (nodes: Array<Libp2p<{ dht: Dht }>>, knownPeers: number): Promise<void> {
  const known = await untilCounted(() => Math.min(...nodes.map(({ services }) => services.dht.routingTable.size)), knownPeers, TABLES_STALL_MS)

  if (known < knownPeers) {
    throw new Error(`A node knows ${known} peers instead of ${knownPeers}, and that has not changed for ${TABLES_STALL_MS / 1000} s`)
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
    const count = init.isShort ? SHORT_NODES_PER_END : NODES_PER_END
    const nodes = await Promise.all(Array.from({ length: count }, async () => createNode(init)))

    return {
      addresses: nodes.map(node => node.getMultiaddrs()[0].toString()),

      /** To all others now: later, queries would time out behind handshakes */
      async connect (addresses) {
        const all = addresses.flat()

        for (const [index, node] of nodes.entries()) {
          for (const address of all.slice(end * count + index + 1)) {
            await node.dial(multiaddr(address))
          }
        }

        await untilTablesAreFull(nodes, Math.min(KNOWN_PEERS, all.length - 1))
      },

      async prepare (round) {
        const provided: Provided[] = []

        await timeEach(nodes.entries(), PROVIDERS_AT_ONCE, async ([index, node]) => {
          provided.push(await provide(node, `round ${round}, node ${index} of end ${end}`))
        })

        return provided
      },

      async work (told) {
        const provided = told[1 - end] as Provided[]
        const lookups = Array.from({ length: init.isShort ? 1 : LOOKUPS_PER_NODE }, (_, turn) =>
          nodes.map((seeker, index): Lookup => ({ seeker, ...provided[(index + turn) % provided.length] }))).flat()

        return { latenciesMs: await timeEach(lookups, LOOKUPS_AT_ONCE, lookUp) }
      }
    }
  }
}

export const kadDht: StartEnd[] = [createEnd(0), createEnd(1)]
