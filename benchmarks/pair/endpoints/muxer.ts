// The muxer of a contestant, where it is one that libp2p can be handed.
import { isMuxer } from '../../contestants.ts'
import { muxers } from '../../muxers.ts'
import { noMuxer } from './no-muxer.ts'
import type { ContestantMuxer } from '../../contestants.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

export async function createMuxer (name: ContestantMuxer): Promise<() => StreamMuxerFactory> {
  // QUIC asks for none
  return isMuxer(name) ? muxers[name]() : noMuxer()
}
