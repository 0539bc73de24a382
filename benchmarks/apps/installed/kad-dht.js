// The DHT as installed here, for nodes that all listen on one machine, and keys to look up.
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import { CID } from 'multiformats/cid'
import * as raw from 'multiformats/codecs/raw'
import { sha256 } from 'multiformats/hashes/sha2'

// as of a network without public addresses
export const dht = () => kadDHT({ clientMode: false, peerInfoMapper: passthroughMapper })

export async function keyOf (text) {
  return CID.createV1(raw.code, await sha256.digest(new TextEncoder().encode(text)))
}
