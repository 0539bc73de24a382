/**
 * The marks in flight: the position of each, and when another may be written. Hot: runs once per write.
 *
 * Invariant: the marks are in the order in which they were written, and there are at most MAX_MARKS.
 */
import { FIRST_MARK_VALUE } from '../core/wire/frame.ts'

/** This many marks may be written at once, then one in each interval. Otherwise the rate of a LAN would be learned in steps of 5 ms. */
const MARKS_AT_ONCE = 8
/** If more are in flight, the oldest is forgotten: the pong to a later one confirms its data too */
const MAX_MARKS = 64

/**
 * The value of a mark is the time since the first one, in these units, and in its last bit whether it replies to a mark of the peer. The clock
 * itself would tell a peer how long this process runs, and which connections belong to it.
 */
export const UNITS_PER_MS = 8

export interface Mark {
  value: number
  sentMs: number
  /** How much was written before it, and how much of that was known to have arrived */
  positionBytes: number
  acknowledgedBytes: number
  /** How much of the rest had probably arrived */
  arrivedBytes: number
  /** When the last pong came, or, if nothing was in flight since, when data was first written */
  acknowledgedMs: number
  /** Received from the peer until then */
  receivedBytes: number
  isAppLimited: boolean
  /** Earlier marks that are unanswered when its pong comes. They stay so, as pongs come in order. */
  lostMarks: number
}

export class Marks {
  inFlight: Mark[] = []
  #firstMs: number | undefined
  #lastUnits = -2
  /** When another may be written */
  #nextMs = -Infinity

  /** One was written, and may have been answered since */
  get hasWritten (): boolean {
    return this.#firstMs !== undefined
  }

  /** Returns the value of the mark */
  write (place: Omit<Mark, 'value' | 'lostMarks'>, isReply: boolean): number {
    this.#firstMs ??= place.sentMs
    const units = 2 * Math.floor((place.sentMs - this.#firstMs) * UNITS_PER_MS / 2)
    // no two marks in flight have the same value
    this.#lastUnits = Math.max(units, this.#lastUnits + 2)
    const value = FIRST_MARK_VALUE + this.#lastUnits % FIRST_MARK_VALUE + Number(isReply)

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

    return mark
  }

  /** The pong to another ping has confirmed the data in front of them */
  forgetUpTo (positionBytes: number): void {
    this.inFlight = this.inFlight.filter(mark => mark.positionBytes > positionBytes)
  }

  /** Whether a mark may be written now: one in each interval, or MARKS_AT_ONCE. True counts as a mark. */
  mayFollow (nowMs: number, intervalMs: number): boolean {
    if (nowMs < this.#nextMs) {
      return false
    }

    this.#nextMs = Math.max(this.#nextMs, nowMs - (MARKS_AT_ONCE - 1) * intervalMs) + intervalMs

    return true
  }
}
