// The muxers under comparison, as they are configured.
import { muxers as byName } from '../testing/muxers.ts'
import type { MuxerName } from './contestants.ts'
import type { CreateMuxer } from '../testing/muxers.ts'
import type { CoalesceOptions, Priority } from '../src/index.ts'

/** Above the 1,000 streams that the widest row opens at once */
export const streamLimits = { maxInboundStreams: 2000, maxOutboundStreams: 2000 }

/** As an application says it whose gossip is not to wait */
const gossipFirst: Priority = { '/meshsub/*': 'urgent' }

async function ours (coalesce?: CoalesceOptions, priority?: Priority): Promise<CreateMuxer> {
  return byName.ours({ ...streamLimits, coalesce, priority })
}

export const muxers: Record<MuxerName, () => Promise<CreateMuxer>> = {
  ours: async () => ours(),
  'ours-off': async () => ours({ strategy: 'off' }),
  'ours-delay': async () => ours({ strategy: 'delay', delayMs: 2 }),
  'ours-adaptive': async () => ours({ strategy: 'adaptive' }),
  'ours-apart': async () => ours({ mergeMessages: false }),
  'ours-unbounded': async () => ours({ maxQueueDelayMs: Infinity }),
  'ours-withholding': async () => ours({ maxPeerQueueDelayMs: 25 }),
  'ours-gossip': async () => ours(undefined, gossipFirst),
  'ours-gossip-unbounded': async () => ours({ maxQueueDelayMs: Infinity }, gossipFirst),
  'ours-merged': async () => ours({ mergeMessages: true }),
  light: async () => byName.light(streamLimits),
  stock: async () => byName.stock(streamLimits),
  mplex: async () => byName.mplex(streamLimits)
}
