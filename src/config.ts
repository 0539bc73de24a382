/**
 * The options: their units, defaults and allowed ranges, in one place.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { INITIAL_WINDOW_BYTES, MAX_UINT32 } from './core/frame/frame.ts'
import type { StreamMuxerOptions, StreamOptions } from '@libp2p/interface'

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
}

export interface CoalesceOptions {
  /**
   * When gathered output is written. `turn`: at the end of the running turn of the
   * event loop, and what more the turn produces once in the next; no timers. `off`:
   * every frame at once in a write of its own, as the stock muxer does.
   *
   * @default 'turn'
   */
  strategy?: 'turn' | 'off'

  /**
   * 0 is another way to say `strategy: 'off'`
   */
  delayMs?: 0

  /**
   * The most one write may hold, in bytes. The default is what Noise seals into one
   * record: 65,535 less a tag of 16.
   *
   * @default 65_519
   */
  maxBytes?: number

  /**
   * Several small `send()`s of one stream may share a frame, and several frames that
   * arrive together may share a 'message' event: a stream is a stream of bytes. When
   * false, one `send()` of at most a frame stays one frame and one event, for
   * protocols that take one event for one message.
   *
   * @default true
   */
  mergeMessages?: boolean
}

export interface YamuxMuxerInit extends StreamMuxerOptions<YamuxStreamOptions> {
  /**
   * Ping the peer at an interval. When it stays silent for two of them the
   * connection is ended with a KeepAliveTimeoutError.
   *
   * @default true
   */
  enableKeepAlive?: boolean

  /**
   * In milliseconds
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
   * How small writes are gathered into large ones
   */
  coalesce?: CoalesceOptions
}

export interface Config {
  enableKeepAlive: boolean
  keepAliveInterval: number
  maxInboundStreams: number
  maxOutboundStreams: number
  maxEarlyStreams: number
  frameBytes: number
  loneFrameBytes: number
  strategy: 'turn' | 'off'
  maxBatchBytes: number
  mergesMessages: boolean
  streamOptions: Required<YamuxStreamOptions>
}

/**
 * While streams contend frames are small, so that each gets its turn soon (HTTP/2's default; 0.07 %
 * of overhead). A frame that nobody waits behind may fill a Noise record: it costs both sides a third less.
 */
const FRAME_BYTES = 16_384
const LONE_FRAME_BYTES = 65_507
const MAX_FRAME_BYTES = 65_536
const MIN_FRAME_BYTES = 1024
/** A header and the smallest frame the data lane cuts */
const MIN_BATCH_BYTES = 2048
const MAX_BATCH_BYTES = 2 ** 24
/** The longest delay a timer takes; a longer one would fire at once */
export const MAX_TIMER_MS = 2 ** 31 - 1

/** Fills in the defaults; throws InvalidParametersError for a value out of range */
export function createConfig (init: YamuxMuxerInit): Config {
  const streamOptions = createStreamConfig(init.streamOptions ?? {})

  return {
    enableKeepAlive: init.enableKeepAlive ?? true,
    keepAliveInterval: number(init, 'keepAliveInterval', 30_000, 1, MAX_TIMER_MS),
    maxInboundStreams: number(init, 'maxInboundStreams', 1000, 0, Infinity),
    maxOutboundStreams: number(init, 'maxOutboundStreams', 1000, 0, Infinity),
    maxEarlyStreams: number(init, 'maxEarlyStreams', 10, 0, Infinity),
    frameBytes: frameBytes(init, FRAME_BYTES),
    loneFrameBytes: frameBytes(init, LONE_FRAME_BYTES),
    ...createCoalesceConfig(init.coalesce ?? {}),
    streamOptions
  }
}

function frameBytes (init: YamuxMuxerInit, byDefault: number): number {
  return Math.min(MAX_FRAME_BYTES, integer(init, 'maxMessageSize', byDefault, MIN_FRAME_BYTES, Infinity))
}

function createStreamConfig (options: YamuxStreamOptions): Required<YamuxStreamOptions> {
  const path = 'streamOptions.'
  const initialStreamWindowSize = integer(options, 'initialStreamWindowSize', INITIAL_WINDOW_BYTES, INITIAL_WINDOW_BYTES, MAX_UINT32, path)

  return {
    initialStreamWindowSize,
    maxStreamWindowSize: integer(options, 'maxStreamWindowSize', Math.max(initialStreamWindowSize, 16_777_216), initialStreamWindowSize, MAX_UINT32, path),
    inactivityTimeout: number(options, 'inactivityTimeout', 120_000, 0, Infinity, path),
    maxReadBufferLength: number(options, 'maxReadBufferLength', 4_194_304, 0, Infinity, path),
    maxWriteBufferLength: number(options, 'maxWriteBufferLength', Infinity, 0, Infinity, path)
  }
}

function createCoalesceConfig (options: CoalesceOptions): Pick<Config, 'strategy' | 'maxBatchBytes' | 'mergesMessages'> {
  const strategy = options.strategy ?? 'turn'

  if (strategy !== 'turn' && strategy !== 'off') {
    throw new InvalidParametersError(`coalesce.strategy is ${String(strategy)}, it must be 'turn' or 'off'`)
  }

  number(options, 'delayMs', 0, 0, 0, 'coalesce.')

  return {
    strategy: options.delayMs === 0 ? 'off' : strategy,
    maxBatchBytes: integer(options, 'maxBytes', 65_519, MIN_BATCH_BYTES, MAX_BATCH_BYTES, 'coalesce.'),
    mergesMessages: options.mergeMessages ?? true
  }
}

function integer <Options, Name extends keyof Options & string> (options: Options, name: Name, byDefault: number, min: number, max: number, path = ''): number {
  const value = number(options, name, byDefault, min, max, path)

  if (value !== Infinity && !Number.isInteger(value)) {
    throw new InvalidParametersError(`${path}${name} is ${value}, it must be a whole number`)
  }

  return value
}

function number <Options, Name extends keyof Options & string> (options: Options, name: Name, byDefault: number, min: number, max: number, path = ''): number {
  const value: unknown = options[name] ?? byDefault

  // written so that NaN fails
  if (typeof value !== 'number' || !(value >= min && value <= max)) {
    throw new InvalidParametersError(`${path}${name} is ${String(value)}, it must be a number from ${min} to ${max}`)
  }

  return value
}
