/**
 * Turns of the event loop: which one it is, and how long the program works in one, as all connections of a thread see it (EventLoop); what one
 * connection has written in this turn, and so what it may still write (TurnOfWriter). Hot.
 */
import { RECORD_BYTES } from '../options/coalesce.ts'
import type { Clock } from './clock.ts'
import type { Turn } from '../core/flush.ts'

/** Stays a small integer */
const TURN_NUMBERS = 2 ** 30

/** A program that seems to have worked for longer was suspended, or the clock has jumped */
const MOST_PROGRAM_MS = 1000

const loops = new WeakMap<Clock, EventLoop>()

/** One look serves all connections: a look for each write took an eighth of a send in a node whose 100 connections write in turn. */
class EventLoop {
  /** Counts turns, but not one whose end nobody awaits: that goes on */
  turn = 0
  /**
   * How long the program works in a turn: the longest time behind a flush in which neither another flush came nor a chunk. So it is not the
   * time that flushes take, or reading chunks. A turn whose only flush was at its end shows nothing, so each turn does no more than halve what
   * was known: else a busy server stopped after 5 ms in the next.
   */
  programMs = 0
  /** How long all connections have written in this turn, but for flushes that take next to no time */
  writingMs = 0
  readonly #clock: Clock
  #isAwaited = false
  /** There was a flush in this turn */
  #hasFlushed = false
  /** When the last flush ended or the last chunk came, whichever was later; and the longest time until the next */
  #programFromMs = 0
  #longestMs = 0

  /** That of the connections which have this clock */
  static of (clock: Clock): EventLoop {
    let loop = loops.get(clock)

    if (loop === undefined) {
      loop = new EventLoop(clock)
      loops.set(clock, loop)
    }

    return loop
  }

  private constructor (clock: Clock) {
    this.#clock = clock
  }

  /** Something is to be forgotten, or done, when the turn ends */
  awaitNextTurn (): void {
    if (!this.#isAwaited) {
      this.#isAwaited = true
      this.#clock.nextTurn(this.#onNextTurn)
    }
  }

  /** A flush has come to its end */
  onFlushed (flushedMs: number): void {
    this.#hasFlushed = true
    this.#programFromMs = flushedMs
    this.awaitNextTurn()
  }

  /** A chunk has come. Returns how long the program works before it looks for the next; 0 if that is next to nothing. Hot. */
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
      this.programMs = Math.max(Math.min(MOST_PROGRAM_MS, workedMs), this.programMs / 2)
      this.#hasFlushed = false
      this.#longestMs = 0
    }

    this.writingMs = 0
    this.turn = (this.turn + 1) % TURN_NUMBERS
    this.#isAwaited = false
  }
}

/**
 * So much is written in one turn, in about 10 ms at 400 MB/s; the rest is for the next. Writers that go on as soon
 * as they may would otherwise keep the application's timers waiting: 20 of them for 35 ms. With a quarter of it
 * 1,000 streams of small messages lose a tenth.
 */
const MAX_TURN_BYTES = 4_194_304
/** The same while there are urgent streams, whose next message may come in the next turn: 20 such writers, 9 ms */
const MAX_TURN_BYTES_WITH_URGENT = 262_144
/**
 * So long after the first write of a turn only urgent data makes another write: with Noise 4 MiB take 20 to 30 ms. A program that works long in
 * its turns would wait a whole turn for the rest: all connections together may write for as long as it has just worked. A server that
 * works 50 ms in each turn took seven of them for 5 MiB of answers.
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

/** A flush that is shorter than a record takes next to no time */
const TIMED_FROM_BYTES = RECORD_BYTES

export class TurnOfWriter implements Turn {
  flushes = 0
  isSpent = false
  isOver = false
  /** This side has opened a stream */
  hasOpened = false
  /** When the last flush had come to its end */
  flushedMs = 0
  readonly loop: EventLoop
  readonly #clock: Clock
  /** The turn of the event loop that all this is of */
  #turn: number
  #writtenBytes = 0
  #writes = 0
  #beganMs = 0

  constructor (clock: Clock) {
    this.#clock = clock
    this.loop = EventLoop.of(clock)
    this.#turn = this.loop.turn
  }

  /** What waits for the next turn waits for long */
  get isLong (): boolean {
    return this.loop.programMs >= LONG_TURN_MS
  }

  takesAnswer (receivedMs: number): boolean {
    return !this.isOver && (this.isLong || receivedMs - this.flushedMs >= APART_MS)
  }

  /** Begins anew if the event loop has come round */
  follow (): void {
    if (this.#turn !== this.loop.turn) {
      this.#turn = this.loop.turn
      this.flushes = 0
      this.isSpent = false
      this.isOver = false
      this.hasOpened = false
      this.#writtenBytes = 0
      this.#writes = 0
    }
  }

  onOpened (): void {
    this.hasOpened = true
    this.loop.awaitNextTurn()
  }

  /** The caller will write in the next turn: this makes that turn begin first */
  awaitNext (): void {
    this.loop.awaitNextTurn()
  }

  /** A write has been handed down, in a flush that began at `startMs` */
  onWrite (byteLength: number, startMs: number, nowMs: number, hasUrgentStreams: boolean): void {
    this.#writtenBytes += byteLength

    // most turns have one write, and it is short
    if (++this.#writes === 1) {
      this.#beganMs = nowMs

      if (byteLength < MAX_TURN_BYTES_WITH_URGENT) {
        return
      }
    }

    const { programMs, writingMs } = this.loop
    this.isOver = this.#writes >= MAX_TURN_WRITES || this.#writtenBytes >= MAX_TURN_BYTES * Math.max(1, programMs / LONG_TURN_MS)
    const isLate = nowMs - this.#beganMs >= MAX_TURN_MS && writingMs + nowMs - startMs >= programMs
    this.isSpent ||= this.isOver || isLate || (hasUrgentStreams && this.#writtenBytes >= MAX_TURN_BYTES_WITH_URGENT)
  }

  /** A flush has written so much; its last write began at `nowMs` */
  onFlushed (writtenBytes: number, startMs: number, nowMs: number): void {
    this.flushes++

    if (writtenBytes < TIMED_FROM_BYTES) {
      this.flushedMs = nowMs
    } else {
      this.flushedMs = this.#clock.nowMs()
      this.loop.writingMs += Math.max(0, this.flushedMs - startMs)
    }

    this.loop.onFlushed(this.flushedMs)
  }
}
