/**
 * All options: their units, defaults, allowed ranges and conflicts, and the settings that the muxer makes of them.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { LANES, NORMAL } from '../core/scheduler/lane.ts'
import { INITIAL_WINDOW_BYTES, MAX_FRAME_BYTES, MAX_UINT32 } from '../core/wire/frame.ts'
import { anyOf, check, choice, integer, number, optional, readSection, section } from './rules.ts'
import type { Limit, Limits } from '../core/peer-limits.ts'
import type { Lane } from '../core/scheduler/lane.ts'
import type { Rule } from './rules.ts'
import type { StreamMuxerOptions, StreamOptions } from '@libp2p/interface'

/**
 * A table from protocol pattern to lane, in which `*` stands for any characters and the first
 * pattern that fits counts, or a function. What neither knows is 'normal'.
 */
export type Priority = Record<string, Lane> | ((protocol: string) => Lane | undefined)

const isLane = choice(...LANES)

/** The place of a protocol's lane among the LANES */
export type LaneOf = (protocol: string) => number

/** Throws InvalidParametersError for an unknown lane: of a table at once, of a function when it answers */
export function createLaneOf (priority: Priority = {}): LaneOf {
  if (typeof priority === 'function') {
    return protocol => toLaneIndex(priority(protocol) ?? 'normal', `priority(${JSON.stringify(protocol)})`)
  }

  check(typeof priority === 'object', 'priority', priority, 'a table from protocol pattern to lane, or a function')
  const patterns = Object.entries(priority).map(([pattern, lane]) => ({
    matcher: toMatcher(pattern),
    lane: toLaneIndex(lane, `priority[${JSON.stringify(pattern)}]`)
  }))

  return protocol => patterns.find(({ matcher }) => matcher.test(protocol))?.lane ?? NORMAL
}

/** Throws InvalidParametersError; `name` is what the user calls it */
export function toLaneIndex (lane: Lane, name: string): number {
  return LANES.indexOf(isLane(lane, name))
}

function toMatcher (pattern: string): RegExp {
  const literals = pattern.split('*').map(literal => literal.replace(/[\\^$.|?+()[\]{}]/g, '\\$&'))

  return new RegExp(`^${literals.join('.*')}$`, 's')
}

/**
 * What a peer may cost beyond what its windows allow, in frames and in time. [SECURITY.md](../../SECURITY.md) has the reasons. Beyond a
 * number of frames or streams the connection ends, with all its streams and a `ProtocolError` whose code names the limit.
 */
export interface LimitOptions extends Partial<Record<keyof Limits, Partial<Limit>>> {
  /**
   * How many pings the peer may send. Each is answered.
   *
   * @unit pings
   * @default { burst: 10_000, perSecond: 1_000 }
   */
  pings?: Partial<Limit>

  /**
   * How many streams the peer may reset within a second of opening them.
   *
   * @unit streams
   * @default { burst: 10_000, perSecond: 200 }
   */
  resets?: Partial<Limit>

  /**
   * How many frames that change nothing the peer may send: without payload, credit, a first ACK or FIN, or a pong that was asked
   * for.
   *
   * @unit frames
   * @default { burst: 10_000, perSecond: 1_000 }
   */
  emptyFrames?: Partial<Limit>

  /**
   * How many streams the peer may open that this side refuses. These are the ones beyond `maxInboundStreams`, and those that the
   * application aborts within a second.
   *
   * @unit streams
   * @default { burst: 10_000, perSecond: 1_000 }
   */
  refusedStreams?: Partial<Limit>

  /**
   * How many frames the peer may send for streams that are not open. Those that may have been in flight when the stream ended here are not
   * counted: what its window still allowed, and an update for each frame that the peer was sent.
   *
   * @unit frames
   * @default { burst: 100_000, perSecond: 10_000 }
   */
  unknownStreamFrames?: Partial<Limit>

  /**
   * How long the peer may take to acknowledge a stream that this side has opened. Then the stream is reset with an
   * `OpenTimeoutError`. From 1 on.
   *
   * @unit ms
   * @default 75_000
   */
  openTimeoutMs?: number

