// What a node of Lodestar's stack has streams from: a muxer on TCP, or QUIC.
import { muxers } from '../muxers.ts'
import type { NodeInit } from '../../testing/lodestar/node.ts'
import type { MuxerName } from '../contestants.ts'

export type LodestarMuxer = MuxerName | 'quic'

export async function transportOf (muxer: LodestarMuxer): Promise<Pick<NodeInit, 'createQuic' | 'muxers'>> {
  if (muxer === 'quic') {
    const { quic } = await import('../quic/index.js')

    return { createQuic: quic, muxers: [] }
  }

  return { muxers: [await muxers[muxer]()] }
}
