/**
 * The options in `coalesce`: units, defaults, allowed ranges and conflicts.
 */
import { InvalidParametersError } from '@libp2p/interface'
import { anyOf, choice, integer, number, optional, section } from './rules.ts'

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
   * - `'turn'`: when the running code, and the microtasks that it leads to, have no more output. After three flushes in a turn of
   *   the event loop the rest leaves together in the next turn. If a message fills whole writes, as a chunk of a file does, its
   *   remainder waits one turn for the next message. There are no timers, and a lone message does not wait. Best for most.
   * - `'delay'`: after `delayMs`, or when `highWatermark` is reached. For programs where few writes matter more than a
   *   millisecond.
   * - `'adaptive'`: like `'delay'`, but after a quarter of the measured round trip, and after `maxDelayMs` at the latest
   * - `'off'`: each frame immediately and by itself, as `@libp2p/yamux` does
   *
   * No strategy delays control frames and urgent data, and data that waits leaves with them.
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
   * The most bytes in one write. From 2,048 to 16,777,216. The default is what fits into one Noise record: 65,535 less a tag of
   * 16. By default, a write on a fast connection without urgent streams holds as many whole records as the connection carries in a
   * millisecond, up to 16.
   *
   * @unit bytes
   * @default 65_519
   */
  maxBytes?: number

  /**
   * How full a write must be to leave before its delay is over. Used by `strategy: 'delay'` and `'adaptive'`. From 0.01 to 1.
   *
   * @unit part of `maxBytes`
   * @default 0.8
   */
  highWatermark?: number

  /**
   * How much of each write is kept free for urgent data, while there are urgent streams and the transport is full again and again:
   * no data can overtake data in the transport. At least 1,024 of `maxBytes` must be left for other data.
   *
   * @unit bytes
   * @default a quarter of `maxBytes`
   */
  reservedBytes?: number

  /**
   * How long data may wait in kernels and routers after it has left the muxer, in addition to a quarter of the round trip. From
   * 1 on. The rest waits in its streams, where urgent data overtakes it: see [bytes in flight](../../docs/bytes-in-flight.md).
   * It is measured with pings that follow the data. For a peer that answers none, no data is held. `Infinity`: data is never held.
   * Only a path control uses it: `libp2p-coalescing-yamux/light` has none, and ignores it.
   *
   * @unit ms
   * @default 10
   */
  maxQueueDelayMs?: number

  /**
   * How long data of the peer may wait in kernels and routers on its way here, in addition to a quarter of the round trip, whatever
   * muxer the peer runs. Streams then get credit only as data arrives, so that urgent messages of the peer and its pongs do not wait
   * behind its bulk: see [bytes in flight](../../docs/bytes-in-flight.md#what-the-peer-has-in-flight).
   *
   * - Left out: 25, but only while both ends send bulk
   * - From 10 on: whenever the peer has a queue. Experimental.
   * - `Infinity`: never. Credit is given back as data is read.
   *
   * Only a path control uses it: `libp2p-coalescing-yamux/light` ignores it.
   *
   * @unit ms
   * @default `25`, only while both ends send bulk
   */
  maxPeerQueueDelayMs?: number

  /**
   * Whether several small messages of a stream may arrive as one. Several `send()`s then share a frame, and several frames that
   * have arrived share a `message` event. A stream is a stream of bytes, but some programs treat one event as one message.
   *
   * - `'backlog'`: once 16,384 bytes of the stream wait, on either side; then all of them share. While fewer wait, a `send()` of at
   *   most `maxMessageSize` is one frame and one event, as with `@libp2p/yamux`, unless the peer's credit cuts it.
   * - `true`: whenever several wait
   * - `false`: never. A `send()` of at most `maxMessageSize` then waits for credit for all of it, and may make a write longer
   *   than `maxBytes`.
   *
   * @default 'backlog'
   */
  mergeMessages?: MergeMessages
}

/** A full frame is a backlog: from there on full frames cost least */
const MERGE_FROM_BYTES = 16_384
/** The payload of one Noise record: 65,535 less a tag of 16 */
export const RECORD_BYTES = 65_519
export const MAX_RECORDS = 16
/** The quantum of one urgent stream, as a part of a Noise record */
const RESERVED_PART = 1 / 4
const DELAY_MS = 2
/** With longer delays requests time out */
const MAX_DELAY_MS = 1000
/** Room for a few control frames and for the smallest data frame */
const MIN_BATCH_BYTES = 2048
const MAX_BATCH_BYTES = 2 ** 24

export const coalesce = section({
  strategy: optional(choice(...STRATEGIES)),
  delayMs: optional(number(undefined, 0, MAX_DELAY_MS)),
  maxDelayMs: optional(number(undefined, 0, MAX_DELAY_MS)),
  maxBytes: optional(integer(undefined, MIN_BATCH_BYTES, MAX_BATCH_BYTES)),
  highWatermark: optional(number(undefined, 0.01, 1)),
  reservedBytes: optional(integer(undefined, 0, MAX_BATCH_BYTES)),
  maxQueueDelayMs: number(10, 1),
  maxPeerQueueDelayMs: optional(number(undefined, 10)),
  mergeMessages: choice<MergeMessages>('backlog', true, false)
})

type CoalesceValues = ReturnType<typeof coalesce>

export function createCoalesceConfig (options: CoalesceValues) {
  const { delayMs = DELAY_MS, maxDelayMs = DELAY_MS, maxBytes = RECORD_BYTES, highWatermark = 0.8, maxQueueDelayMs, maxPeerQueueDelayMs, mergeMessages } = options
  const { reservedBytes = Math.floor(maxBytes * RESERVED_PART) } = options

  if (reservedBytes > maxBytes - MIN_BATCH_BYTES / 2) {
    throw new InvalidParametersError(`coalesce.reservedBytes is ${reservedBytes}, it must be at most ${maxBytes - MIN_BATCH_BYTES / 2}, which is ${MIN_BATCH_BYTES / 2} less than coalesce.maxBytes`)
  }

  return {
    strategy: strategyOf(options),
    delayMs,
    maxDelayMs,
    recordBytes: maxBytes,
    maxWriteBytes: options.maxBytes ?? MAX_RECORDS * RECORD_BYTES,
    watermarkBytes: maxBytes * highWatermark,
    reservedBytes,
    maxQueueDelayMs,
    maxPeerQueueDelayMs,
    mergeFromBytes: mergeMessages === 'backlog' ? MERGE_FROM_BYTES : mergeMessages ? 0 : Infinity
  }
}

function strategyOf (options: CoalesceValues): Strategy {
  const { delayMs, maxDelayMs, strategy: given = delayMs !== undefined ? 'delay' : maxDelayMs !== undefined ? 'adaptive' : 'turn' } = options
  const isOff = delayMs === 0
  const strategy = isOff && given === 'delay' ? 'off' : given

  // an option without effect is a mistake
  const checkEffect = (name: 'delayMs' | 'maxDelayMs' | 'highWatermark', ...strategies: Strategy[]): void => {
    if (options[name] !== undefined && !strategies.includes(strategy)) {
      throw new InvalidParametersError(`coalesce.${name} is ${options[name]}, which has no effect with strategy '${strategy}', only with ${anyOf(strategies)}`)
    }
  }

  checkEffect('delayMs', 'delay', ...(isOff ? ['off'] as const : []))
  checkEffect('maxDelayMs', 'adaptive')
  checkEffect('highWatermark', 'delay', 'adaptive')

  return strategy
}
