/**
 * The options of the muxer and of its streams: units, defaults and allowed ranges, and the settings that the muxer makes of them.
 */
import { HEADER_BYTES, INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_UINT32 } from '../core/wire/frame.ts'
import { coalesce, createCoalesceConfig, MAX_RECORDS, RECORD_BYTES } from './coalesce.ts'
import { limits } from './limits.ts'
import { createLaneOf } from './priority.ts'
import { check, choice, integer, number, optional, readSection, section } from './rules.ts'
import type { CreatePathControl } from '../core/path-control.ts'
import type { CoalesceOptions } from './coalesce.ts'
import type { LimitOptions } from './limits.ts'
import type { Priority } from './priority.ts'
import type { Rule } from './rules.ts'
import type { StreamMuxerOptions, StreamOptions } from '@libp2p/interface'

const WINDOW_UPDATE_MODES = ['onRead', 'onReceive'] as const

/**
 * When the peer may send more
 *
 * @useDeclaredType
 */
export type WindowUpdateMode = typeof WINDOW_UPDATE_MODES[number]

/** Options of each stream. */
export interface YamuxStreamOptions extends StreamOptions {
  /**
   * How much a peer may send on a stream before any of it is read here. From 262,144, which the protocol grants to every stream,
   * to 4,294,967,295. A stream that may have more than 262,144 says so when it opens.
   *
   * @unit bytes
   * @default 262_144
   */
  initialStreamWindowSize?: number

  /**
   * How far the window of a stream may grow. It grows while the application reads faster than the window lets the peer send.
   * From `initialStreamWindowSize` to 4,294,967,295.
   *
   * @unit bytes
   * @default `16_777_216`, or `initialStreamWindowSize` if that is more
   */
  maxStreamWindowSize?: number

  /**
   * Resets a stream that has carried no data for this long. It ends with an `InactivityTimeoutError`. 0 or `Infinity`: never.
   * `@libp2p/yamux` has 120,000 as its default, but does not act on it. Do not copy that: gossipsub's streams may be silent for
   * longer.
   *
   * @unit ms
   * @default Infinity
   */
  inactivityTimeout?: number

  /**
   * How much unread data a stream may have where its window does not limit it already. By default a slow reader makes its peer
   * wait, and is not reset. What this limits is
   *
   * - how far the window grows when both ends of a stream write and neither reads, as far as `maxStreamWindowSize` and
   *   `maxConnectionWindow` allow
   * - what the application puts back with `push()` and `unshift()` while it does not read, or in a `message` listener, if that is more than the window.
   *   Beyond it the stream is reset
   * - what a loop may miss while other readers of its stream go on. Beyond it the loop throws
   * - what a `@libp2p/yamux` peer may send on a stream because its own `initialStreamWindowSize` is larger than this side's, as
   *   much as `maxConnectionWindow` on all streams. Beyond it the connection ends
   * - all unread data with `windowUpdateMode: 'onReceive'`. Beyond it the stream is reset
   *
   * @unit bytes
   * @default 4_194_304
   */
  maxReadBufferLength?: number

  /**
   * How much a stream may queue when its writer goes on although `send()` returned `false`. Beyond it the stream is reset.
   *
   * @unit bytes
   * @default Infinity
   */
  maxWriteBufferLength?: number
}

/**
 * The options of `yamux()`. Names and meanings are those of `@libp2p/yamux`; `windowUpdateMode`, `maxConnectionWindow`, `priority`,
 * `coalesce` and `limits` are this muxer's own.
 */
export interface YamuxMuxerInit extends StreamMuxerOptions<YamuxStreamOptions> {
  /**
   * Whether to ping the peer at intervals, so that a dead connection is noticed. The first ping is sent immediately. The
   * connection ends with a `KeepAliveTimeoutError` when the peer sends nothing at all for two intervals with a ping in each, or
   * answers no ping for ten intervals.
   *
   * @default true
   */
  enableKeepAlive?: boolean

  /**
   * The time between two keep-alive pings. From 1 on. `Infinity` is the same as `enableKeepAlive: false`.
   *
   * @unit ms
   * @default 30_000
   */
  keepAliveInterval?: number

  /**
   * How many streams the peer may have open at a time. Those beyond are reset. It limits the memory that a peer can take: 256
   * KiB for each stream.
   *
   * @unit streams
   * @default 1_000
   */
  maxInboundStreams?: number

