// The muxers in JavaScript, ours and the two stock ones. Each is loaded only where it runs.
import type { Metrics, StreamMuxerFactory } from '@libp2p/interface'

/** Stock ones have no metrics */
type CreateMuxer = (components?: { metrics?: Metrics }) => StreamMuxerFactory

/**
 * Four times the first window, so that it grows, and a quarter of what is sent to slow readers: how far the default of 16 MiB is used
 * depends on how late the machine measures the round trip.
 */
const MAX_WINDOW_BYTES = 1_048_576
const FIRST_WINDOW_BYTES = 262_144

export const MUXERS = {
  ours: async (): Promise<CreateMuxer> => (await import('../../src/index.ts')).yamux({ streamOptions: { maxStreamWindowSize: MAX_WINDOW_BYTES } }),
  oursWithFirstWindow: async (): Promise<CreateMuxer> => (await import('../../src/index.ts')).yamux({ streamOptions: { maxStreamWindowSize: FIRST_WINDOW_BYTES } }),
  oursByDefault: async (): Promise<CreateMuxer> => (await import('../../src/index.ts')).yamux(),
  libp2p: async (): Promise<CreateMuxer> => (await import('@libp2p/yamux')).yamux(),
  chainsafe: async (): Promise<CreateMuxer> => (await import('@chainsafe/libp2p-yamux')).yamux()
}

export type MuxerName = keyof typeof MUXERS
