/**
 * The options of coalescing: their units, defaults, allowed ranges and conflicts.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { anyOf } from './option-reader.ts'
import { print } from '../thrown.ts'
import type { OptionReader } from './option-reader.ts'

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
const MERGE_FROM_BYTES = new Map<MergeMessages, number>([['backlog', 16_384], [true, 0], [false, Infinity]])
/** What Noise seals into one record: 65,535 less a tag of 16 */
const RECORD_BYTES = 65_519
const MAX_RECORDS = 16
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
  const maxBytes = (byDefault: number): number => options.integer('maxBytes', byDefault, MIN_BATCH_BYTES, MAX_BATCH_BYTES)
  const maxBatchBytes = maxBytes(RECORD_BYTES)
  const reservedBytes = options.integer('reservedBytes', Math.floor(maxBatchBytes * RESERVED_PART), 0, MAX_BATCH_BYTES)

  if (reservedBytes > maxBatchBytes - MIN_BATCH_BYTES / 2) {
    throw new InvalidParametersError(`coalesce.reservedBytes is ${reservedBytes}, it must leave at least ${MIN_BATCH_BYTES / 2} of coalesce.maxBytes, which is ${maxBatchBytes}, to other data`)
  }

  return {
    strategy,
    delayMs: options.number('delayMs', DELAY_MS, 0, MAX_DELAY_MS),
    maxDelayMs: options.number('maxDelayMs', DELAY_MS, 0, MAX_DELAY_MS),
    maxBatchBytes,
    maxWriteBytes: maxBytes(MAX_RECORDS * RECORD_BYTES),
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
