/**
 * The options of the muxer and of its streams: units, defaults and allowed ranges, and the settings that follow from them.
 */
import { NodeBudget } from '../core/window/node-budget.ts'
import { HEADER_BYTES, INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_UINT32 } from '../core/wire/frame.ts'
import { coalesce, createCoalesceConfig, MAX_RECORDS, RECORD_BYTES } from './coalesce.ts'
import { limits } from './limits.ts'
import { createLaneOf } from './priority.ts'
import { check, checkObject, choice, integer, number, optional, readSection, section } from './rules.ts'
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
   * How much unread data a stream may have if its window does not limit it already. By default a slow reader makes its peer wait,
   * and its stream is not reset. This option limits
   *
   * - how far the window grows when both ends of a stream write and neither reads, as far as `maxStreamWindowSize` and
   *   `maxConnectionWindow` allow
   * - unread data when the application puts some back with `push()` or `unshift()`, in a `message` listener or while it does not
   *   read. The limit is the window if that is larger. Beyond it the stream is reset
   * - the data that a loop misses while other readers of its stream go on. Beyond it the loop throws
   * - the data that a `@libp2p/yamux` peer sends beyond its window because its own `initialStreamWindowSize` is larger than this
   *   side's. On all streams of a connection together the limit is `maxConnectionWindow`. Beyond either the connection ends
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
 * `tuneGarbageCollection`, `pathControl`, `coalesce` and `limits` are this muxer's own.
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
   * `TooManyOutboundProtocolStreamsError`. Calls of `newStream()` wait while ten streams are open and the peer has not answered at all
   * yet, or while it has 256 to acknowledge. Up to 10,000 may wait. A call that has waited throws too if this many streams are open
   * by then. A rust-libp2p peer with its defaults ends the connection at the 513th stream.
   *
   * @unit streams
   * @default 1_000
   */
  maxOutboundStreams?: number

  /**
   * How many streams the peer may open before a listener for them is added, while libp2p sets up the connection. They are
   * counted at the end of each turn of the event loop that brings some. One more ends the connection with a
   * `MaxEarlyStreamsError`.
   *
   * @unit streams
   * @default 10
   */
  maxEarlyStreams?: number

  /**
   * The largest payload of a frame. A larger message is sent as several frames. From 1,024 on; more than 65,536 takes effect on a
   * fast connection only.
   *
   * Left out:
   *
   * - 65,507 for a stream that has the connection to itself, or if bytes in flight have no bound
   * - what the connection carries in a millisecond, up to 1,048,292, if it is fast
   * - otherwise 16,384
   *
   * @unit bytes
   * @default `16_384`, and more for a lone stream or on a fast connection
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
   * How much the receive windows of a connection may grow in total, beyond their initial sizes. One stream may use all of it, as far
   * as `streamOptions.maxStreamWindowSize` allows, until others need some. By default it may use half: 16 MiB carry 1 Gbit/s at a
   * round trip of 100 ms. An eighth is kept for streams whose windows could not grow otherwise, so that stalled readers do not slow
   * later streams. If credit takes more than 4 ms to travel, a new stream gets a head start, and its window is up to 1,088 KiB,
   * unless this side sends bulk.
   *
   * A stock peer may exceed its windows by the same amount in total. So no peer can make a connection hold more than twice this, and
   * the initial window of each stream, 262,144 bytes by default.
   *
   * @unit bytes
   * @default `2 * streamOptions.maxStreamWindowSize`
   */
  maxConnectionWindow?: number

  /**
   * Which protocols go first, and which can wait. A table from pattern to lane, as in `{ '/chat/*': 'urgent' }`, or a function
   * `(protocol) => lane`. The table is read from the top, and `*` stands for any characters.
   *
   * - `'urgent'`: overtakes everything else. For small messages: data of one stream stays in order, so megabytes on an urgent
   *   stream delay what follows on it
   * - `'normal'`: all protocols that are not named
   * - `'bulk'`: lets everything else go first
   *
   * Within a lane, all streams that can send get the same part of the bandwidth. No lane starves: a waiting lane sends one frame for every 128 KiB that
   * overtakes it, on a fast connection for every eight milliseconds of data. A stream gets its lane when its protocol is negotiated,
   * and `stream.priority` changes it. A lane that does not exist throws an `InvalidParametersError`: immediately if it is in a
   * table, or when the function returns it.
   *
   * @default `'normal'` for every protocol
   */
  priority?: Priority

  /**
   * Whether the buffers of large transfers are freed by cheap collections, on Node 24 and newer. While chunks or writes of 16 KiB or
   * more pass, the muxer fills the young generation of V8's heap from time to time. Each time takes up to 1.2 ms. That affects the
   * whole process: turn it off if other code tunes V8. [Tuning Node](../../docs/tuning-node.md#the-young-generation)
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

  /** Limits on a peer in addition to its windows, in frames and in time, and on all windows of a node */
  limits?: LimitOptions
}

/**
 * If several streams send, frames are small, so that none waits long for its quantum (HTTP/2's default; 0.07 % of overhead). The frame of a
 * lone stream may fill a Noise record, which costs both sides less.
 */
const FRAME_BYTES = 16_384
const LONE_FRAME_BYTES = RECORD_BYTES - HEADER_BYTES
/** rust-yamux and jvm-libp2p end the connection at a frame beyond 1 MiB. With its header it fills the largest write. */
const LONGEST_FRAME_BYTES = MAX_RECORDS * RECORD_BYTES - HEADER_BYTES

/** The default of `maxEarlyStreams` in @libp2p/yamux, which ends the connection at the next stream before it has a listener */
const MAX_UNANSWERED_STREAMS = 10

/** Beyond these a stream is reset */
const STREAM_LIMITS = {
  // @libp2p/yamux has 120,000 and never acts on it. gossipsub's streams, which it does not reopen, are silent for longer between peers that
  // have no topic in common.
  inactivityTimeout: number(Infinity),
  maxReadBufferLength: number(4_194_304),
  maxWriteBufferLength: number(Infinity)
}

const LIMIT_NAMES = Object.keys(STREAM_LIMITS) as Array<keyof typeof STREAM_LIMITS>

export type StreamLimits = Required<StreamOptions>

const maxConnectionWindow: Rule<number> = (value, name, { streamOptions }) => integer(2 * streamOptions.maxStreamWindowSize)(value, name)

const pathControl: Rule<CreatePathControl | undefined> = optional((create, name) => {
  check(typeof create === 'function', name, create, 'a function that makes a PathControl')

  return (init, positions) => {
    const control = create(init, positions)
    // not `fullControl` in place of `fullControl()`
    check(typeof control === 'object' && control !== null, `what ${name} returns`, control, 'a PathControl')

    return control
  }
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

/** The limits of a new stream, with the muxer's as defaults. Throws InvalidParametersError for a value out of range. */
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
 * Fills in the defaults. Throws InvalidParametersError for a value out of range, and for an unknown name within a section. An unknown name
 * beside the sections may be an option of another muxer, and is reported.
 */
export function createConfig (init: YamuxMuxerInit, onUnknown: (report: string) => void = () => {}) {
  checkObject(init, 'init')
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
    // Infinity less its reserve would be no number
    maxGrowthBytes: Math.min(maxConnectionWindow, Number.MAX_SAFE_INTEGER),
    nodeBudget: new NodeBudget(options.limits.maxNodeWindow),
    maxToleratedBytes: options.streamOptions.maxReadBufferLength - INITIAL_WINDOW_BYTES,
    laneOf: priority
  }
}

export type Config = ReturnType<typeof createConfig>
