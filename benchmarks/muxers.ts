// The muxers under comparison. Each is loaded only by the processes that run it.
import type { StreamMuxerFactory } from '@libp2p/interface'

type CreateMuxer = () => StreamMuxerFactory

/** Above the 1,000 streams that the widest row opens at once */
export const streamLimits = { maxInboundStreams: 2000, maxOutboundStreams: 2000 }

/** mplex closes a connection that opens more than 5 streams a second unless told otherwise */
const MPLEX_NEW_STREAMS_PER_SECOND = 1_000_000

export const muxers = {
  async ours (): Promise<CreateMuxer> {
    const { yamux } = await import('../src/index.ts')
    return yamux({ ...streamLimits })
  },

  async stock (): Promise<CreateMuxer> {
    const { yamux } = await import('@libp2p/yamux')
    return yamux({ ...streamLimits })
  },

  async mplex (): Promise<CreateMuxer> {
    const { mplex } = await import('@libp2p/mplex')
    return mplex({ ...streamLimits, disconnectThreshold: MPLEX_NEW_STREAMS_PER_SECOND })
  }
}

export type MuxerName = keyof typeof muxers

export const muxerNames = Object.keys(muxers) as MuxerName[]
