/**
 * Turns of the event loop. `EventLoop` numbers them and measures how long the program works in one, for all connections of a thread.
 * `WriterTurn` counts what one connection has written in this turn, and decides what it may still write. Hot.
 */
import { RECORD_BYTES } from '../options/coalesce.ts'
import type { Clock } from './clock.ts'
import type { Turn } from '../core/flush.ts'

/** A program that seems to have worked for longer was suspended, or the clock has jumped */
const MAX_PROGRAM_MS = 1000

const loops = new WeakMap<Clock, EventLoop>()

/** Shared by all connections of a thread, as waiting for the end of a turn is too expensive to do per connection */
class EventLoop {
  /** The number of this turn. Turns whose end no connection awaits are not counted. */
  turn = 0
  /**
   * How long the program works in a turn: the longest time after a flush without another flush or a chunk. It excludes the time spent in
   * flushes and on chunks. If the only flush of a turn comes last, no work can be measured, and the turn halves this value at most.
   */
  programMs = 0
  /** How long all connections have written in this turn, without flushes too short to be timed */
  writingMs = 0
  readonly #clock: Clock
  #isAwaited = false
  /** There was a flush in this turn */
  #hasFlushed = false
  /** The end of the last flush or the arrival of the last chunk, whichever is later; and the longest time from one to the next */
  #programFromMs = 0
  #longestMs = 0

  /** The one of all connections that have this clock */
  static of (clock: Clock): EventLoop {
    const loop = loops.get(clock) ?? new EventLoop(clock)
    loops.set(clock, loop)

    return loop
  }

  private constructor (clock: Clock) {
    this.#clock = clock
  }

  /** Makes this turn count, because a caller will act in the next. Call it before `nextTurn`, so that `turn` changes first. */
  awaitNextTurn (): void {
    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  onFlushed (flushedMs: number): void {
    this.#hasFlushed = true
    this.#programFromMs = flushedMs
    this.awaitNextTurn()
  }

  /** A chunk has come. Returns how long the program works before it reads the next, or 0 if its turns are short. Hot. */
  onChunk (nowMs: number): number {
    if (this.#hasFlushed) {
      this.#longestMs = Math.max(this.#longestMs, nowMs - this.#programFromMs)
      this.#programFromMs = nowMs
    }

    return this.programMs >= LONG_TURN_MS ? this.programMs : 0
  }

  readonly #onNextTurn = (): void => {
    if (this.#hasFlushed) {
      const workedMs = Math.max(this.#longestMs, this.#clock.nowMs() - this.#programFromMs)
      this.programMs = Math.max(Math.min(MAX_PROGRAM_MS, workedMs), this.programMs / 2)
      this.#hasFlushed = false
      this.#longestMs = 0
    }

    this.writingMs = 0
    this.turn++
    this.#isAwaited = false
  }
}

/**
 * The most that a connection writes in one turn, which takes about 10 ms at 400 MB/s. Without it, writers that go on as soon as they may
 * would delay the application's timers.
 */
const MAX_TURN_BYTES = 4_194_304
/** The same while there are urgent streams, whose next message may come in the next turn */
const MAX_TURN_BYTES_WITH_URGENT = 262_144
/**
 * This long after the first write of a turn only urgent data is written. Encryption can take several times as long as the byte count suggests.
 * Programs with longer turns would make the rest wait too long, so then all connections together may write for as long as the program works.
 */
const MAX_TURN_MS = 5
/** Small writes cost more per byte. A writer that sends one byte as soon as the last has left must not occupy the turn. */
const MAX_TURN_WRITES = 1000

/** If the program works this long in its turns, output should not wait for the next turn */
const LONG_TURN_MS = 10

/**
 * Answers to a chunk that comes this long after the last flush do not wait for the next turn. If turns are long, no answers wait, as credit
 * and pongs would be late.
 */
const ANSWERED_APART_MS = 1

/** Shorter flushes take too little time to be measured */
const TIMED_FROM_BYTES = RECORD_BYTES

export class WriterTurn implements Turn {
  flushes = 0
  isSpent = false
  isExhausted = false
  /** This side has opened a stream */
  hasOpened = false
  /** The end of the last flush */
  flushedMs = 0
  readonly loop: EventLoop
  readonly #clock: Clock
  /** The number of the turn that these counts belong to */
  #turn: number
  #writtenBytes = 0
  #writes = 0
  #beganMs = 0

  constructor (clock: Clock) {
    this.#clock = clock
    this.loop = EventLoop.of(clock)
    this.#turn = this.loop.turn
  }

  /** Output that waits for the next turn waits long */
  get isLong (): boolean {
    return this.loop.programMs >= LONG_TURN_MS
  }

  takesAnswer (receivedMs: number): boolean {
    return !this.isExhausted && (this.isLong || receivedMs - this.flushedMs >= ANSWERED_APART_MS)
  }

  /** Starts new counts if a new turn has begun */
  update (): void {
    if (this.#turn !== this.loop.turn) {
      this.#turn = this.loop.turn
      this.flushes = 0
      this.isSpent = false
      this.isExhausted = false
      this.hasOpened = false
      this.#writtenBytes = 0
      this.#writes = 0
    }
  }

  onOpened (): void {
    this.hasOpened = true
    this.loop.awaitNextTurn()
  }

  /** A write has been handed to the transport, in a flush that began at `startMs` */
  onWrite (byteLength: number, startMs: number, nowMs: number, hasUrgentStreams: boolean): void {
    this.#writtenBytes += byteLength

    // most turns have one short write
    if (++this.#writes === 1) {
      this.#beganMs = nowMs

      if (byteLength < MAX_TURN_BYTES_WITH_URGENT) {
        return
      }
    }

    const { programMs, writingMs } = this.loop
    this.isExhausted = this.#writes >= MAX_TURN_WRITES || this.#writtenBytes >= MAX_TURN_BYTES * Math.max(1, programMs / LONG_TURN_MS)
    const isLate = nowMs - this.#beganMs >= MAX_TURN_MS && writingMs + nowMs - startMs >= programMs
    this.isSpent ||= this.isExhausted || isLate || (hasUrgentStreams && this.#writtenBytes >= MAX_TURN_BYTES_WITH_URGENT)
  }

  /** A flush that began at `startMs` has ended; its last write began at `nowMs` */
  onFlushed (writtenBytes: number, startMs: number, nowMs: number): void {
    this.flushes++

    if (writtenBytes < TIMED_FROM_BYTES) {
      this.flushedMs = nowMs
    } else {
      this.flushedMs = this.#clock.nowMs()
      this.loop.writingMs += this.flushedMs - startMs
    }

    this.loop.onFlushed(this.flushedMs)
  }
}
