/**
 * The options of the muxer and of its streams: units, defaults and allowed ranges. Coalescing, limits and lanes have files of their own.
 */
import { INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_UINT32 } from '../core/wire/frame.ts'
import { createCoalesceConfig } from './coalesce.ts'
import { createLimitConfig } from './limits.ts'
import { OptionReader } from './option-reader.ts'
import { createLaneOf } from './priority.ts'
import type { CoalesceConfig, CoalesceOptions } from './coalesce.ts'
import type { LimitConfig, LimitOptions } from './limits.ts'
import type { LaneOf, Priority } from './priority.ts'
import type { StreamMuxerOptions, StreamOptions } from '@libp2p/interface'

const WINDOW_UPDATE_MODES = ['onRead', 'onReceive'] as const

export type WindowUpdateMode = typeof WINDOW_UPDATE_MODES[number]

export interface YamuxStreamOptions extends StreamOptions {
  /**
   * What the peer may send on a stream before this side has read any of it, in
   * bytes. More than 262,144 is advertised with the SYN or ACK of each stream.
   *
   * @default 262_144
   */
  initialStreamWindowSize?: number

  /**
   * What that may grow to, in bytes
   *
   * @default 16_777_216
   */
  maxStreamWindowSize?: number

  /**
   * A stream that carries no data for so long is reset, in milliseconds; 0 or Infinity: never
   *
   * @default Infinity
   */
  inactivityTimeout?: number

  /**
   * What the application may push back onto a stream, in bytes; beyond it the stream is reset. What the peer
   * sends is bounded by its window, but under `windowUpdateMode: 'onReceive'` by this. A stream that both ends write to
   * before they read gets a window of up to so much, out of `maxConnectionWindow`.
   *
   * @default 4_194_304
   */
  maxReadBufferLength?: number

  /**
   * What may be queued on a stream by a writer that goes on although `send()` returned false, in bytes; beyond
   * it the stream is reset
   *
   * @default Infinity
   */
  maxWriteBufferLength?: number
}

export interface YamuxMuxerInit extends StreamMuxerOptions<YamuxStreamOptions> {
  /**
   * Ping the peer at an interval, the first time at once. When it stays silent for two of them, or answers no ping
   * for ten, the connection is ended with a KeepAliveTimeoutError.
   *
   * @default true
   */
  enableKeepAlive?: boolean

  /**
   * In milliseconds; Infinity: no keep-alive
   *
   * @default 30_000
   */
  keepAliveInterval?: number

  /**
   * The largest payload of one frame, in bytes. Larger messages are sent as several
   * frames, smaller ones of a stream share one. More than 65,536 counts as 65,536.
   *
   * @default 16_384 while streams contend, 65_507 for a stream that has the connection to itself
   */
  maxMessageSize?: number

  /**
   * When the peer gets credit for more: `onRead`, as the application reads, so that a slow reader holds its
   * sender back; `onReceive`, as data arrives, so that a stream is reset when more than
   * `maxReadBufferLength` is unread.
   *
   * @default 'onRead'
   */
  windowUpdateMode?: WindowUpdateMode

  /**
   * What all receive windows of a connection may grow by together beyond 262,144 bytes each, in bytes. One
   * stream may have all of it; when others need it too they share. By default it is what one stream can use: 16 MiB
   * carry 1 Gbit/s at 100 ms, on one stream or ten, and no peer can make a connection hold more than that beyond
   * the 262,144 bytes a stream that the protocol grants.
   *
   * @default `maxStreamWindowSize`
   */
  maxConnectionWindow?: number

  /**
   * How small writes are gathered into large ones
   */
  coalesce?: CoalesceOptions

  /**
   * The lane of each protocol's streams: 'urgent' goes first and is written at once, 'bulk' goes last. A
   * table from pattern to lane, as in `{ '/meshsub/*': 'urgent' }`, or a function. Others are 'normal'.
   */
  priority?: Priority

  /**
   * What a peer may cost beyond what its windows allow, in frames and in time. See SECURITY.md.
   */
  limits?: LimitOptions
}

