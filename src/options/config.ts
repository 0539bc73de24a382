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

/**
 * When the peer gets credit for more
 *
 * @useDeclaredType
 */
export type WindowUpdateMode = typeof WINDOW_UPDATE_MODES[number]

/** What holds for each stream. */
export interface YamuxStreamOptions extends StreamOptions {
  /**
   * What a peer may send on a stream before any of it is read here. From 262,144, which the protocol grants to every stream,
   * to 4,294,967,295. More than 262,144 is advertised when the stream opens.
   *
   * @unit bytes
   * @default 262_144
   */
  initialStreamWindowSize?: number

  /**
   * What that may grow to, while the application reads faster than the window lets the peer send. From `initialStreamWindowSize`
   * to 4,294,967,295.
   *
   * @unit bytes
   * @default `16_777_216`, or `initialStreamWindowSize` if that is more
   */
  maxStreamWindowSize?: number

  /**
   * A stream that carries no data for so long is reset with an `InactivityTimeoutError`. 0 or `Infinity`: never. `@libp2p/yamux` says 120,000
   * and does not act on it; gossipsub, whose streams may be silent for longer, relies on that.
   *
   * @unit ms
   * @default Infinity
   */
  inactivityTimeout?: number

  /**
   * A stream that is slow to read is not reset: its window makes the peer wait. This bounds what a window does not:
   *
   * - what a window grows to when both ends of a stream write and neither reads, as far as `maxStreamWindowSize` and
   *   `maxConnectionWindow` allow
   * - what the application puts back with `push()` and `unshift()` while it does not read, if that is more than the window; beyond it
   *   the stream is reset
   * - what a loop may miss while others read on; beyond it the loop throws
   * - with `windowUpdateMode: 'onReceive'`, all that is unread; beyond it the stream is reset
   *
   * @unit bytes
   * @default 4_194_304
   */
  maxReadBufferLength?: number

  /**
   * What may be queued on a stream by a writer that goes on although `send()` returned `false`. Beyond it the stream is reset.
   *
   * @unit bytes
   * @default Infinity
   */
  maxWriteBufferLength?: number
}

/**
 * What `yamux()` takes. Names and meanings are those of `@libp2p/yamux`, which has no `windowUpdateMode`, `maxConnectionWindow`, `priority`,
 * `coalesce` and `limits`.
 */
export interface YamuxMuxerInit extends StreamMuxerOptions<YamuxStreamOptions> {
  /**
   * Ping the peer at an interval, the first time at once. The connection ends with a `KeepAliveTimeoutError` when the peer sends
   * nothing at all for two intervals, each with a ping in it, or answers no ping for ten.
   *
   * @default true
   */
  enableKeepAlive?: boolean

  /**
   * How long it is from one of these pings to the next, from 1 on. `Infinity` is the same as `enableKeepAlive: false`.
   *
   * @unit ms
   * @default 30_000
   */
  keepAliveInterval?: number

  /**
   * How many streams of the peer may be open at once. Those beyond are reset.
   *
   * @unit streams
   * @default 1_000
   */
  maxInboundStreams?: number

  /**
   * How many streams of this side may be open at once. Beyond them `newStream()` throws a `TooManyOutboundProtocolStreamsError`. A
   * rust-libp2p peer with its defaults ends the connection at the 513th.
   *
   * @unit streams
   * @default 1_000
   */
  maxOutboundStreams?: number

  /**
   * How many streams of the peer may be open that nobody listens for yet, as while libp2p sets up the connection. They are counted at the
   * end of each turn of the event loop that brings some. One more ends the connection with a `MaxEarlyStreamsError`.
   *
   * @unit streams
   * @default 10
   */
  maxEarlyStreams?: number

  /**
   * The largest payload of a frame, from 1,024 on; what is beyond 65,536 counts on a fast path only. A message that is larger is sent as
   * several frames.
   *
   * @unit bytes
   * @default `16_384`, or `65_507` for a stream that has the connection to itself; on a fast path what it carries in a millisecond, up to `1_048_292`
   */
  maxMessageSize?: number

  /**
   * When the peer gets credit for more.
   *
   * - `'onRead'`: as the application reads, so that a slow reader makes its sender wait
   * - `'onReceive'`: as data arrives, so that a stream with more than `streamOptions.maxReadBufferLength` unread is reset
   *
   * @default 'onRead'
   */
  windowUpdateMode?: WindowUpdateMode

  /**
   * What all receive windows of a connection may grow by together, beyond what they begin with. One stream may have all of it; when
   * others need some, they share. The default is what one stream can use: 16 MiB carry 1 Gbit/s at 100 ms, on one stream or ten. No
   * peer can make a connection hold more than that beyond the 262,144 bytes a stream that the protocol grants.
   *
   * @unit bytes
   * @default `streamOptions.maxStreamWindowSize`
   */
  maxConnectionWindow?: number

  /**
   * The lane of each protocol's streams: a table from pattern to lane, as in `{ '/meshsub/*': 'urgent' }`, or a function
   * `(protocol) => lane`. The table is read from the top, and `*` stands for any characters.
   *
   * - `'urgent'`: asks for a write at once, and leads it; for what is small, as megabytes on one stream wait behind each other in any lane
   * - `'normal'`: all that nothing is said about
   * - `'bulk'`: what can wait for the others
   *
   * Within a lane streams take fair turns. A lower lane sends one frame for every 128 KiB that overtakes it, on a fast path for every eight
   * milliseconds of data, so none starves. A stream gets its lane when libp2p agrees on its protocol, and may be given another with `stream.priority`. A lane that
   * does not exist throws an `InvalidParametersError`: in a table at once, from a function when it answers.
   *
   * @default `'normal'` for every protocol
   */
  priority?: Priority

  /** What holds for each stream */
  streamOptions?: YamuxStreamOptions

  /** How small writes are gathered into large ones */
  coalesce?: CoalesceOptions

  /** What a peer may cost beyond what its windows allow, in frames and in time */
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
  maxFrameBytes: number
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
/** rust-yamux and jvm-libp2p end the connection at a frame beyond 1 MiB. With its header it fills the largest write. */
const LONGEST_FRAME_BYTES = 1_048_292
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
  const isLikeAll = init.inactivityTimeout == null && init.maxReadBufferLength == null && init.maxWriteBufferLength == null

  return isLikeAll ? defaults : readStreamLimits(new OptionReader(init), defaults)
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
  const frameBytes = (byDefault: number, mostBytes = MAX_FRAME_BYTES): number => Math.min(mostBytes, options.integer('maxMessageSize', byDefault, MIN_FRAME_BYTES, Infinity))

  const config: Config = {
    enableKeepAlive: options.boolean('enableKeepAlive', true),
    keepAliveInterval: options.number('keepAliveInterval', 30_000, 1, Infinity),
    maxInboundStreams: options.number('maxInboundStreams', 1000, 0, Infinity),
    maxOutboundStreams: options.number('maxOutboundStreams', 1000, 0, Infinity),
    maxEarlyStreams: options.number('maxEarlyStreams', 10, 0, Infinity),
    frameBytes: frameBytes(FRAME_BYTES),
    loneFrameBytes: frameBytes(LONE_FRAME_BYTES),
    maxFrameBytes: frameBytes(Infinity, LONGEST_FRAME_BYTES),
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
