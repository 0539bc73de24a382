// The muxers under comparison.
import { mplex } from '@libp2p/mplex'
import { yamux as stock } from '@libp2p/yamux'
import { yamux } from '../../src/index.ts'
import { byId } from '../programs/names.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

type CreateMuxer = () => StreamMuxerFactory

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
  { id: 'ours', label: 'ours', createMuxer: yamux(streamLimits) },
  { id: 'ours-2m', label: 'ours, 2 MiB in the socket', createMuxer: yamux(streamLimits), socketBufferBytes: KERNEL_BUFFER_BYTES },
  { id: 'unbounded-2m', label: 'and no bound', createMuxer: yamux({ ...streamLimits, coalesce: { maxQueueDelayMs: Infinity } }), socketBufferBytes: KERNEL_BUFFER_BYTES },
  { id: 'stock', label: '@libp2p/yamux', createMuxer: stock(streamLimits) as CreateMuxer },
  // the default of mplex ends a connection that opens more than 5 streams a second
  { id: 'mplex', label: '@libp2p/mplex', createMuxer: mplex({ ...streamLimits, disconnectThreshold: 1_000_000 }) as CreateMuxer }
]

export function findVariant (id: string): Variant {
  return byId('muxer', id, variants)
}
