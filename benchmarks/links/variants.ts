// The muxers under comparison: ours, ours with what it decides on changed, and others.
import { mplex } from '@libp2p/mplex'
import { yamux as stock } from '@libp2p/yamux'
import { systemClock } from '../../src/clock.ts'
import { createConfig } from '../../src/config.ts'
import { UPDATE_PARTS } from '../../src/core/flow/receive-window.ts'
import { HEADER_BYTES, INITIAL_WINDOW_BYTES } from '../../src/core/frame/frame.ts'
import { yamux } from '../../src/index.ts'
import { YAMUX_PROTOCOL_ID, YamuxMuxer } from '../../src/muxer/muxer.ts'
import type { Config } from '../../src/config.ts'
import type { YamuxMuxerInit } from '../../src/index.ts'
import type { StreamMuxerFactory } from '@libp2p/interface'

export type CreateMuxer = () => StreamMuxerFactory

export interface Variant {
  id: string
  label: string
  createMuxer: CreateMuxer
}

const streamLimits = { maxInboundStreams: 1000, maxOutboundStreams: 1000, maxEarlyStreams: 1000 }

/** Windows that stay what they are, so that nothing but when updates go, and how large frames are, makes a difference */
const FIXED_WINDOWS: YamuxMuxerInit = { ...streamLimits, streamOptions: { maxStreamWindowSize: INITIAL_WINDOW_BYTES } }
const WHOLE_WINDOW_WRITES: YamuxMuxerInit = { ...FIXED_WINDOWS, coalesce: { maxBytes: INITIAL_WINDOW_BYTES + HEADER_BYTES } }

export const variants: Variant[] = [
  { id: 'ours', label: 'ours', createMuxer: yamux(streamLimits) },
  { id: 'zero', label: '256 KiB, at zero', createMuxer: changed(FIXED_WINDOWS, updateAt(1)) },
  { id: 'quarter-left', label: '256 KiB, three quarters', createMuxer: changed(FIXED_WINDOWS, updateAt(0.75)) },
  { id: 'half', label: '256 KiB, half', createMuxer: changed(FIXED_WINDOWS, updateAt(UPDATE_PARTS.usual)) },
  { id: 'quarter', label: '256 KiB, a quarter', createMuxer: changed(FIXED_WINDOWS, updateAt(UPDATE_PARTS.heldBack)) },
  {
    id: 'whole',
    label: '256 KiB, half, whole frames',
    createMuxer: changed(WHOLE_WINDOW_WRITES, { ...updateAt(UPDATE_PARTS.usual), frameBytes: INITIAL_WINDOW_BYTES, loneFrameBytes: INITIAL_WINDOW_BYTES })
  },
  { id: 'stock', label: '@libp2p/yamux', createMuxer: stock(streamLimits) as CreateMuxer },
  // the default of mplex ends a connection that opens more than 5 streams a second
  { id: 'mplex', label: '@libp2p/mplex', createMuxer: mplex({ ...streamLimits, disconnectThreshold: 1_000_000 }) as CreateMuxer }
]

export function findVariant (id: string): Variant {
  const variant = variants.find(known => known.id === id)

  if (variant == null) {
    throw new Error(`There is no variant "${id}", only ${variants.map(({ id }) => id).join(', ')}`)
  }

  return variant
}

/** The part that has been read when an update goes */
function updateAt (part: number): Partial<Config> {
  return { updateParts: { usual: part, heldBack: part } }
}

/** What is changed is no option, for it is never better */
function changed (init: YamuxMuxerInit, change: Partial<Config>): CreateMuxer {
  const config = { ...createConfig(init), ...change }

  return () => ({
    protocol: YAMUX_PROTOCOL_ID,
    createStreamMuxer: maConn => new YamuxMuxer(maConn, config, systemClock)
  })
}
