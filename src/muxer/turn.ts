/**
 * How much this turn of the event loop has written, and how long the program works in its turns: both say what a turn may still write. Hot.
 */
import type { Turn } from '../core/flush.ts'

/**
 * So much is written in one turn, in about 10 ms at 400 MB/s; the rest is for the next. Writers that go on as soon
 * as they may would otherwise keep the application's timers waiting: 20 of them for 35 ms. With a quarter of it
 * 1,000 streams of small messages lose a tenth.
 */
const MAX_TURN_BYTES = 4_194_304
/** The same while there are urgent streams, whose next message may come in the next turn: 20 such writers, 9 ms */
const MAX_TURN_BYTES_WITH_URGENT = 262_144
/**
 * So long after the first write of a turn only urgent data is written: with Noise 4 MiB take 20 to 30 ms. But all connections together may
 * write for as long as the program itself has just worked: what is stopped waits for all of that again. A server that works 50 ms in each turn
 * took seven of them for 5 MiB of answers.
 */
const MAX_TURN_MS = 5
/** And so many writes: small ones take longer by the byte. Who sends a byte whenever one has left would write 160,000 times in 2 s. */
const MAX_TURN_WRITES = 1000

/** Where the program works so long in its turns, what is put off to the next waits for long */
const LONG_TURN_MS = 10

/**
 * Answers to a chunk that comes so long after the last flush do not wait for the next turn, and where turns are long none do: a reader that
 * works 200 ms in each gave its credit a turn late, and its pongs.
 */
const APART_MS = 1

/** A flush that is shorter takes next to no time */
const TIMED_FROM_BYTES = 65_519

/** How long all writers of this thread have written: that is not the program's own work */
let allWritingMs = 0

export class TurnOfWriter implements Turn {
  flushes = 0
  isOver = false
  /** This side has opened a stream */
  hasOpened = false
  /** When the last flush had come to its end */
  flushedMs = 0
  readonly #nowMs: () => number
  #writtenBytes = 0
  #maxBytes = MAX_TURN_BYTES
  #writes = 0
  #beganMs = 0
  /** How long the program worked between the last turn that wrote and the one behind it */
  #programMs = 0
  /** What `allWritingMs` was when this turn began, and behind the last flush */
  #writingMsBefore = 0
  #flushedWritingMs = 0

  constructor (nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** What waits for the next turn waits for long */
  get isLong (): boolean {
    return this.#programMs >= LONG_TURN_MS
  }

  /** It has written so much that all but urgent data waits */
  get isSpent (): boolean {
    return this.flushes === Infinity
  }

  takesAnswer (receivedMs: number): boolean {
    return !this.isOver && (this.isLong || receivedMs - this.flushedMs >= APART_MS)
  }

  /** A write has been handed down, in a flush that began at `startMs` */
  onWrite (byteLength: number, startMs: number, nowMs: number, hasUrgentStreams: boolean): void {
    if (this.#writes === 0) {
      this.#beganMs = nowMs
    }

    this.#writtenBytes += byteLength
    this.#writes++
    this.isOver = this.#writtenBytes >= this.#maxBytes || this.#writes >= MAX_TURN_WRITES
    const isLate = nowMs - this.#beganMs >= MAX_TURN_MS && allWritingMs - this.#writingMsBefore + nowMs - startMs >= this.#programMs

    if (this.isOver || isLate || (hasUrgentStreams && this.#writtenBytes >= MAX_TURN_BYTES_WITH_URGENT)) {
      this.flushes = Infinity
    }
  }

  /** A flush has written so much; its last write began at `nowMs` */
  onFlushed (writtenBytes: number, startMs: number, nowMs: number): void {
    this.flushes++
    this.flushedMs = writtenBytes >= TIMED_FROM_BYTES ? this.#nowMs() : nowMs
    allWritingMs += Math.max(0, this.flushedMs - startMs)
    this.#flushedWritingMs = allWritingMs
  }

  /** The event loop has come round */
  begin (): void {
    if (this.#writes > 0) {
      this.#programMs = this.#nowMs() - this.flushedMs - (allWritingMs - this.#flushedWritingMs)
      this.#maxBytes = MAX_TURN_BYTES * Math.max(1, this.#programMs / LONG_TURN_MS)
    }

    this.#writingMsBefore = allWritingMs
    this.flushes = 0
    this.isOver = false
    this.hasOpened = false
    this.#writtenBytes = 0
    this.#writes = 0
  }
}
