/** How the other entries of the package reach the driver of a muxer. */
import type { MuxedStream } from '../stream/stream.ts'
import type { Driver } from '../host/driver.ts'
import type { StreamMuxer } from '@libp2p/interface'

/** The member of a muxer that has its driver. Registered, as each entry of the package may have its own copy of this file. */
export const DRIVER = Symbol.for('libp2p-coalescing-yamux.driver')

/** Undefined for a muxer of another package */
export function driverOf (muxer: StreamMuxer | undefined): Driver<MuxedStream> | undefined {
  return (muxer as { [DRIVER]?: Driver<MuxedStream> } | undefined)?.[DRIVER]
}