  /**
   * How long a stream that this side has closed for writing may be silent. Then it is reset with a `CloseTimeoutError`. From 1
   * on. A subscription that you close for writing, and that may be silent for longer, needs more.
   *
   * @unit ms
   * @default 300_000
   */
  closeTimeoutMs?: number

  /**
   * How long a transport may accept no data. The connection ends with a `WriteTimeoutError` if the peer gives neither a pong nor
   * credit meanwhile. From 1 on.
   *
   * @unit ms
   * @default 60_000
   */
  writeTimeoutMs?: number
}

/**
 * What answers or ignores a frame in well under a microsecond may come often: a thousand a second cost
 * less than a hundredth of a core. Resets also cost the application. nghttp2 allows 1,000 and 33 a second, which an application
 * that gives up 50 requests a second, or asks 1,500 times for a protocol that the peer does not have, is beyond.
 */
const CHEAP: Limit = { burst: 10_000, perSecond: 1000 }
const RESETS: Limit = { burst: 10_000, perSecond: 200 }
/** What a fast sender has under way over a long path when its stream is reset: 30 frames a millisecond for 300 ms */
const UNDER_WAY: Limit = { burst: 100_000, perSecond: 10_000 }

/** Rates are multiplied by time, which Infinity would not survive; beyond this there is none */
const MAX_PER_SECOND = 1e9

function limit (byDefault: Limit): Rule<Limit> {
  return section({ burst: number(byDefault.burst), perSecond: number(byDefault.perSecond, 0, MAX_PER_SECOND) })
}

export const limits = section({
  pings: limit(CHEAP),
  resets: limit(RESETS),
  emptyFrames: limit(CHEAP),
  refusedStreams: limit(CHEAP),
  unknownStreamFrames: limit(UNDER_WAY),
  // hashicorp/yamux gives the first two; it gives a write 10 s, which a suspended laptop exceeds. As long as two keep-alive intervals.
  openTimeoutMs: number(75_000, 1),
  closeTimeoutMs: number(300_000, 1),
  writeTimeoutMs: number(60_000, 1)
})

export type LimitConfig = ReturnType<typeof limits>

const STRATEGIES = ['turn', 'delay', 'adaptive', 'off'] as const

/**
 * When gathered output is written
 *
 * @useDeclaredType
 */
export type Strategy = typeof STRATEGIES[number]

/** Whether messages of one stream share frames and events: when there is a backlog, whenever several wait, or never */
export type MergeMessages = 'backlog' | boolean

/**
 * How small writes are gathered into large ones. An option that has no effect with the chosen `strategy` throws an `InvalidParametersError`.
 */
export interface CoalesceOptions {
  /**
   * When gathered output is written.
   *
   * - `'turn'`: when the running code, and the microtasks that it leads to, have no more output. After three writes in a turn of
   *   the event loop the rest leaves together in the next turn. What a message leaves behind full writes waits one turn for the
   *   next message of a file. There are no timers, and a lone message does not wait. Best for most.
   * - `'delay'`: after `delayMs`, or when `highWatermark` is reached. For programs where few writes matter more than a
   *   millisecond.
   * - `'adaptive'`: like `'delay'`, but after a quarter of the measured round trip, and after `maxDelayMs` at the latest
   * - `'off'`: each frame immediately and by itself, as `@libp2p/yamux` does
   *
   * With any of them, control frames and urgent streams ask for a write immediately, and what waits goes with it.
   *
   * @default `'turn'`, or `'delay'` when `delayMs` is given, or `'adaptive'` when `maxDelayMs` is
   */
  strategy?: Strategy

  /**
   * How long `strategy: 'delay'` lets data wait for more. Up to 1,000. 0 is the same as `strategy: 'off'`. A delay that is
   * shorter than timers can measure, 1 ms in Node and 4 ms in browsers, ends with the turn of the event loop.
   *
   * @unit ms
   * @default 2
   */
  delayMs?: number

