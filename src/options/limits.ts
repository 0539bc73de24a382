/**
 * The options in `limits`: how many frames a peer may send that no window limits, how long it may take, and how large all windows of a node may be.
 * Units, defaults and allowed ranges.
 */
import { integer, number, section } from './rules.ts'
import type { Limit, Limits } from '../core/peer-limits.ts'
import type { Rule } from './rules.ts'

/**
 * Limits on a peer in addition to its windows, in frames and in time, and on all windows of a node. [SECURITY.md](../../SECURITY.md) has the
 * reasons. Beyond a number of frames or streams the connection and all its streams end with a `ProtocolError`, whose code names the limit.
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
   * How many frames without effect the peer may send. These carry no payload, no credit and no first ACK or FIN, and are not a pong to a
   * ping of this side.
   *
   * @unit frames
   * @default { burst: 10_000, perSecond: 1_000 }
   */
  emptyFrames?: Partial<Limit>

  /**
   * How many streams the peer may open that this side refuses. A stream is refused if it exceeds `maxInboundStreams`, if it comes
   * while the muxer closes, or if the application aborts it within a second.
   *
   * @unit streams
   * @default { burst: 10_000, perSecond: 1_000 }
   */
  refusedStreams?: Partial<Limit>

  /**
   * How many frames the peer may send for streams that are not open. Frames that may have been in flight when the stream ended here
   * are not counted: the data that its window still allowed, and a window update for each frame that the peer was sent.
   *
   * @unit frames
   * @default { burst: 100_000, perSecond: 10_000 }
   */
  unknownStreamFrames?: Partial<Limit>

  /**
   * How long the peer may take to acknowledge a stream that this side has opened. After that the stream is reset with an
   * `OpenTimeoutError`. From 1 on.
   *
   * @unit ms
   * @default 75_000
   */
  openTimeoutMs?: number

  /**
   * How long a stream that this side has closed for writing may carry no data. After that it is reset with a `CloseTimeoutError`. If
   * this side has opened the stream, it waits longer while the program has data to read. From 1 on. Raise it for subscriptions that
   * you close for writing, and that may be silent for longer.
   *
   * @unit ms
   * @default 300_000
   */
  closeTimeoutMs?: number

  /**
   * How long a transport may accept no data. After that the connection ends with a `WriteTimeoutError`, unless the peer has sent a
   * pong or credit meanwhile. From 1 on.
   *
   * @unit ms
   * @default 60_000
   */
  writeTimeoutMs?: number

  /**
   * How large all receive windows of a node may be together, on all its connections. A window that would exceed it does not grow, and gets no head
   * start; what `@libp2p/yamux` peers send beyond their windows ends the connection if there is no room. The windows with which streams begin,
   * 262,144 bytes or `streamOptions.initialStreamWindowSize`, count but cannot be refused: `maxInboundStreams` limits these. One peer with 1,000
   * streams takes 250 MiB of it from the others.
   *
   * A connection may grow by seven eighths of what is free, and gives some back when others need it, as far as its streams are read. Head starts, up to
   * 852 KB each, stay until their stream ends. A stream whose window cannot grow is slower on long paths, and otherwise works as before. The nodes
   * that share one `yamux()` have a limit each.
   *
   * @unit bytes
   * @default Infinity
   */
  maxNodeWindow?: number
}

/**
 * A frame that is answered or ignored in well under a microsecond may come often: a thousand per second take less than a hundredth of a
 * core. A reset also costs the application time, but the burst must allow 1,500 quick resets: an application may request an unsupported
 * protocol that often.
 */
const CHEAP: Limit = { burst: 10_000, perSecond: 1000 }
const RESETS: Limit = { burst: 10_000, perSecond: 200 }
/** A fast sender may have 30 frames a millisecond in flight for 300 ms when its stream is reset */
const IN_FLIGHT: Limit = { burst: 100_000, perSecond: 10_000 }

/** Finite, as rates are multiplied by a time that may be 0 */
const MAX_PER_SECOND = 1e9

function limit (byDefault: Limit): Rule<Limit> {
  return section({ burst: number(byDefault.burst), perSecond: number(byDefault.perSecond, 0, MAX_PER_SECOND) })
}

export const limits = section({
  pings: limit(CHEAP),
  resets: limit(RESETS),
  emptyFrames: limit(CHEAP),
  refusedStreams: limit(CHEAP),
  unknownStreamFrames: limit(IN_FLIGHT),
  // the first two are hashicorp/yamux's. Its 10 s for a write are too short for a suspended laptop; these are two keep-alive intervals.
  openTimeoutMs: number(75_000, 1),
  closeTimeoutMs: number(300_000, 1),
  writeTimeoutMs: number(60_000, 1),
  maxNodeWindow: integer(Infinity)
})

export type LimitConfig = ReturnType<typeof limits>
