// A limit on what a node uploads, in front of the muxer's own control: all its connections together send no more than a rate.
import { ForwardingControl, fullControl, MIN_WRITE_BYTES } from 'libp2p-coalescing-yamux/path-control'
import type { CreatePathControl, PathControl, Positions, WritePlan } from 'libp2p-coalescing-yamux/path-control'

export interface UploadLimit {
  bytesPerS: number
  /** How much may leave at once after a pause */
  burstBytes: number
}

/** Data waits until so much may leave: each write costs a record and its encryption */
const TURN_BYTES = 8192
const LEAST_BURST_BYTES = 2 * TURN_BYTES
/** A ping in front of a write and one behind it */
const MARKS_BYTES = 24

/**
 * In any time, at most `burstBytes + bytesPerS * time` leave. Urgent data, control frames and the last bytes of a connection may exceed
 * that, and other data waits for as long as they take.
 */
export function uploadLimit ({ bytesPerS, burstBytes }: UploadLimit): CreatePathControl {
  if (!(bytesPerS > 0 && burstBytes >= LEAST_BURST_BYTES)) {
    throw new RangeError(`bytesPerS is ${bytesPerS} and must be above 0, burstBytes is ${burstBytes} and must be ${LEAST_BURST_BYTES} or more`)
  }

  // shared: the muxer calls the function below for each connection
  let bucket: Bucket | undefined
  const createInner = fullControl()

  return (init, positions) => {
    bucket ??= new Bucket(bytesPerS / 1000, burstBytes, init.nowMs)

    return new LimitedControl(createInner(init, positions), positions, bucket)
  }
}

/** A token bucket: time fills it, writes empty it and may overdraw it */
class Bucket {
  readonly burstBytes: number
  /** Connections that have more to send */
  readonly waiting = new Set<PathControl>()
  readonly #bytesPerMs: number
  readonly #nowMs: () => number
  #leftBytes: number
  #filledMs: number

  constructor (bytesPerMs: number, burstBytes: number, nowMs: () => number) {
    this.burstBytes = burstBytes
    this.#bytesPerMs = bytesPerMs
    this.#nowMs = nowMs
    this.#leftBytes = burstBytes
    this.#filledMs = nowMs()
  }

  get leftBytes (): number {
    const nowMs = this.#nowMs()
    this.#leftBytes = Math.min(this.burstBytes, this.#leftBytes + (nowMs - this.#filledMs) * this.#bytesPerMs)
    this.#filledMs = nowMs

    return this.#leftBytes
  }

  spend (byteLength: number): void {
    this.#leftBytes -= byteLength
  }

  /** In whole milliseconds, as timers are */
  msUntil (byteLength: number): number {
    return Math.ceil((byteLength - this.leftBytes) / this.#bytesPerMs)
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

  constructor (inner: PathControl, positions: Positions, bucket: Bucket) {
    super(inner)
    this.#positions = positions
    this.#bucket = bucket
  }

  /** A connection that had its turn leaves a turn to each other one that waits */
  get #neededBytes (): number {
    const { waiting } = this.#bucket

    return this.#hadTurn ? TURN_BYTES * Math.max(1, waiting.has(this) ? waiting.size : waiting.size + 1) : TURN_BYTES
  }

  get #isEmpty (): boolean {
    return !this.#isClosing && this.#bucket.leftBytes < this.#neededBytes
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
    this.#bucket.spend(writtenBytes - this.#spentBytes)
    this.#spentBytes = writtenBytes
    this.#hadTurn ||= hasData && urgentBytes === 0

    if (isAppLimited) {
      this.#bucket.waiting.delete(this)
    } else {
      this.#bucket.waiting.add(this)
    }

    // if the limit ends a write, the path may carry more: the inner control must not learn the limit as the path's rate
    return super.onWritten(byteLength, urgentBytes, hasData, isAppLimited || this.#isEmpty, nowMs)
  }

  override get lookDelayMs (): number {
    return this.inner.isHeld ? this.inner.lookDelayMs : this.#bucket.msUntil(this.#neededBytes)
  }

  override look (nowMs: number): void {
    this.#hadTurn = false
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
}
