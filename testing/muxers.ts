// The muxers by name, each loaded only where it runs, and the pairs in which they meet. The package has two of its own: `light` is its entry `/light`.
import type { YamuxMuxerInit } from '../src/index.ts'
import type { Metrics, StreamMuxerFactory } from '@libp2p/interface'

/** Ours takes metrics; others take nothing */
export type CreateMuxer = (components?: { metrics?: Metrics }) => StreamMuxerFactory

/** The options that all of them understand */
interface CommonInit {
  maxInboundStreams?: number
  maxOutboundStreams?: number
}

/** mplex closes a connection that opens more than 5 streams a second unless told otherwise */
const MPLEX_NEW_STREAMS_PER_SECOND = 1_000_000

export const muxers = {
  ours: async (init: YamuxMuxerInit = {}): Promise<CreateMuxer> => (await import('../src/index.ts')).yamux(init),
  light: async (init: YamuxMuxerInit = {}): Promise<CreateMuxer> => (await import('../src/light.ts')).yamux(init),
  stock: async (init: CommonInit = {}): Promise<CreateMuxer> => (await import('@libp2p/yamux')).yamux(init),
  chainsafe: async (init: CommonInit = {}): Promise<CreateMuxer> => (await import('@chainsafe/libp2p-yamux')).yamux(init),
  mplex: async (init: CommonInit = {}): Promise<CreateMuxer> => (await import('@libp2p/mplex')).mplex({ disconnectThreshold: MPLEX_NEW_STREAMS_PER_SECOND, ...init }) as CreateMuxer
}

/** Of the package: at its ends both do the same */
export const OWN_MUXERS = ['ours', 'light'] as const

export type OwnMuxerName = typeof OWN_MUXERS[number]
export type MuxerName = OwnMuxerName | 'stock'

export interface MuxerPair {
  dialler: MuxerName
  listener: MuxerName
}

/** Stock against stock is not ours to test */
export const MUXER_PAIRS: MuxerPair[] = [
  { dialler: 'ours', listener: 'ours' },
  { dialler: 'ours', listener: 'stock' },
  { dialler: 'stock', listener: 'ours' },
  { dialler: 'light', listener: 'ours' },
  { dialler: 'light', listener: 'stock' },
  { dialler: 'stock', listener: 'light' }
]

/** With it as the reference: what it makes of the same test */
export const ALL_PAIRS: MuxerPair[] = [{ dialler: 'stock', listener: 'stock' }, ...MUXER_PAIRS]

export function isOwn (name: MuxerName): name is OwnMuxerName {
  return name !== 'stock'
}
