// A validator's node at home: who its peers are, what it gossips to them, and what some of them ask it for.
import { ATTESTATION_TOPICS } from '../../testing/lodestar/gossip.ts'

export const MBIT = 20
export const PEERS = 20
/** The first ones of them, which ask for blocks all the time */
export const ASKERS = 3
/** Of each of them, as Lodestar does when it syncs */
export const REQUESTS_AT_ONCE = 2
/** From slot 0 on: 64 KiB to 1 MiB each, half of it in snappy's frames */
export const BLOCKS_PER_REQUEST = 10

/** Of the node, one after the other on each of the topics: what comes to two subnets and is passed on */
export const GOSSIP_INTERVAL_MS = 8
export const GOSSIP_BYTES = 300
export const TOPICS_PER_PEER = 2
/** Few enough for all of them to be in the node's mesh, so each message goes to each of them at once */
export const SUBSCRIBERS = PEERS * TOPICS_PER_PEER / ATTESTATION_TOPICS.length