  /**
   * How many streams this side may have open at a time. Beyond them `newStream()` throws a
   * `TooManyOutboundProtocolStreamsError`. Streams that wait to be opened are not counted: ten are opened until the peer has answered
   * anything, then 256 that it has not acknowledged, and up to 10,000 more wait their turn. A rust-libp2p peer with its defaults ends the
   * connection at the 513th.
   *
   * @unit streams
   * @default 1_000
   */
  maxOutboundStreams?: number

  /**
   * How many streams the peer may open before anything listens for them, as while libp2p sets up the connection. They are
   * counted at the end of each turn of the event loop that brings some. One more ends the connection with a
   * `MaxEarlyStreamsError`.
   *
   * @unit streams
   * @default 10
   */
  maxEarlyStreams?: number

  /**
   * The largest payload of a frame. From 1,024 on; more than 65,536 takes effect on a fast connection only. A larger message is
   * sent as several frames.
   *
   * @unit bytes
   * @default `16_384`, or `65_507` for a stream that has the connection to itself; on a fast connection what it carries in a millisecond, up to `1_048_292`
   */
  maxMessageSize?: number

  /**
   * When the peer may send more.
   *
   * - `'onRead'`: when the application has read, so that a slow reader makes its sender wait
   * - `'onReceive'`: when data arrives, so that a stream with more than `streamOptions.maxReadBufferLength` unread is reset
   *
   * @default 'onRead'
   */
  windowUpdateMode?: WindowUpdateMode

  /**
   * How much all receive windows of a connection may grow, taken together. What they begin with is not counted. One stream may
   * have all of it, as far as `streamOptions.maxStreamWindowSize` allows; when others need some, they share. By default that is
   * half: 16 MiB carry 1 Gbit/s at a round trip of 100 ms. An eighth is kept for streams that are denied their share, so that readers that
   * stand still do not slow those that come later.
   * Where credit takes more than 4 ms to travel, the window of a new stream has a head start, of up to 1,088 KiB at most. A
   * stock peer may send as much once more on windows of its own that nobody gave it. So no peer can make a connection hold more than twice
   * this and what each stream's window begins with, 262,144 bytes by default.
   *
   * @unit bytes
   * @default `2 * streamOptions.maxStreamWindowSize`
   */
  maxConnectionWindow?: number

  /**
   * Which protocols go first, and which can wait. A table from pattern to lane, as in `{ '/chat/*': 'urgent' }`, or a function
   * `(protocol) => lane`. The table is read from the top, and `*` stands for any characters.
   *
   * - `'urgent'`: overtakes everything else. For small messages: within a stream nothing overtakes, so megabytes on an urgent
   *   stream wait behind each other
   * - `'normal'`: what is named nowhere
   * - `'bulk'`: lets everything else go first
   *
   * Within a lane, streams take fair turns. No lane starves: it sends one frame for every 128 KiB that overtakes it, on a fast
   * connection for every eight milliseconds of data. A stream gets its lane when libp2p agrees on its protocol, and
   * `stream.priority` changes it. A lane that does not exist throws an `InvalidParametersError`: immediately if it is in a
   * table, or when the function answers.
   *
   * @default `'normal'` for every protocol
   */
  priority?: Priority

  /**
   * Whether the buffers of large transfers are freed by cheap collections, on Node 24 and newer. While 16 KiB or more are read or written at
   * once, the muxer fills the young generation of V8's heap when it is due, which takes up to 1.2 ms at a time. That concerns the whole
   * process: turn it off where others tune V8. [Tuning Node](../../docs/tuning-node.md#the-young-generation)
   *
   * @default true
   */
  tuneGarbageCollection?: boolean

  /**
   * Decides how much may be in flight, in place of the muxer's own control. Called once for each connection. Experimental: the interface may change
   * in any version. [A control of your own](../../docs/path-control.md)
   *
   * @default `fullControl()` of `libp2p-coalescing-yamux/path-control`; none in `libp2p-coalescing-yamux/light`
   */
  pathControl?: CreatePathControl

  /** Options of each stream */
  streamOptions?: YamuxStreamOptions

  /** How small writes are gathered into large ones */
  coalesce?: CoalesceOptions

