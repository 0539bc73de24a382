/**
 * A limit on what a node uploads, as a token bucket in front of another control: all its connections together send no more than a rate, and take turns.
 */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'
import { ForwardingControl } from './forwarding-control.ts'
import type { CreatePathControl, PathControl, PathFigures, WritePlan } from '../core/path-control.ts'
import type { Positions } from '../core/positions.ts'

/** Data waits until so much may leave: each write costs a record and its encryption */
const TURN_BYTES = 8192
export const LEAST_BURST_BYTES = 2 * TURN_BYTES
/** A ping in front of a write and one behind it */
const MARKS_BYTES = 24

/** Limits the connections whose controls come from one call */
export function limitUploads (bytesPerS: number, burstBytes: number, createInner: CreatePathControl): CreatePathControl {
  let bucket: Bucket | undefined

  return (init, positions) => {
    bucket ??= new Bucket(bytesPerS / 1000, burstBytes, init.nowMs)

    return new LimitedControl(createInner(init, positions), positions, bucket)
  }
}

/** A token bucket: time fills it, writes empty it and may overdraw it */
class Bucket {
  readonly burstBytes: number
  /** Connections that would send more without the limit */
  readonly waiting = new Set<PathControl>()
  readonly #bytesPerMs: number
  readonly nowMs: () => number
  #leftBytes: number
  #filledMs: number

  constructor (bytesPerMs: number, burstBytes: number, nowMs: () => number) {
    this.burstBytes = burstBytes
    this.#bytesPerMs = bytesPerMs
    this.nowMs = nowMs
    this.#leftBytes = burstBytes
    this.#filledMs = nowMs()
  }

  get leftBytes (): number {
    const nowMs = this.nowMs()
    this.#leftBytes = Math.min(this.burstBytes, this.#leftBytes + (nowMs - this.#filledMs) * this.#bytesPerMs)
    this.#filledMs = nowMs

    return this.#leftBytes
  }

  /** `isForgiven`: beyond a debt of one burst nobody else has to wait for it */
  spend (byteLength: number, isForgiven: boolean): void {
    this.#leftBytes = Math.max(this.#leftBytes - byteLength, isForgiven ? Math.min(this.#leftBytes, -this.burstBytes) : -Infinity)
  }

  /** In whole milliseconds, as timers are */
  msUntil (byteLength: number): number {
    return Math.max(0, Math.ceil((byteLength - this.leftBytes) / this.#bytesPerMs))
  }
}

class LimitedControl extends ForwardingControl {
  readonly #positions: Positions
  readonly #bucket: Bucket
  /** One object for all writes: planWrite is hot */
  readonly #plan: WritePlan = { writeBytes: 0, quantumBytes: 0, extraQueueBytes: 0 }
  #spentBytes = 0
  /** Others go first now. If all had the same chance, the one whose timer runs first would win each time. */
  #hadTurn = false
  #isClosing = false
  #limitedMs = 0
  /** When the limit began to hold data */
  #limitedSinceMs: number | undefined

  constructor (inner: PathControl, positions: Positions, bucket: Bucket) {
    super(inner)
    this.#positions = positions
    this.#bucket = bucket
  }

  /** A connection that had its turn leaves a turn to each other one that waits, but never needs so much that the bucket would run over meanwhile */
  get #neededBytes (): number {
    const { waiting, burstBytes } = this.#bucket

    return this.#hadTurn ? Math.min(burstBytes - TURN_BYTES / 2, TURN_BYTES * (waiting.has(this) ? waiting.size : waiting.size + 1)) : TURN_BYTES
  }

  get #isEmpty (): boolean {
    return !this.#isClosing && this.#bucket.leftBytes < this.#neededBytes
  }

  /** Data is held, and would not be without the limit */
  get #isLimiting (): boolean {
    return this.#isEmpty && !this.inner.isHeld
  }

  override get isHeld (): boolean {
    return this.inner.isHeld || this.#isEmpty
  }

  /** Urgent data passes what is held, and may overdraw the bucket by a burst */
  override get isUrgentSpent (): boolean {
    return this.inner.isUrgentSpent || (!this.#isClosing && this.#bucket.leftBytes <= -this.#bucket.burstBytes)
  }

  override planWrite (recordBytes: number, queuedBytes: number, streamCount: number, hasUrgent: boolean): WritePlan {
    const plan = Object.assign(this.#plan, super.planWrite(recordBytes, queuedBytes, streamCount, hasUrgent))

    if (!this.#isClosing) {
      plan.writeBytes = Math.max(MIN_WRITE_BYTES, Math.min(plan.writeBytes, Math.floor(this.#bucket.leftBytes) - MARKS_BYTES))
    }

    return plan
  }

  override onWritten (byteLength: number, urgentBytes: number, hasData: boolean, isAppLimited: boolean, nowMs: number): boolean {
    const { writtenBytes } = this.#positions
    // with marks, which byteLength leaves out
    this.#bucket.spend(writtenBytes - this.#spentBytes, this.#isClosing)
    this.#spentBytes = writtenBytes
    // a write of urgent data takes no turn; one of other data does, even with a little urgent data in it
    this.#hadTurn ||= hasData && (urgentBytes === 0 || byteLength - urgentBytes >= TURN_BYTES / 2)

    // if the limit ends a write, the path may carry more: the inner control must not learn the limit as the path's rate
    const needsMark = super.onWritten(byteLength, urgentBytes, hasData, isAppLimited || this.#isEmpty, nowMs)
    this.#countHold(nowMs)
    this.#limitedSinceMs = !isAppLimited && this.#isLimiting ? nowMs : undefined

    if (isAppLimited || this.inner.isHeld) {
      this.#bucket.waiting.delete(this)
    } else {
      this.#bucket.waiting.add(this)
    }

    return needsMark
  }

  /** Also read when data begins to wait */
  override get lookDelayMs (): number {
    if (this.#isLimiting) {
      this.#limitedSinceMs ??= this.#bucket.nowMs()
      this.#bucket.waiting.add(this)
    }

    return this.inner.isHeld ? this.inner.lookDelayMs : this.#bucket.msUntil(this.#neededBytes)
  }

  override look (nowMs: number): void {
    this.#hadTurn = false
    this.#countHold(nowMs)
    super.look(nowMs)
  }

  /** What is left leaves at once: close() waits for it, but for no more than 5 s */
  override onClosing (nowMs: number): void {
    this.#isClosing = true
    super.onClosing(nowMs)
  }

  override end (): void {
    this.#bucket.waiting.delete(this)
    super.end()
  }

  #countHold (nowMs: number): void {
    this.#limitedMs = this.#limitedMsAt(nowMs)
    this.#limitedSinceMs = undefined
  }

  #limitedMsAt (nowMs: number): number {
    return this.#limitedMs + (nowMs - (this.#limitedSinceMs ?? nowMs))
  }

  override figures (nowMs: number): PathFigures | undefined {
    const figures = super.figures(nowMs)

    return figures && { ...figures, heldSinceMs: figures.heldSinceMs ?? (this.#isEmpty ? this.#limitedSinceMs : undefined), limitedMs: this.#limitedMsAt(nowMs) }
  }
}
