// What goes on in a run: rates that two cores bear with ease, for what is tested is that nothing goes wrong.
export type PeerMuxer = 'ours' | 'stock' | 'mplex'

export interface Population {
  /** The muxers that peers bring, in turns; the beacon node brings ours and mplex */
  muxers: PeerMuxer[]
}

export const populations: Record<string, Population> = {
  'ours only': { muxers: ['ours'] },
  'ours beside stock yamux and mplex': { muxers: ['ours', 'stock', 'mplex'] }
}

export const PEERS = 100
/** Processes that share the peers */
export const PEER_PROCESSES = 2

/** Each peer publishes an attestation at this interval, the beacon node one for each second of its own */
export const PEER_ATTESTATION_INTERVAL_MS = 4000
export const BEACON_ATTESTATION_INTERVAL_MS = 250
export const ATTESTATION_BYTES = 300
/** Slots are shorter than the 12 s of the chain */
export const SLOT_MS = 3000
/** Blocks that are gossiped are smaller than the largest ones that are requested */
export const GOSSIP_BLOCK_BYTES = 98_304

/** The beacon node asks one peer after the other for a range of blocks, and each peer the beacon node */
export const RANGE_INTERVAL_MS = 500
export const PEER_RANGE_INTERVAL_MS = 15_000
export const RANGE_BLOCKS = 4

/** A peer leaves, and another comes in its place */
export const CHURN_INTERVAL_MS = 1000
/** Peers leave by a goodbye and the end of all, by having the beacon node hang up, or without a word */
export const departures = ['goodbye', 'hung up on', 'vanish'] as const
export type Departure = typeof departures[number]