export interface Config extends CoalesceConfig {
  enableKeepAlive: boolean
  keepAliveInterval: number
  maxInboundStreams: number
  maxOutboundStreams: number
  maxEarlyStreams: number
  frameBytes: number
  loneFrameBytes: number
  creditsOnReceipt: boolean
  maxGrowthBytes: number
  streamOptions: Required<YamuxStreamOptions>
  laneOf: LaneOf
  limits: LimitConfig
}

/**
 * While streams contend frames are small, so that each gets its turn soon (HTTP/2's default; 0.07 %
 * of overhead). A frame that nobody waits behind may fill a Noise record: it costs both sides a third less.
 */
const FRAME_BYTES = 16_384
const LONE_FRAME_BYTES = 65_507
const MIN_FRAME_BYTES = 1024

/** What one stream may do before it is reset */
export type StreamLimits = Required<StreamOptions>

const STREAM_LIMITS: StreamLimits = {
  // @libp2p/yamux says 120,000 and never acts on it: gossipsub's streams, which it does not open anew, are silent for
  // longer between peers that share no topic
  inactivityTimeout: Infinity,
  maxReadBufferLength: 4_194_304,
  maxWriteBufferLength: Infinity
}

/** Of a stream that is being opened; what is left out is the muxer's. Throws InvalidParametersError for a value out of range. */
export function createStreamLimits (init: StreamOptions, defaults: StreamLimits): StreamLimits {
  return readStreamLimits(new OptionReader(init), defaults)
}

function readStreamLimits (options: OptionReader<StreamOptions>, defaults: StreamLimits): StreamLimits {
  const limit = (name: keyof StreamOptions): number => options.number(name, defaults[name], 0, Infinity)

  return {
    inactivityTimeout: limit('inactivityTimeout'),
    maxReadBufferLength: limit('maxReadBufferLength'),
    maxWriteBufferLength: limit('maxWriteBufferLength')
  }
}

/**
 * Fills in the defaults. Throws InvalidParametersError for a value out of range, and for what is no option within one; what is
 * none beside them may be somebody else's, and is reported.
 */
export function createConfig (init: YamuxMuxerInit, onUnknown: (report: string) => void = () => {}): Config {
  const options = new OptionReader(init, '', [])
  const streamOptions = options.section('streamOptions', createStreamConfig)
  const frameBytes = (byDefault: number): number => Math.min(MAX_FRAME_BYTES, options.integer('maxMessageSize', byDefault, MIN_FRAME_BYTES, Infinity))

  const config: Config = {
    enableKeepAlive: options.boolean('enableKeepAlive', true),
    keepAliveInterval: options.number('keepAliveInterval', 30_000, 1, Infinity),
    maxInboundStreams: options.number('maxInboundStreams', 1000, 0, Infinity),
    maxOutboundStreams: options.number('maxOutboundStreams', 1000, 0, Infinity),
    maxEarlyStreams: options.number('maxEarlyStreams', 10, 0, Infinity),
    frameBytes: frameBytes(FRAME_BYTES),
    loneFrameBytes: frameBytes(LONE_FRAME_BYTES),
    creditsOnReceipt: options.choice('windowUpdateMode', 'onRead', WINDOW_UPDATE_MODES) === 'onReceive',
    maxGrowthBytes: options.integer('maxConnectionWindow', streamOptions.maxStreamWindowSize, 0, Infinity),
    ...options.section('coalesce', createCoalesceConfig),
    streamOptions,
    laneOf: createLaneOf(options.value('priority')),
    limits: options.section('limits', createLimitConfig)
  }
  options.reportUnknown(onUnknown)

  return config
}

function createStreamConfig (options: OptionReader<YamuxStreamOptions>): Required<YamuxStreamOptions> {
  const initialStreamWindowSize = options.integer('initialStreamWindowSize', INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES, MAX_UINT32)

  return {
    initialStreamWindowSize,
    maxStreamWindowSize: options.integer('maxStreamWindowSize', Math.max(initialStreamWindowSize, 16_777_216), initialStreamWindowSize, MAX_UINT32),
    ...readStreamLimits(options, STREAM_LIMITS)
  }
}
