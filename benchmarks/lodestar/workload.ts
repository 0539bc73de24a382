// What goes to and from the node: gossip at a fixed rate, and requests for blocks.
export const PEERS = 100
/** Of them, in each round */
export const LEAVING = 33
/** As Lodestar has its network do */
export const YOUNG_GENERATION_MB = 152

/** Of the messages of gossip, as of attestations and aggregates */
export const MIN_GOSSIP_BYTES = 300
export const MAX_GOSSIP_BYTES = 1000
/** Of each peer, so 250 a second in all, which is what a process with 100 peers keeps up with. The node passes each on to its mesh. */
export const GOSSIP_INTERVAL_MS = 400

/** Blocks that peers ask the node for: that of slot 0 has 64 KiB, that of slot 9 1 MiB */
export const requests = [
  { slot: 0, intervalMs: 100 },
  { slot: 9, intervalMs: 500 }
]

/** For meshes to form and code to be compiled, which goes on for long: behind 5 s ours took a tenth to a quarter more CPU in the first round than in the next */
export const WARM_UP_MS = 30_000
