// A node with Helia and bitswap in Node, with the muxer that is measured.
import { createMuxer } from '../../pair/endpoints/muxer.ts'
import { transportInit } from '../../pair/endpoints/transport-init.ts'
import { manyConnections, nodeOptions } from '../../node.ts'
import { startHelia } from '../installed/helia.js'
import type { EndInit } from '../application.ts'
import type { Helia } from '../installed/helia.js'
import type { ServiceMap } from '@libp2p/interface'
import type { ServiceFactoryMap } from 'libp2p'

/** One of the services has to be identify: bitswap asks those alone of whom it says that they speak bitswap */
export async function createHelia<Services extends ServiceMap> ({ muxer, transport }: EndInit, services: ServiceFactoryMap<Services>): Promise<Helia<Services>> {
  return startHelia<Services>(nodeOptions(await createMuxer(muxer), { ...await transportInit(muxer, transport), ...manyConnections, services }))
}

export function addressesOf ({ libp2p }: Helia): string[] {
  return libp2p.getMultiaddrs().map(String)
}
