/**
 * How much of a connection's data may be in flight: the one seam between the protocol and what is known of the path. The session asks before
 * each write, and tells of each write and of everything that shows what has arrived. Pure: time and bytes go in.
 */
import type { Positions } from './positions.ts'

/** No write is made smaller than this because the path is slow */
export const MIN_WRITE_BYTES = 4096

/** What a control is made for */
export interface PathInit {
  /** `coalesce.maxQueueDelayMs`: how long data may be queued below the muxer; Infinity if it is not to be held */
  maxQueueDelayMs: number
  /** What is sealed below as one record: the most that one write holds on a slow path, or with urgent streams */
  recordBytes: number
  /** The most that one write holds on a fast path */
  maxWriteBytes: number
  /** The least that a stream may send in a round of the scheduler, and the most */
  frameBytes: number
  maxFrameBytes: number
  /** The time that members are passed, for those that are passed none: milliseconds from any start, fractions included */
  nowMs (): number
}

export interface WritePlan {
  /** What the next write holds, MIN_WRITE_BYTES at least */
  writeBytes: number
  /** What each stream may send in a round of the scheduler */
  quantumBytes: number
  /** What each writer may queue in addition to the usual marks */
  extraQueueBytes: number
}

/** For metrics */
export interface PathFigures {
  inFlightBytes: number
  /** Infinity while nothing is held */
  boundBytes: number
  /** 0 until it was measured */
  bytesPerMs: number
  /** Without a queue; 0 until it was measured */
  roundTripMs: number
  /** How long data was held, all in all */
  heldMs: number
}

/** One for each connection. `Positions` are up to date when a member is called. */
export interface PathControl {
  /** Data waits, unless it is urgent */
  readonly isHeld: boolean
  /** Urgent data has used up what it may send while data is held: from here on it takes turns with the rest */
  readonly isUrgentSpent: boolean
  /** A mark goes with the next write, or is a write of its own */
  readonly isMarkDue: boolean
  /** A write that ends after this position leaves room for a mark */
  readonly leavesRoomFromBytes: number
  /** What a write holds that is not planned, as it is small: MIN_WRITE_BYTES at least */
  readonly writeBytes: number

  /** Asked while nothing is held and no mark is due: if so many bytes are written, no mark follows them, and nothing is held after them */
  isQuietFor (byteLength: number): boolean
  /** Asked before a write that streams share. Hot, as all that follows. */
  planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): Readonly<WritePlan>
  /**
   * So much was written, `urgentBytes` of it urgent data; without `hasData` it is control frames alone. `isAppLimited`: no data is left to
   * send. Returns whether a mark should follow.
   */
  onWritten (byteLength: number, urgentBytes: number, hasData: boolean, isAppLimited: boolean, nowMs: number): boolean
  /** The value of a mark that is written now, 2^31 at least; undefined until a ping was answered: then an ordinary ping is written */
  mark (nowMs: number): number | undefined
  /** The next write begins with a mark, if a ping was answered yet, or if it `isLast`. Returns false if it does not. */
  requestMark (isLast?: boolean): boolean

  /** The pong to a mark, whose position is now confirmed. Returns false if nobody waits for it. */
  onPong (value: number, nowMs: number): boolean
  /** The pong to any other ping, which was written at this position */
  onRoundTrip (positionBytes: number, roundTripMs: number, nowMs: number): void
  /** The peer's ping: perhaps one of its own marks */
  onPing (value: number, nowMs: number): void
  /** Bytes of the peer, while a mark is not answered */
  onChunk (byteLength: number, nowMs: number): void
  /** The transport takes no more for now */
  onTransportFull (nowMs: number): void

  /** While data is held: how long until `look` */
  readonly lookDelayMs: number
  look (nowMs: number): void
  /** The connection is being closed: nothing is held from here on */
  onClosing (nowMs: number): void
  end (): void
  figures (nowMs: number): PathFigures | undefined
}

export type CreatePathControl = (init: PathInit, positions: Positions) => PathControl

/** Holds nothing, and writes no marks */
export class NoControl implements PathControl {
  readonly isHeld = false
  readonly isUrgentSpent = false
  readonly isMarkDue = false
  readonly leavesRoomFromBytes = Infinity
  readonly lookDelayMs = Infinity
  readonly writeBytes: number
  readonly #plan: WritePlan

  constructor ({ recordBytes, frameBytes }: Pick<PathInit, 'recordBytes' | 'frameBytes'>) {
    this.writeBytes = recordBytes
    this.#plan = { writeBytes: recordBytes, quantumBytes: frameBytes, extraQueueBytes: 0 }
  }

  isQuietFor (): boolean { return true }
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
