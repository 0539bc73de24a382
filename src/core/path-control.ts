/**
 * The seam between the protocol and what is known of the path: how much of a connection's data may be in flight. The session asks before each
 * write, and reports each write and everything that shows what has arrived. Pure: time and bytes go in.
 */
import { MAX_FRAME_BYTES } from './wire/frame.ts'
import type { PeerControl } from './peer-control.ts'
import type { Positions } from './positions.ts'

/** However slow the path is, no write is limited to less */
export const MIN_WRITE_BYTES = 4096

/** The sizes and the clock of a connection */
export interface PathInit {
  /** The option `coalesce.maxQueueDelayMs`: how long data may wait below the muxer. With Infinity, data is never held. */
  maxQueueDelayMs: number
  /**
   * The option `coalesce.maxPeerQueueDelayMs`: how long data of the peer may wait below its muxer. With Infinity, no credit is withheld; with
   * undefined, only while both ends send bulk.
   */
  maxPeerQueueDelayMs: number | undefined
  /** The most bytes that are encrypted as one record. Only a write on a fast path without urgent streams holds more. */
  recordBytes: number
  /** The most that one write holds on a fast path */
  maxWriteBytes: number
  /** The usual payload of a frame */
  frameBytes: number
  /** The longest payload of a frame on a fast path */
  maxFrameBytes: number
  /** The clock behind every `nowMs`, for members that get no time. Milliseconds since an arbitrary start, with fractions. */
  nowMs (): number
}

export interface WritePlan {
  /**
   * The most that the next write holds, in addition to two marks of 12 bytes; at least MIN_WRITE_BYTES. A message that must not be cut, or
   * exceeds `quantumBytes`, goes whole.
   */
  writeBytes: number
  /** What each stream may send before the next one */
  quantumBytes: number
  /** How much more than usual a stream may queue before `send()` returns false, as far as it has credit */
  extraQueueBytes: number
}

/** For metrics and snapshots. With a bound of Infinity, `inFlightBytes` is not counted either. */
export interface PathFigures {
  inFlightBytes: number
  /** Infinity if there is no bound */
  boundBytes: number
  /** 0 until it was measured */
  bytesPerMs: number
  /** Without a queue; 0 until it was measured */
  roundTripMs: number
  /** How long data was held, in total, including the hold in progress */
  heldMs: number
  /** When the hold in progress began, on the clock of `nowMs`; undefined if there is none, or the control does not tell */
  heldSinceMs?: number
  /** How long data was held because of a limit of the program, as `uploadLimit` has one; counted as `heldMs` */
  limitedMs?: number
}

/** One for each connection. `Positions` are up to date when a member is called. Times are milliseconds with fractions. */
export interface PathControl {
  /** What the peer may have in flight. Undefined: nothing is withheld. Read once. */
  readonly peer: PeerControl | undefined
  /** Data waits, unless it is urgent or its lane was overtaken for too long. It may change at any time. */
  readonly isHeld: boolean
  /** Urgent data has used up its allowance: it waits while data is held, and otherwise alternates with the rest */
  readonly isUrgentSpent: boolean
  /** The next write begins with a mark. Without other output, the mark is a write of its own. */
  readonly isMarkDue: boolean
  /** A write that ends after this position leaves 12 bytes free for a mark. Infinity if none does. */
  readonly leavesRoomFromBytes: number
  /** The most that a write holds if up to MIN_WRITE_BYTES are queued; at least that. A smaller rest after full writes may wait a turn for more. */
  readonly fullWriteBytes: number

