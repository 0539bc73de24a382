/**
 * Limits on frames that cost this side more than the peer, and that no window limits. A peer that exceeds one is sent a GoAway.
 */
import { ProtocolError } from './errors.ts'
import type { ProtocolErrorCode } from './errors.ts'

export interface Limits {
  /** Pings, each of which is answered */
  pings: Limit
  /** Streams that the peer resets within RAPID_MS of opening them: the application has begun to serve them (CVE-2023-44487) */
  resets: Limit
  /** Frames without effect: no payload, credit, first ACK, first FIN or awaited pong (CVE-2019-9518) */
  emptyFrames: Limit
  /** Streams opened beyond the limit or while this side closes, and streams that the application resets within RAPID_MS (CVE-2025-8671) */
  refusedStreams: Limit
  /** Frames for streams that are not open, without those in flight when the stream ended here */
  unknownStreamFrames: Limit
}

/** Many resets so soon after the SYN are an attack. Later resets are limited by how many streams may be open. */
export const RAPID_MS = 1000

/** Frames without payload that may be in flight to a stream, besides window updates: an ACK, a FIN, a RST and a raised window */
const OTHER_LATE_FRAMES = 4

const VIOLATIONS: Record<keyof Limits, [code: ProtocolErrorCode, frames: string]> = {
  pings: ['ERR_TOO_MANY_PINGS', 'pings'],
  resets: ['ERR_TOO_MANY_RESETS', `resets of streams opened less than ${RAPID_MS} ms before`],
  emptyFrames: ['ERR_TOO_MANY_EMPTY_FRAMES', 'frames that change nothing'],
  refusedStreams: ['ERR_TOO_MANY_REFUSED_STREAMS', 'SYNs of refused streams'],
  unknownStreamFrames: ['ERR_TOO_MANY_UNKNOWN_STREAM_FRAMES', 'frames for streams that are not open']
}

export class PeerLimits {
  readonly #limits: Limits
  /** Made when they are first needed: most connections meet one or two of these frames */
  readonly #buckets: Partial<Record<keyof Limits, TokenBucket>> = {}
  #hasRefusedTooMany = false
  /** Payload, and frames without payload, that may still arrive for streams that have ended here */
  #latePayloadBytes = 0
  #lateFrames = 0

  constructor (limits: Limits) {
    this.#limits = limits
  }

  /** Throws a ProtocolError if the peer exceeds the limit */
  spend (kind: keyof Limits, nowMs: number): void {
    if (!this.#take(kind, nowMs)) {
      throw this.#violation(kind)
    }
  }

  /** Counts a stream that the application refused. The next SYN reports an excess: here the call comes from the application. */
  noteRefusal (nowMs: number): void {
    this.#hasRefusedTooMany ||= !this.#take('refusedStreams', nowMs)
  }

  #take (kind: keyof Limits, nowMs: number): boolean {
    const bucket = this.#buckets[kind] ??= new TokenBucket(this.#limits[kind])

    return bucket.take(nowMs)
  }

  /** Throws a ProtocolError if the application has refused too many streams */
  checkRefusals (): void {
    if (this.#hasRefusedTooMany) {
      throw this.#violation('refusedStreams')
    }
  }

  /**
   * A stream has ended here, and the peer may not know yet. Payload that its window still allowed is no attack. Neither is a
   * window update for each DATA frame sent: @libp2p/yamux may answer each with one.
   */
  expectLate (payloadBytes: number, updates: number): void {
    this.#latePayloadBytes += payloadBytes
    this.#lateFrames += updates + OTHER_LATE_FRAMES
  }

  /** Counts a frame for a stream that is not open. Throws a ProtocolError if too many of them are not late frames. */
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
    const [code, frames] = VIOLATIONS[kind]
    const { burst, perSecond } = this.#limits[kind]

    return new ProtocolError(code, `received ${this.#buckets[kind]?.count} ${frames}, limits.${kind} allows ${burst} at once and ${perSecond} a second`)
  }
}

/** The size of a token bucket, and its rate */
export interface Limit {
  /** How many may come together, from 0 on. `Infinity`: no limit. */
  burst: number
  /** How many more each second allows, from 0 to 1,000,000,000 */
  perSecond: number
}

/** Invariant: in any interval at most burst + perSecond × seconds are granted */
export class TokenBucket {
  /** How many were requested, granted or not */
  count = 0
  readonly #limit: Limit
  #tokens: number
  #filledMs: number | undefined

  constructor (limit: Limit) {
    this.#limit = limit
    this.#tokens = limit.burst
  }

  /** Takes a token; returns false if none was left */
  take (nowMs: number): boolean {
    const { burst, perSecond } = this.#limit
    const passedMs = nowMs - (this.#filledMs ?? nowMs)
    this.#filledMs = nowMs
    this.#tokens = Math.min(burst, Math.max(0, this.#tokens) + passedMs * perSecond / 1000) - 1
    this.count++

    return this.#tokens >= 0
  }
}