  /** What a peer may cost beyond what its windows allow, in frames and in time */
  limits?: LimitOptions
}

/**
 * While streams contend frames are small, so that each gets its turn soon (HTTP/2's default; 0.07 %
 * of overhead). A frame that nobody waits behind may fill a Noise record: it costs both sides a third less.
 */
const FRAME_BYTES = 16_384
const LONE_FRAME_BYTES = RECORD_BYTES - HEADER_BYTES
/** rust-yamux and jvm-libp2p end the connection at a frame beyond 1 MiB. With its header it fills the largest write. */
const LONGEST_FRAME_BYTES = MAX_RECORDS * RECORD_BYTES - HEADER_BYTES

/** @libp2p/yamux keeps so many for a program that does not listen yet (its `maxEarlyStreams`), and ends the connection at the next */
const MAX_UNANSWERED_STREAMS = 10

/** What one stream may do before it is reset */
const STREAM_LIMITS = {
  // @libp2p/yamux says 120,000 and never acts on it: gossipsub's streams, which it does not open anew, are silent for
  // longer between peers that share no topic
  inactivityTimeout: number(Infinity),
  maxReadBufferLength: number(4_194_304),
  maxWriteBufferLength: number(Infinity)
}

const LIMIT_NAMES = Object.keys(STREAM_LIMITS) as Array<keyof typeof STREAM_LIMITS>

export type StreamLimits = Required<StreamOptions>

const maxConnectionWindow: Rule<number> = (value, name, { streamOptions }) => integer(2 * streamOptions.maxStreamWindowSize)(value, name)

const pathControl: Rule<CreatePathControl | undefined> = optional((value, name) => {
  check(typeof value === 'function', name, value, 'a function that makes a PathControl')

  return value
})

const OPTIONS = {
  enableKeepAlive: choice(true, false),
  keepAliveInterval: number(30_000, 1),
  maxInboundStreams: number(1000),
  maxOutboundStreams: number(1000),
  maxEarlyStreams: number(10),
  maxMessageSize: optional(integer(undefined, 1024)),
  windowUpdateMode: choice(...WINDOW_UPDATE_MODES),
  streamOptions: section({
    initialStreamWindowSize: integer(INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES, MAX_UINT32),
    maxStreamWindowSize: (value, name, { initialStreamWindowSize: initial }) => integer(Math.max(initial, 16_777_216), initial, MAX_UINT32)(value, name),
    ...STREAM_LIMITS
  }),
  maxConnectionWindow,
  tuneGarbageCollection: choice(true, false),
  priority: createLaneOf,
  pathControl,
  coalesce,
  limits
}

/** Of a stream that is being opened; what is left out is the muxer's. Throws InvalidParametersError for a value out of range. */
export function createStreamLimits (init: StreamOptions, defaults: StreamLimits): StreamLimits {
  let limits = defaults

  for (const name of LIMIT_NAMES) {
    if (init[name] != null) {
      limits = { ...limits, [name]: STREAM_LIMITS[name](init[name], name) }
    }
  }

  return limits
}

/**
 * Fills in the defaults. Throws InvalidParametersError for a value out of range, and for what is no option within one; what is
 * none beside them may be somebody else's, and is reported.
 */
export function createConfig (init: YamuxMuxerInit, onUnknown: (report: string) => void = () => {}) {
  const { maxMessageSize, windowUpdateMode, maxConnectionWindow, priority, coalesce, ...options } = readSection(OPTIONS, init, '', onUnknown)
  const frameBytes = (byDefault: number, mostBytes = MAX_FRAME_BYTES): number => Math.min(mostBytes, maxMessageSize ?? byDefault)

  return {
    ...options,
    ...createCoalesceConfig(coalesce),
    maxUnansweredStreams: MAX_UNANSWERED_STREAMS,
    frameBytes: frameBytes(FRAME_BYTES),
    loneFrameBytes: frameBytes(LONE_FRAME_BYTES),
    maxFrameBytes: frameBytes(Infinity, LONGEST_FRAME_BYTES),
    creditsOnReceipt: windowUpdateMode === 'onReceive',
    maxGrowthBytes: maxConnectionWindow,
    maxToleratedBytes: options.streamOptions.maxReadBufferLength - INITIAL_WINDOW_BYTES,
    laneOf: priority
  }
}

export type Config = ReturnType<typeof createConfig>
