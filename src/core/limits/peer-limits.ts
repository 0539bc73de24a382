/**
 * What a peer may do that costs this side more than the peer, and that no window bounds. Beyond it the
 * connection ends with a GoAway.
 */
import { ProtocolError } from '../protocol-error.ts'
import { TokenBucket } from './token-bucket.ts'
import type { ProtocolErrorCode } from '../protocol-error.ts'
import type { Limit } from './token-bucket.ts'

export interface Limits {
  /** Each is answered */
  pings: Limit
  /** Streams the peer resets within RAPID_MS of opening them: an application has begun to serve them (CVE-2023-44487) */
  resets: Limit
  /** Frames that change nothing: no payload, no credit, no first ACK or FIN, no pong that was asked for (CVE-2019-9518) */
  emptyFrames: Limit
  /** Streams opened beyond the limit, and those that the application resets within RAPID_MS (CVE-2025-8671) */
  refusedStreams: Limit
  /** Frames for streams that are not open */
  unknownStreamFrames: Limit
}

/** A reset so soon after the SYN is taken for an attack if there are many; 1,000 open streams bound those that come later */
export const RAPID_MS = 1000

/**
 * So many frames may be under way to a stream that ends here: @libp2p/yamux sends a window update for every
 * frame it receives, so 16 MiB of window in frames of 16 KiB.
 */
const LATE_FRAMES_PER_STREAM = 1024

const VIOLATIONS: Record<keyof Limits, { code: ProtocolErrorCode, what: string }> = {
  pings: { code: 'ERR_TOO_MANY_PINGS', what: 'pings' },
  resets: { code: 'ERR_TOO_MANY_RESETS', what: `resets of streams opened less than ${RAPID_MS} ms before` },
  emptyFrames: { code: 'ERR_TOO_MANY_EMPTY_FRAMES', what: 'frames that change nothing' },
  refusedStreams: { code: 'ERR_TOO_MANY_REFUSED_STREAMS', what: 'streams that were refused' },
  unknownStreamFrames: { code: 'ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', what: 'frames for streams that are not open' }
}

export class PeerLimits {
  readonly #buckets = {} as Record<keyof Limits, TokenBucket>
  #hasRefusedTooMany = false

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

  /** The application has refused a stream, in a call of its own: the error is the next SYN's */
  noteRefusal (nowMs: number): void {
    this.#hasRefusedTooMany ||= !this.#buckets.refusedStreams.take(nowMs)
  }

  /** Throws a ProtocolError when the application has refused too many */
  checkRefusals (): void {
    if (this.#hasRefusedTooMany) {
      throw this.#violation('refusedStreams')
    }
  }

  /** A stream ends here, and the peer may not know yet */
  expectLateFrames (): void {
    this.#buckets.unknownStreamFrames.add(LATE_FRAMES_PER_STREAM)
  }

  #violation (kind: keyof Limits): ProtocolError {
    const { code, what } = VIOLATIONS[kind]
    const { count, limit: { burst, perSecond } } = this.#buckets[kind]

    return new ProtocolError(code, `received ${count} ${what}, limits.${kind} allows ${burst} at once and ${perSecond} a second`)
  }
}
