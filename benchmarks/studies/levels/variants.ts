// The muxers under comparison: all levels against head-of-line blocking on, each one off, all off, and others.
import { mplex } from '@libp2p/mplex'
import { yamux as stock } from '@libp2p/yamux'
import { systemClock } from '../../../src/host/clock.ts'
import { fullControl } from '../../../src/path-control.ts'
import { createConfig } from '../../../src/options/config.ts'
import { yamux } from '../../../src/index.ts'
import { YAMUX_PROTOCOL_ID, Muxer } from '../../../src/muxer/muxer.ts'
import type { CoalesceOptions, Lane, YamuxStream } from '../../../src/index.ts'
import type { Stream, StreamMuxerFactory } from '@libp2p/interface'

type CreateMuxer = () => StreamMuxerFactory

interface Lanes {
  urgent: Lane
  others: Lane
}

export interface Variant {
  id: string
  label: string
  /** Missing where the muxer has no lanes */
  lanes?: Lanes
  createMuxer: CreateMuxer
}

/** No stream's turn ends before its credit or its queue does */
const ENDLESS_TURN_BYTES = 2 ** 30

const LANES: Lanes = { urgent: 'urgent', others: 'bulk' }
const ADAPTIVE: CoalesceOptions = { strategy: 'adaptive' }
const FIXED_DELAY: CoalesceOptions = { strategy: 'delay', delayMs: 2 }

/** Levels of head-of-line blocking that are off, by number, are named by the id */
export const variants: Variant[] = [
  ours('all', 'all levels on', ADAPTIVE),
  ours('no-0', '0 off: no flush at once', ADAPTIVE, { urgent: 'normal', others: 'bulk' }),
  ours('no-1', '1 off: nothing reserved', { ...ADAPTIVE, reservedBytes: 0 }),
  ours('no-2', '2 off: no watermark', { ...ADAPTIVE, highWatermark: 1 }),
  { ...ours('no-3', '3 off: first come', ADAPTIVE), createMuxer: firstCome(ADAPTIVE) },
  ours('no-4', '4 off: one lane', ADAPTIVE, { urgent: 'urgent', others: 'urgent' }),
  ours('no-5', '5 off: fixed 2 ms', FIXED_DELAY),
  ours('no-6', '6 off: no bound', { ...ADAPTIVE, maxQueueDelayMs: Infinity }),
  {
    ...ours('none', 'all levels off', FIXED_DELAY, { urgent: 'normal', others: 'normal' }),
    createMuxer: firstCome({ ...FIXED_DELAY, highWatermark: 1, reservedBytes: 0 })
  },
  ours('turn', 'turn, with lanes', { strategy: 'turn' }),
  ours('turn-no-lanes', 'turn, no lanes set', { strategy: 'turn' }, { urgent: 'normal', others: 'normal' }),
  { id: 'stock', label: '@libp2p/yamux', createMuxer: stock() as CreateMuxer },
  // the default of mplex ends a connection that opens more than 5 streams a second
  { id: 'mplex', label: '@libp2p/mplex', createMuxer: mplex({ disconnectThreshold: 1_000_000 }) as CreateMuxer }
]

/** Of a stream of this project's muxer, as applications do it */
export function setLane (stream: Stream, lane: Lane): void {
  (stream as YamuxStream).priority = lane
}

function ours (id: string, label: string, coalesce: CoalesceOptions, lanes = LANES): Variant {
  return { id, label, lanes, createMuxer: yamux({ coalesce }) }
}

/** The largest frame is no option: a stream that is not interrupted is what the scheduler is there to prevent */
function firstCome (coalesce: CoalesceOptions): CreateMuxer {
  const config = { ...createConfig({ coalesce }), frameBytes: ENDLESS_TURN_BYTES }

  return () => ({
    protocol: YAMUX_PROTOCOL_ID,
    createStreamMuxer: maConn => new Muxer(maConn, config, systemClock, { createPathControl: fullControl() })
  })
}
