/**
 * The marks that are in flight: where each stands, which of them are answered, and when there may be another. Hot: runs once per write.
 *
 * Invariant: marks are in the order in which they were written, MAX_MARKS at most.
 */

import { LONGEST_MS } from '../core/window/round-trip.ts'
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'

/** Behind them one in an interval. With no more than that a connection would learn the rate of a LAN in steps of 5 ms. */
const MARKS_AT_ONCE = 8
/** The oldest is forgotten: a later one says the same */
const MAX_MARKS = 64

/** Each mark counts so much less than the one behind it */
const ANSWERED_FADES = 7 / 8
/** Of a peer that answers less than this part of the marks it is not known what has arrived */
const FEW_PART = 1 / 4

export interface Mark {
  value: number
  sentMs: number
  /** What had been handed down in front of it, and how much of that had arrived */
  positionBytes: number
  acknowledgedBytes: number
  /** When that was known, or data was first handed down */
  acknowledgedMs: number
  /** What had come from the peer */
  receivedBytes: number
  isAppLimited: boolean
  /** Marks in front of it that had no pong when its own came, and never will have: pongs come in order */
  lostMarks: number
}

export class Marks {
  /** The part of the last marks that was answered */
  answeredPart = 1
  inFlight: Mark[] = []
  #nextValue = 0
  /** When there may be another */
  #nextMs = 0

  get answersFew (): boolean {
    return this.answeredPart < FEW_PART
  }

  /** Returns the value of the mark that is written now. `isFull`: more than the path carries is there to send. */
  write (place: Omit<Mark, 'value' | 'lostMarks'>, isFull: boolean): number {
    const value = FIRST_MARK_VALUE + this.#nextValue + Number(isFull)
    this.#nextValue = (this.#nextValue + 2) % FIRST_MARK_VALUE

    if (this.inFlight.length === MAX_MARKS) {
      this.inFlight.shift()
    }

    this.inFlight.push({ value, lostMarks: 0, ...place })

    return value
  }

  /** Returns undefined for the pong to a mark that nobody waits for */
  answer (value: number): Mark | undefined {
    const lostMarks = this.inFlight.findIndex(mark => mark.value === value)

    if (lostMarks === -1) {
      return undefined
    }

    const mark = this.inFlight[lostMarks]
    mark.lostMarks = lostMarks
    this.inFlight.splice(0, lostMarks + 1)
    this.answeredPart = this.answeredPart * ANSWERED_FADES ** (lostMarks + 1) + 1 - ANSWERED_FADES

    return mark
  }

  /** Another ping has told of them */
  forgetUpTo (positionBytes: number): void {
    this.inFlight = this.inFlight.filter(mark => mark.positionBytes > positionBytes)
  }

  /** One in `intervalMs`, some of them ahead of time unless they are `isRare`. Whoever is told "yes" writes it. */
  mayFollow (nowMs: number, intervalMs: number, isRare: boolean): boolean {
    const aheadMs = this.#nextMs - nowMs
    const isClockSetBack = aheadMs > LONGEST_MS

    if (aheadMs > (isRare ? 0 : MARKS_AT_ONCE - 1) * intervalMs && !isClockSetBack) {
      return false
    }

    this.#nextMs = nowMs + intervalMs + (isClockSetBack ? 0 : Math.max(0, aheadMs))

    return true
  }
}
