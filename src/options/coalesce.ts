/**
 * The options of coalescing: their units, defaults, allowed ranges and conflicts.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { anyOf } from './option-reader.ts'
import { print } from '../thrown.ts'
import type { OptionReader } from './option-reader.ts'

const STRATEGIES = ['turn', 'delay', 'adaptive', 'off'] as const

export type Strategy = typeof STRATEGIES[number]

export type MergeMessages = 'backlog' | boolean

export interface CoalesceOptions {
  /**
   * When gathered output is written. Control frames and urgent streams wait for no delay and no watermark under any of them.
   *
   * - `turn`: at the end of the running turn of the event loop, and what more the turn produces
   *   once in the next; no timers
   * - `delay`: after `delayMs`, or when enough for a write has gathered
   * - `adaptive`: like `delay`, for a quarter of the round trip, at most `maxDelayMs`
   * - `off`: every frame at once in a write of its own, as the stock muxer does
   *
   * @default 'turn', or 'delay' when `delayMs` is given, or 'adaptive' when `maxDelayMs` is
   */
  strategy?: Strategy

  /**
   * How long `delay` lets data wait for more, in milliseconds, up to 1,000. 0 is another way to say
   * `strategy: 'off'`. Less than a timer can measure, 1 ms in Node and 4 in browsers, is the next turn.
   *
   * @default 2
   */
  delayMs?: number

  /**
   * How long `adaptive` lets data wait at most, in milliseconds, up to 1,000
   *
   * @default 2
   */
  maxDelayMs?: number

  /**
   * The most one write may hold, in bytes. The default is what Noise seals into one
   * record: 65,535 less a tag of 16.
   *
   * @default 65_519
   */
  maxBytes?: number

  /**
   * With `delay` and `adaptive`: the part of `maxBytes` that does not wait any longer, above 0 and at most 1
   *
   * @default 0.8
   */
  highWatermark?: number

  /**
   * What data of other streams leaves free in each write while there are urgent streams and the
   * transport is the bottleneck, in bytes: what has been handed down cannot be overtaken.
   *
   * @default a quarter of `maxBytes`
   */
  reservedBytes?: number

  /**
   * How long what is handed down may wait below the muxer, in kernels and on the way, in milliseconds, beside a quarter of the
   * round trip. What is beyond waits in its stream, where urgent data overtakes it. Measured with pings behind the data; without
   * pongs nothing is held back. Infinity: never.
   *
   * @default 10
   */
  maxQueueDelayMs?: number

  /**
   * Whether several small `send()`s of a stream share a frame, and several frames that have
   * arrived a 'message' event. A stream is a stream of bytes, but some programs take one event for one message.
   *
   * - `backlog`: from when 16,384 bytes of the stream wait, on either side. Until then one `send()` of at most
   *   `maxMessageSize` stays one frame and one event, as with the stock muxer, unless the peer's credit cuts it.
   * - `true`: whenever several wait
   * - `false`: never. A `send()` of at most `maxMessageSize` then waits for credit for all of it, and may make a
   *   write longer than `maxBytes`.
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
  watermarkBytes: number
  reservedBytes: number
  mergeFromBytes: number
  maxQueueDelayMs: number
}

/** A frame's worth is a backlog: full frames cost least then */
const MERGE_FROM_BYTES = new Map<MergeMessages, number>([['backlog', 16_384], [true, 0], [false, Infinity]])
/** What Noise seals into one record: 65,535 less a tag of 16 */
const RECORD_BYTES = 65_519
/** A turn of one urgent stream, of a Noise record */
const RESERVED_PART = 1 / 4
/** What a study of write coalescing in go-yamux settled on */
const DELAY_MS = 2
const MAX_QUEUE_DELAY_MS = 10
/** Longer and requests time out */
const MAX_DELAY_MS = 1000
/** Room for a few control frames and for the smallest frame that the data lane cuts */
const MIN_BATCH_BYTES = 2048
const MAX_BATCH_BYTES = 2 ** 24

export function createCoalesceConfig (options: OptionReader<CoalesceOptions>): CoalesceConfig {
  const strategy = strategyOf(options)
  const maxBatchBytes = options.integer('maxBytes', RECORD_BYTES, MIN_BATCH_BYTES, MAX_BATCH_BYTES)
  const reservedBytes = options.integer('reservedBytes', Math.floor(maxBatchBytes * RESERVED_PART), 0, MAX_BATCH_BYTES)

  if (reservedBytes > maxBatchBytes - MIN_BATCH_BYTES / 2) {
    throw new InvalidParametersError(`coalesce.reservedBytes is ${reservedBytes}, it must leave at least ${MIN_BATCH_BYTES / 2} of coalesce.maxBytes, which is ${maxBatchBytes}, to other data`)
  }

  return {
    strategy,
    delayMs: options.number('delayMs', DELAY_MS, 0, MAX_DELAY_MS),
    maxDelayMs: options.number('maxDelayMs', DELAY_MS, 0, MAX_DELAY_MS),
    maxBatchBytes,
    watermarkBytes: maxBatchBytes * options.number('highWatermark', 0.8, Number.MIN_VALUE, 1),
    reservedBytes,
    maxQueueDelayMs: options.number('maxQueueDelayMs', MAX_QUEUE_DELAY_MS, 1, Infinity),
    mergeFromBytes: MERGE_FROM_BYTES.get(options.choice('mergeMessages', 'backlog', [...MERGE_FROM_BYTES.keys()])) as number
  }
}

function strategyOf (reader: OptionReader<CoalesceOptions>): Strategy {
  const { options } = reader
  const implied = options.delayMs != null ? 'delay' : options.maxDelayMs != null ? 'adaptive' : 'turn'
  const strategy = reader.choice('strategy', implied, STRATEGIES)
  const isOff = options.delayMs === 0
  checkEffect(options, 'delayMs', strategy, isOff ? ['delay', 'off'] : ['delay'])
  checkEffect(options, 'maxDelayMs', strategy, ['adaptive'])
  checkEffect(options, 'highWatermark', strategy, ['delay', 'adaptive'])

  return isOff ? 'off' : strategy
}

/** An option that has no effect under the strategy is a mistake */
function checkEffect (options: CoalesceOptions, name: keyof CoalesceOptions, strategy: Strategy, strategies: Strategy[]): void {
  if (options[name] != null && !strategies.includes(strategy)) {
    throw new InvalidParametersError(`coalesce.${name} is ${print(options[name])}, which takes effect with ${anyOf(strategies)} only, but coalesce.strategy is '${strategy}'`)
  }
}
