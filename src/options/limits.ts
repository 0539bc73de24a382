/**
 * The options `limits`: what a peer may cost in frames that no window bounds, and in time. Units, defaults and allowed ranges.
 */
import { number, section } from './rules.ts'
import type { Limit, Limits } from '../core/peer-limits.ts'
import type { Rule } from './rules.ts'

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
   * How many streams the peer may open that this side refuses. These are the ones beyond `maxInboundStreams`, those that come while
   * the muxer closes, and those that the application aborts within a second.
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
/** What a fast sender has in flight over a long path when its stream is reset: 30 frames a millisecond for 300 ms */
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
  // the first two are hashicorp/yamux's; its 10 s for a write are too short for a suspended laptop, ours are two keep-alive intervals
  openTimeoutMs: number(75_000, 1),
  closeTimeoutMs: number(300_000, 1),
  writeTimeoutMs: number(60_000, 1)
})

export type LimitConfig = ReturnType<typeof limits>
