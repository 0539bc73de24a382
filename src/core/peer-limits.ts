/**
 * What a peer may do that costs this side more than the peer, and that no window bounds. Beyond it the
 * connection ends with a GoAway.
 */
import { ProtocolError } from './errors.ts'
import type { ProtocolErrorCode } from './errors.ts'

export interface Limits {
  /** Each is answered */
  pings: Limit
  /** Streams the peer resets within RAPID_MS of opening them: an application has begun to serve them (CVE-2023-44487) */
  resets: Limit
  /** Frames that change nothing: no payload, no credit, no first ACK or FIN, no pong that was asked for (CVE-2019-9518) */
  emptyFrames: Limit
  /** Streams opened beyond the limit or while this side closes, and those that the application resets within RAPID_MS (CVE-2025-8671) */
  refusedStreams: Limit
  /** Frames for streams that are not open, beyond those that may have been in flight when the stream ended here */
  unknownStreamFrames: Limit
}

/** A reset so soon after the SYN is taken for an attack if there are many; 1,000 open streams bound those that come later */
export const RAPID_MS = 1000

/** Frames without payload that may be in flight to a stream besides updates: ACK, FIN, RST and a raised window */
const OTHER_LATE_FRAMES = 4

const VIOLATIONS: Record<keyof Limits, [code: ProtocolErrorCode, what: string]> = {
  pings: ['ERR_TOO_MANY_PINGS', 'pings'],
  resets: ['ERR_TOO_MANY_RESETS', `resets of streams opened less than ${RAPID_MS} ms before`],
  emptyFrames: ['ERR_TOO_MANY_EMPTY_FRAMES', 'frames that change nothing'],
  refusedStreams: ['ERR_TOO_MANY_REFUSED_STREAMS', 'streams that were refused'],
  unknownStreamFrames: ['ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', 'frames for streams that are not open']
}

export class PeerLimits {
  readonly #buckets = {} as Record<keyof Limits, TokenBucket>
  #hasRefusedTooMany = false
  /** What may still come for streams that have ended here: payload, and frames without */
  #latePayloadBytes = 0
  #lateFrames = 0

  constructor (limits: Limits) {
    for (const kind of Object.keys(VIOLATIONS) as Array<keyof Limits>) {
      this.#buckets[kind] = new TokenBucket(limits[kind])
    }
  }

  /** Throws a ProtocolError when the peer has had its share */
  spend (kind: keyof Limits, nowMs: number): void {
    if (!this.#buckets[kind].take(nowMs)) {
      throw this.#violation(kind)
    }
  }

  /** The application has refused a stream. It is no place for an error: the next SYN is. */
  noteRefusal (nowMs: number): void {
    this.#hasRefusedTooMany ||= !this.#buckets.refusedStreams.take(nowMs)
  }

  /** Throws a ProtocolError when the application has refused too many */
  checkRefusals (): void {
    if (this.#hasRefusedTooMany) {
      throw this.#violation('refusedStreams')
    }
  }

  /**
   * A stream ends here, and the peer may not know yet. What its window still allowed is no attack, in frames of one byte
   * at worst; nor is an update for each frame that it was sent, which is what @libp2p/yamux answers with.
   */
  expectLate (payloadBytes: number, updates: number): void {
    this.#latePayloadBytes += payloadBytes
    this.#lateFrames += updates + OTHER_LATE_FRAMES
  }

  /** A frame came for a stream that is not open. Throws a ProtocolError when there were too many that nothing explains. */
  spendUnknown (payloadBytes: number, nowMs: number): void {
    if (payloadBytes > 0 && payloadBytes <= this.#latePayloadBytes) {
      this.#latePayloadBytes -= payloadBytes
    } else if (this.#lateFrames > 0) {
      this.#lateFrames--
    } else {
      this.spend('unknownStreamFrames', nowMs)
    }
  }

  #violation (kind: keyof Limits): ProtocolError {
    const [code, what] = VIOLATIONS[kind]
    const { count, limit: { burst, perSecond } } = this.#buckets[kind]

    return new ProtocolError(code, `received ${count} ${what}, limits.${kind} allows ${burst} at once and ${perSecond} a second`)
  }
}

/** So many at once, and so many a second from then on */
export interface Limit {
  /** How many may come together, from 0 on. `Infinity`: no limit. */
  burst: number
  /** How many more each second allows, from 0 to 1,000,000,000 */
  perSecond: number
}

/** Invariant: over any time what was taken without being refused is at most burst + perSecond × seconds */
export class TokenBucket {
  /** How many were asked for since the beginning */
  count = 0
  readonly limit: Limit
  #tokens: number
  #filledMs: number | undefined

  constructor (limit: Limit) {
    this.limit = limit
    this.#tokens = limit.burst
  }

  /** Takes one; false when there was none left */
  take (nowMs: number): boolean {
    const { burst, perSecond } = this.limit
    // a clock that was set back must not take tokens away
    const passedMs = Math.max(0, nowMs - (this.#filledMs ?? nowMs))
    this.#filledMs = nowMs
    this.#tokens = Math.min(burst, Math.max(0, this.#tokens) + passedMs * perSecond / 1000) - 1
    this.count++

    return this.#tokens >= 0
  }
}