  /**
   * How long `strategy: 'adaptive'` lets data wait at most. Up to 1,000.
   *
   * @unit ms
   * @default 2
   */
  maxDelayMs?: number

  /**
   * How many bytes one write holds at most. From 2,048 to 16,777,216. The default is what Noise seals into one record, 65,535
   * less a tag of 16. On a fast connection without urgent streams it is as many whole records as are carried in a millisecond,
   * up to 16.
   *
   * @unit bytes
   * @default 65_519
   */
  maxBytes?: number

  /**
   * How full a write must be to leave before its delay is over. Used by `strategy: 'delay'` and `'adaptive'`. Above 0, and at
   * most 1.
   *
   * @unit part of `maxBytes`
   * @default 0.8
   */
  highWatermark?: number

  /**
   * How much of each write is kept free for urgent data. It is kept free only while there are urgent streams and the transport
   * is full again and again, since nothing can overtake what has been handed down. At least 1,024 of `maxBytes` must be left to
   * other data.
   *
   * @unit bytes
   * @default a quarter of `maxBytes`
   */
  reservedBytes?: number

  /**
   * How long data may wait in kernels and routers after it has left the muxer, in addition to a quarter of the round trip. From
   * 1 on. The rest waits in its streams, where urgent data overtakes it: see [bytes in flight](../../docs/bytes-under-way.md).
   * It is measured with pings that follow the data. From a peer that answers none, nothing is held back. `Infinity`: nothing is
   * ever held back.
   *
   * @unit ms
   * @default 10
   */
  maxQueueDelayMs?: number

  /**
   * Whether several small messages of a stream may arrive as one. Several `send()`s then share a frame, and several frames that
   * have arrived share a `message` event. A stream is a stream of bytes, but some programs take one event for one message.
   *
   * - `'backlog'`: when 16,384 bytes of the stream wait, on either side. Until then a `send()` of at most `maxMessageSize` is
   *   one frame and one event, as with `@libp2p/yamux`, unless the peer's credit cuts it.
   * - `true`: whenever several wait
   * - `false`: never. A `send()` of at most `maxMessageSize` then waits for credit for all of it, and may make a write longer
   *   than `maxBytes`.
   *
   * @default 'backlog'
   */
  mergeMessages?: MergeMessages
}

export interface CoalesceConfig {
  strategy: Strategy
  delayMs: number
  maxDelayMs: number
  maxBatchBytes: number
  maxWriteBytes: number
  watermarkBytes: number
  reservedBytes: number
  mergeFromBytes: number
  maxQueueDelayMs: number
}

/** A frame's worth is a backlog: full frames cost least then */
const MERGE_FROM_BYTES = 16_384
/** What Noise seals into one record: 65,535 less a tag of 16 */
const RECORD_BYTES = 65_519
const MAX_RECORDS = 16
/** A turn of one urgent stream, of a Noise record */
const RESERVED_PART = 1 / 4
/** What a study of write coalescing in go-yamux settled on */
const DELAY_MS = 2
/** Longer and requests time out */
const MAX_DELAY_MS = 1000
/** Room for a few control frames and for the smallest frame that the data lane cuts */
const MIN_BATCH_BYTES = 2048
const MAX_BATCH_BYTES = 2 ** 24

export const coalesce = section({
  strategy: optional(choice(...STRATEGIES)),
  delayMs: optional(number(undefined, 0, MAX_DELAY_MS)),
  maxDelayMs: optional(number(undefined, 0, MAX_DELAY_MS)),
  maxBytes: optional(integer(undefined, MIN_BATCH_BYTES, MAX_BATCH_BYTES)),
  // not 0
  highWatermark: optional(number(undefined, Number.MIN_VALUE, 1)),
  reservedBytes: optional(integer(undefined, 0, MAX_BATCH_BYTES)),
  maxQueueDelayMs: number(10, 1),
  mergeMessages: choice<MergeMessages>('backlog', true, false)
})

type CoalesceValues = ReturnType<typeof coalesce>

