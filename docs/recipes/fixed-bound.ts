// A bound of a fixed size on bytes in flight, with marks of its own: a path control that does not build on the muxer's.
import { ForwardingControl, MIN_WRITE_BYTES, NoControl } from 'libp2p-coalescing-yamux/path-control'
import type { CreatePathControl, PathControl, PathInit, Positions, WritePlan } from 'libp2p-coalescing-yamux/path-control'

const FIRST_MARK_VALUE = 2 ** 31
/** A peer with this muxer allows 1,000 pings a second */
const MARK_EVERY_MS = 2
/** A peer may drop a pong: then another mark follows */
const LOST_PONG_MS = 1000
/** One before a write, and one after it */
const MARKS_BYTES = 24

/** No more than `boundBytes` are in flight, urgent data included */
export function fixedBound (boundBytes: number): CreatePathControl {
  return (init, positions) => new FixedBound(init, positions, boundBytes)
}

class FixedBound extends ForwardingControl {
  readonly #boundBytes: number
  readonly #positions: Positions
  /** The position of each mark in flight, by its value, the oldest first */
  readonly #marks = new Map<number, number>()
  #eighths = 0
  #markedMs = -Infinity
  #isMarkDue = false
  #isClosing = false

  constructor (init: PathInit, positions: Positions, boundBytes: number) {
    super(new NoControl(init))
    this.#positions = positions
    this.#boundBytes = boundBytes
  }

  get #roomBytes (): number {
    return this.#boundBytes - MARKS_BYTES - (this.#positions.writtenBytes - this.#positions.confirmedBytes)
  }

  override get isHeld (): boolean { return !this.#isClosing && this.#roomBytes < MIN_WRITE_BYTES }
  override get isMarkDue (): boolean { return this.#isMarkDue }
  override get fullWriteBytes (): number { return MIN_WRITE_BYTES }
  override get isUrgentSpent (): boolean { return this.isHeld }
  override get lookDelayMs (): number { return MARK_EVERY_MS }

  /** Also asked while data is held, for control frames: then there is no room */
  override planWrite (recordBytes: number, ...rest: [number, number, boolean]): WritePlan {
    const writeBytes = this.#isClosing ? recordBytes : Math.min(recordBytes, Math.max(MIN_WRITE_BYTES, this.#roomBytes))

    return Object.assign(super.planWrite(recordBytes, ...rest), { writeBytes })
  }

  /** Small messages count, too */
  override needsNoMark (): boolean {
    return false
  }

  /** Pongs alone get no mark: two ends that both marked them would answer each other without end */
  override onWritten (...[, , hasData, , nowMs]: Parameters<PathControl['onWritten']>): boolean {
    return hasData && nowMs - this.#markedMs >= MARK_EVERY_MS
  }

  /** Even, and each value once */
  override mark (nowMs: number): number {
    this.#isMarkDue = false
    this.#markedMs = nowMs
    this.#eighths = Math.max(this.#eighths + 2, 2 * Math.floor(4 * nowMs))
    const value = FIRST_MARK_VALUE + this.#eighths % FIRST_MARK_VALUE
    this.#marks.set(value, this.#positions.writtenBytes)

    return value
  }

  override requestMark (): boolean {
    this.#isMarkDue = true

    return true
  }

  override onPong (value: number): boolean {
    const positionBytes = this.#marks.get(value)

    if (positionBytes === undefined) {
      return false
    }

    for (const [earlier, earlierBytes] of this.#marks) {
      if (earlierBytes <= positionBytes) {
        this.#marks.delete(earlier)
      }
    }

    this.#positions.confirm(positionBytes)

    return true
  }

  /** The held data has no mark after it, or its pong is lost */
  override look (nowMs: number): void {
    this.#isMarkDue = this.#marks.size === 0 || nowMs - this.#markedMs >= LOST_PONG_MS
  }

  override onClosing (): void {
    this.#isClosing = true
  }
}
