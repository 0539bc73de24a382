// What the interop scenarios are tried with: the muxers of this package by how far their windows may grow, and both stock ones.
import { muxers } from '../muxers.ts'
import type { CreateMuxer } from '../muxers.ts'

/**
 * Four times the first window, so that it grows, and a quarter of what is sent to slow readers: how far the default of 16 MiB is used
 * depends on how late the machine measures the round trip.
 */
const MAX_WINDOW_BYTES = 1_048_576
const FIRST_WINDOW_BYTES = 262_144

export const MUXERS = {
  ours: async (): Promise<CreateMuxer> => muxers.ours({ streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } }),
  oursWithFirstWindow: async (): Promise<CreateMuxer> => muxers.ours({ streamOptions: { maxStreamWindowSize: FIRST_WINDOW_BYTES } }),
  oursByDefault: async (): Promise<CreateMuxer> => muxers.ours(),
  light: async (): Promise<CreateMuxer> => muxers.light({ streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } }),
  lightByDefault: async (): Promise<CreateMuxer> => muxers.light(),
  libp2p: async (): Promise<CreateMuxer> => muxers.stock(),
  chainsafe: async (): Promise<CreateMuxer> => muxers.chainsafe()
}

export type MuxerName = keyof typeof MUXERS