export function createCoalesceConfig (options: CoalesceValues): CoalesceConfig {
  const { delayMs = DELAY_MS, maxDelayMs = DELAY_MS, maxBytes = RECORD_BYTES, highWatermark = 0.8, maxQueueDelayMs, mergeMessages } = options
  const { reservedBytes = Math.floor(maxBytes * RESERVED_PART) } = options

  if (reservedBytes > maxBytes - MIN_BATCH_BYTES / 2) {
    throw new InvalidParametersError(`coalesce.reservedBytes is ${reservedBytes}, it must leave ${MIN_BATCH_BYTES / 2} of coalesce.maxBytes, which is ${maxBytes}, to other data`)
  }

  return {
    strategy: strategyOf(options),
    delayMs,
    maxDelayMs,
    maxBatchBytes: maxBytes,
    maxWriteBytes: options.maxBytes ?? MAX_RECORDS * RECORD_BYTES,
    watermarkBytes: maxBytes * highWatermark,
    reservedBytes,
    maxQueueDelayMs,
    mergeFromBytes: mergeMessages === 'backlog' ? MERGE_FROM_BYTES : mergeMessages ? 0 : Infinity
  }
}

function strategyOf (options: CoalesceValues): Strategy {
  const { delayMs, maxDelayMs, strategy = delayMs !== undefined ? 'delay' : maxDelayMs !== undefined ? 'adaptive' : 'turn' } = options
  const isOff = delayMs === 0

  // an option that has no effect under the strategy is a mistake
  const checkEffect = (name: 'delayMs' | 'maxDelayMs' | 'highWatermark', ...strategies: Strategy[]): void => {
    if (options[name] !== undefined && !strategies.includes(strategy)) {
      throw new InvalidParametersError(`coalesce.${name} is ${options[name]}, which is for ${anyOf(strategies)}, but coalesce.strategy is '${strategy}'`)
    }
  }

  checkEffect('delayMs', 'delay', ...(isOff ? ['off'] as const : []))
  checkEffect('maxDelayMs', 'adaptive')
  checkEffect('highWatermark', 'delay', 'adaptive')

  return isOff ? 'off' : strategy
}

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
   * - what the application puts back with `push()` and `unshift()` while it does not read, if that is more than the window.
   *   Beyond it the stream is reset
   * - what a loop may miss while other readers of its stream go on. Beyond it the loop throws
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
   * `TooManyOutboundProtocolStreamsError`. A rust-libp2p peer with its defaults ends the connection at the 513th.
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
   * have all of it; when others need some, they share. The default is what one stream can use: 16 MiB carry 1 Gbit/s at a round
   * trip of 100 ms, on one stream or ten. No peer can make a connection hold more than this and the 262,144 bytes that the
   * protocol grants to each stream.
   *
   * @unit bytes
   * @default `streamOptions.maxStreamWindowSize`
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

  /** Options of each stream */
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

const maxConnectionWindow: Rule<number> = (value, name, { streamOptions }) => integer(streamOptions.maxStreamWindowSize)(value, name)

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
  priority: createLaneOf,
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
export function createConfig (init: YamuxMuxerInit, onUnknown: (report: string) => void = () => {}): Config {
  const { maxMessageSize, windowUpdateMode, maxConnectionWindow, priority, coalesce, ...options } = readSection(OPTIONS, init, '', onUnknown)
  const frameBytes = (byDefault: number, mostBytes = MAX_FRAME_BYTES): number => Math.min(mostBytes, maxMessageSize ?? byDefault)

  return {
    ...options,
    ...createCoalesceConfig(coalesce),
    frameBytes: frameBytes(FRAME_BYTES),
    loneFrameBytes: frameBytes(LONE_FRAME_BYTES),
    maxFrameBytes: frameBytes(Infinity, LONGEST_FRAME_BYTES),
    creditsOnReceipt: windowUpdateMode === 'onReceive',
    maxGrowthBytes: maxConnectionWindow,
    laneOf: priority
  }
}
