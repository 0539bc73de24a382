// The muxers under comparison.
import { muxers } from '../muxers.ts'
import { byId } from '../programs/names.ts'
import type { CreateMuxer } from '../muxers.ts'

export interface Variant {
  id: string
  label: string
  createMuxer: CreateMuxer
  /** What the socket takes before it says to wait, if not 64 KiB */
  socketBufferBytes?: number
}

/** As much as kernels take */
const KERNEL_BUFFER_BYTES = 2_097_152

const streamLimits = { maxInboundStreams: 1000, maxOutboundStreams: 1000, maxEarlyStreams: 1000 }

export const variants: Variant[] = [
  { id: 'ours', label: 'ours', createMuxer: await muxers.ours(streamLimits) },
  { id: 'ours-2m', label: 'ours, 2 MiB in the socket', createMuxer: await muxers.ours(streamLimits), socketBufferBytes: KERNEL_BUFFER_BYTES },
  { id: 'unbounded-2m', label: 'and no bound', createMuxer: await muxers.ours({ ...streamLimits, coalesce: { maxQueueDelayMs: Infinity } }), socketBufferBytes: KERNEL_BUFFER_BYTES },
  { id: 'stock', label: '@libp2p/yamux', createMuxer: await muxers.stock(streamLimits) },
  { id: 'mplex', label: '@libp2p/mplex', createMuxer: await muxers.mplex(streamLimits) }
]

export function findVariant (id: string): Variant {
  return byId('muxer', id, variants)
}
