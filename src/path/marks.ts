/**
 * The marks in flight: the position of each, which part of them is answered, and when another may be written. Hot: runs once per write.
 *
 * Invariant: the marks are in the order in which they were written, and there are at most MAX_MARKS.
 */

import { LONGEST_MS } from '../core/window/round-trip.ts'
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'

/** This many marks may be written at once, then one in each interval. Otherwise the rate of a LAN would be learned in steps of 5 ms. */
const MARKS_AT_ONCE = 8
/** If more are in flight, the oldest is forgotten: the pong to a later one confirms its data too */
const MAX_MARKS = 64

/** The weight of a mark in `answeredPart`, compared with the next one */
const ANSWERED_FADES = 7 / 8
/** If the peer answers less than this part of the marks, pongs do not show what has arrived */
const FEW_PART = 1 / 4

export interface Mark {
  value: number
  sentMs: number
  /** How much was written before it, and how much of that was known to have arrived */
  positionBytes: number
  acknowledgedBytes: number
  /** When the last pong came, or, if nothing was in flight since, when data was first written */
  acknowledgedMs: number
  /** Received from the peer until then */
  receivedBytes: number
  isAppLimited: boolean
  /** Earlier marks that are unanswered when its pong comes. They stay so, as pongs come in order. */
  lostMarks: number
}

export class Marks {
  /** The part of the recent marks that was answered */
  answeredPart = 1
  inFlight: Mark[] = []
  /** Values count up by two. Those of marks behind which data fills the path are odd. */
  #nextValue = 0
  /** When another may be written */
  #nextMs = 0

  get rarelyAnswers (): boolean {
    return this.answeredPart < FEW_PART
  }

  /** Returns the value of the mark. `isFull` tells the peer that there is more data than the path carries. */
  write (place: Omit<Mark, 'value' | 'lostMarks'>, isFull: boolean): number {
    const value = FIRST_MARK_VALUE + this.#nextValue + Number(isFull)
    this.#nextValue = (this.#nextValue + 2) % FIRST_MARK_VALUE

    if (this.inFlight.length === MAX_MARKS) {
      this.inFlight.shift()
    }

    this.inFlight.push({ value, lostMarks: 0, ...place })

    return value
  }

  /** Returns undefined if no mark with this value is in flight */
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

  /** The pong to another ping has confirmed the data in front of them */
  forgetUpTo (positionBytes: number): void {
    this.inFlight = this.inFlight.filter(mark => mark.positionBytes > positionBytes)
  }

  /** Whether a mark may be written now: one in each interval, or MARKS_AT_ONCE unless `isRare`. True counts as a mark. */
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
