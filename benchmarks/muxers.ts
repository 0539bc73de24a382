// The muxers under comparison. Each is loaded only by the processes that run it.
import type { MuxerName } from './contestants.ts'
import type { CoalesceOptions, Priority } from '../src/index.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

type CreateMuxer = () => StreamMuxerFactory

/** Above the 1,000 streams that the widest row opens at once */
export const streamLimits = { maxInboundStreams: 2000, maxOutboundStreams: 2000 }

/** mplex closes a connection that opens more than 5 streams a second unless told otherwise */
const MPLEX_NEW_STREAMS_PER_SECOND = 1_000_000

/** As an application says it whose gossip is not to wait */
const gossipFirst: Priority = { '/meshsub/*': 'urgent' }

async function ours (coalesce?: CoalesceOptions, priority?: Priority): Promise<CreateMuxer> {
  const { yamux } = await import('../src/index.ts')
  return yamux({ ...streamLimits, coalesce, priority })
}

export const muxers: Record<MuxerName, () => Promise<CreateMuxer>> = {
  ours: async () => ours(),
  'ours-off': async () => ours({ strategy: 'off' }),
  'ours-delay': async () => ours({ strategy: 'delay', delayMs: 2 }),
  'ours-adaptive': async () => ours({ strategy: 'adaptive' }),
  'ours-apart': async () => ours({ mergeMessages: false }),
  'ours-unbounded': async () => ours({ maxQueueDelayMs: Infinity }),
  'ours-gossip': async () => ours(undefined, gossipFirst),
  'ours-gossip-unbounded': async () => ours({ maxQueueDelayMs: Infinity }, gossipFirst),
  'ours-merged': async () => ours({ mergeMessages: true }),

  async stock (): Promise<CreateMuxer> {
    const { yamux } = await import('@libp2p/yamux')
    return yamux({ ...streamLimits })
  },

  async mplex (): Promise<CreateMuxer> {
    const { mplex } = await import('@libp2p/mplex')
    return mplex({ ...streamLimits, disconnectThreshold: MPLEX_NEW_STREAMS_PER_SECOND })
  }
}