  /**
   * A write of this many bytes would need no mark behind it, and would lead to no hold: if true, it gets none, whatever `onWritten` returns.
   * Asked while nothing is held and no mark or control frame is due.
   */
  needsNoMark (byteLength: number): boolean
  /**
   * The next write, for `streamCount` streams with `queuedBytes` together. `hasUrgent`: there are urgent streams, perhaps without data. Asked if
   * more than MIN_WRITE_BYTES are queued, also while data is held, for control frames. Return the same object each time: this is hot, as are
   * onWritten, mark and the getters.
   */
  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): Readonly<WritePlan>
  /**
   * `byteLength` bytes are written, marks not counted, `urgentBytes` of them payload of urgent streams. Without `hasData` they are control
   * frames. `isAppLimited`: no stream has data and credit left, so the path could have carried more. Returns true if a mark should follow.
   */
  onWritten (byteLength: number, urgentBytes: number, hasData: boolean, isAppLimited: boolean, nowMs: number): boolean
  /**
   * Returns the value of the mark that is written now, from 2^31 to 2^32 - 1. It stands at `positions.writtenBytes`: store that. A peer with this
   * muxer takes it for the time of writing, in eighths of a millisecond from any start, at a clock's pace; odd values get no mark in reply.
   * Undefined for no mark: then an ordinary ping follows, at most one in two seconds.
   */
  mark (nowMs: number): number | undefined
  /**
   * Sets `isMarkDue`. Returns false if this control writes no marks now; then the muxer writes an ordinary ping. `isLast`: the connection is being
   * closed.
   */
  requestMark (isLast?: boolean): boolean

  /** The pong to a mark: calls `positions.confirm` with the mark's position. Returns false if no mark waits for it. */
  onPong (value: number, nowMs: number): boolean
  /** The pong to the last ordinary ping, which was written at this position; that is confirmed already */
  onRoundTrip (positionBytes: number, roundTripMs: number, nowMs: number): void
  /** A ping of the peer. From 2^31 on, if the peer has this muxer, it is a mark. */
  onPing (value: number, nowMs: number): void
  /** Bytes of the peer arrived while the last mark is not confirmed. Called before they are handled. */
  onChunk (byteLength: number, nowMs: number): void
  /** `send()` of the transport has returned false */
  onTransportFull (nowMs: number): void

  /** How long until `look`, read when data is held and no timer is set */
  readonly lookDelayMs: number
  /** `lookDelayMs` has passed; that hold may have ended, and another begun. Then the muxer reads `isHeld` again. */
  look (nowMs: number): void
  /** The connection is being closed: nothing is held from here on */
  onClosing (nowMs: number): void
  /** The connection is over. May be called again. Drop it from all that connections share. */
  end (): void
  figures (nowMs: number): PathFigures | undefined
}

export type CreatePathControl = (init: PathInit, positions: Positions) => PathControl

/** Holds nothing, and writes no marks */
export class NoControl implements PathControl {
  readonly peer: PeerControl | undefined = undefined
  readonly isHeld = false
  readonly isUrgentSpent = false
  readonly isMarkDue = false
  readonly leavesRoomFromBytes = Infinity
  readonly lookDelayMs = Infinity
  readonly fullWriteBytes: number
  readonly #plan: WritePlan

  constructor ({ recordBytes, frameBytes, maxFrameBytes }: Pick<PathInit, 'recordBytes' | 'frameBytes' | 'maxFrameBytes'>) {
    this.fullWriteBytes = recordBytes
    // the queue below the muxer delays every stream anyway, so short quanta would cost more writes and gain little
    this.#plan = { writeBytes: recordBytes, quantumBytes: Math.max(frameBytes, Math.min(recordBytes, maxFrameBytes, MAX_FRAME_BYTES)), extraQueueBytes: 0 }
  }

  needsNoMark (): boolean { return true }
  planWrite (): WritePlan { return this.#plan }
  onWritten (): boolean { return false }
  mark (): undefined {}
  requestMark (): boolean { return false }
  onPong (): boolean { return false }
  onRoundTrip (): void {}
  onPing (): void {}
  onChunk (): void {}
  onTransportFull (): void {}
  look (): void {}
  onClosing (): void {}
  end (): void {}
  figures (): undefined {}
}
