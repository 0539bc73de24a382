// The two muxers under test by name, and the pairs in which they meet.
import type { StreamMuxerFactory } from '@libp2p/interface'

export type MuxerName = 'ours' | 'stock'

export interface MuxerPair {
  dialler: MuxerName
  listener: MuxerName
}

/** Stock against stock is not ours to test */
export const MUXER_PAIRS: MuxerPair[] = [
  { dialler: 'ours', listener: 'ours' },
  { dialler: 'ours', listener: 'stock' },
  { dialler: 'stock', listener: 'ours' }
]

/** The options that both muxers understand and that these tests set */
export interface MuxerInit {
  maxInboundStreams?: number
  maxOutboundStreams?: number
}

export async function muxerFactory (name: MuxerName, init: MuxerInit = {}): Promise<() => StreamMuxerFactory> {
  const { yamux } = name === 'stock'
    ? await import('@libp2p/yamux')
    : await import('../../src/index.ts')

  return yamux(init)
}
