// Connects Helia to a peer. For pages and Node alike.
import { multiaddr } from '@multiformats/multiaddr'
import { pEvent } from 'p-event'
import type { Helia } from '../installed/helia.js'

/** Resolves when identify has told that bitswap may be spoken */
export async function connect ({ libp2p }: Helia, addresses: string[]): Promise<void> {
  await Promise.all([pEvent(libp2p, 'peer:identify'), libp2p.dial(addresses.map(address => multiaddr(address)))])
}
