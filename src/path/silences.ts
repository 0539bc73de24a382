/**
 * Late pongs: whether the path is slow or programs are, and how much more has to be in flight.
 *
 * A silence ends with a pong. If everything else in flight is then confirmed at once, or faster than the path carries data, it had arrived long
 * before. Programs or pongs were slow, or the path holds more than the bound. If it is confirmed at the rate of the path, the path is slow.
 */
import { LONGEST_MS } from '../core/window/round-trip.ts'
import type { Positions } from '../core/positions.ts'
import type { Mark } from './marks.ts'

/** When this part of the bytes in flight is confirmed the path was empty: the rest may be urgent data that was not held */
const EMPTIED_PART = 15 / 16

/** A pong that confirms a smaller part does not end a silence, as urgent data is sent even while other data is held */
const PROGRESS_PART = 1 / 16
/** The part of a silence in which nothing at all came. If bytes come all the time, the pong may have waited behind them. */
const QUIET_PART = 1 / 3

type AnsweredMark = Pick<Mark, 'positionBytes' | 'lostMarks'>

/** A time without pongs, and the pong that ended it */
interface Silence {
  silentMs: number
  endedMs: number
  /** In flight when that pong came */
  inFlightBytes: number
  /** The part of it that was to be confirmed after that pong */
  restBytes: number
  /** Pongs have caught up when this position is confirmed */
  untilBytes: number
  /** Earlier marks were lost, so the peer was silent, and the path was not slow */
  hasLost: boolean
}

/** Pongs have caught up: after a silence everything that was in flight is confirmed */
export interface CatchUp extends Silence {
  nowMs: number
  /** The position that is confirmed */
  arrivedPositionBytes: number
  /** How long it took to confirm the rest */
  restMs: number
}

/** Finds silences, and when pongs have caught up after one */
export class PongSilence {
  #silence: Silence | undefined
  /** When a pong last confirmed more than a little, and the position that it confirmed */
  #progressMs = 0
  #progressBytes = 0
  #receivedMs = 0
  /** The longest time since then in which nothing came from the peer */
  #quietMs = 0

  /** Bytes came from the peer while marks are in flight. Before `beganMs` nothing was in flight. */
  onChunk (nowMs: number, beganMs: number): void {
    if (beganMs > this.#progressMs) {
      this.#progressMs = beganMs
      this.#quietMs = 0
    }

    this.#quietMs = Math.max(this.#quietMs, nowMs - Math.max(this.#receivedMs, this.#progressMs))
    this.#receivedMs = nowMs
  }

  /**
   * Silences longer than `coveredSilenceMs` count. It is Infinity if no data was held, or during a probe, as an idle path shows nothing then.
   * `nowMs`: when the pong would have come without the peer's delay.
   */
  onPong ({ positionBytes, lostMarks }: AnsweredMark, acknowledgedBytes: number, { writtenBytes, markedBytes }: Pick<Positions, 'writtenBytes' | 'markedBytes'>, coveredSilenceMs: number, nowMs: number): CatchUp | undefined {
    const silentMs = nowMs - this.#progressMs
    const hasLost = lostMarks > 0

    if (silentMs > coveredSilenceMs && silentMs <= LONGEST_MS && (hasLost || this.#quietMs >= QUIET_PART * silentMs)) {
      const untilBytes = acknowledgedBytes + EMPTIED_PART * (markedBytes - acknowledgedBytes)

      this.#silence = {
        silentMs,
        hasLost,
        untilBytes,
        endedMs: nowMs,
        inFlightBytes: writtenBytes - acknowledgedBytes,
        restBytes: Math.max(0, untilBytes - positionBytes)
      }
    }

    if (positionBytes - this.#progressBytes >= PROGRESS_PART * (writtenBytes - this.#progressBytes)) {
      this.#progressMs = nowMs
      this.#progressBytes = positionBytes
      this.#quietMs = 0
    }

    const silence = this.#silence

    if (silence === undefined || positionBytes < silence.untilBytes) {
      return undefined
    }

    this.#silence = undefined

    return { ...silence, nowMs, arrivedPositionBytes: positionBytes, restMs: nowMs - silence.endedMs }
  }
}

/** This many times the bytes in flight are tried, during start-up and later */
const START_UP_BOOST = 4
const BOOST = 2
/** Bytes that are confirmed in this part of the time that the path takes, or at once, were not in its queue */
const TOGETHER_PART = 1 / 2
const TOGETHER_MS = 1
/** A smaller rest shows no rate: the path may have carried all of it before the first pong */
const REST_PART = 1 / 4
/** In this time a silence fades to 1/e of its length, so that little is lost when it comes again */
const FADES_MS = 10_000

/**
 * How much more may be in flight because programs or pongs are slow and the path is not: what the path carries in the longest recent silence.
 * Briefly it also allows a multiple of what was confirmed at once, to see whether the path can carry that.
 */
export class SlowPrograms {
  /** What is tried, until as many bytes have arrived */
  boostBytes = 0
  /** The longest recent time in which the path had nothing to carry because no pong came: the bytes in flight must last as long */
  longestMs = 0
  #boostUntilBytes = 0
  #fadedMs = 0

  onArrived (arrivedPositionBytes: number, nowMs: number): void {
    this.longestMs *= Math.exp((this.#fadedMs - nowMs) / FADES_MS)
    this.#fadedMs = nowMs

    if (arrivedPositionBytes >= this.#boostUntilBytes) {
      this.boostBytes = 0
    }
  }

  /** `sharedBytesPerMs`: the rate of others that may share the link */
  onCatchUp (catchUp: CatchUp, bytesPerMs: number, sharedBytesPerMs: number, roundTripMs: number, isStartUp: boolean): void {
    const { arrivedPositionBytes, silentMs, inFlightBytes } = catchUp

    if (ranEmpty(catchUp, bytesPerMs, sharedBytesPerMs)) {
      this.longestMs = Math.max(this.longestMs, silentMs + roundTripMs)
      this.boostBytes = inFlightBytes * (isStartUp ? START_UP_BOOST : BOOST)
      this.#boostUntilBytes = arrivedPositionBytes + this.boostBytes
    }
  }
}

/** Whether the path had nothing left to carry. Data from the queue of a shared link is confirmed together too, but at the rate of all connections. */
function ranEmpty ({ inFlightBytes, restBytes, restMs, hasLost }: CatchUp, bytesPerMs: number, sharedBytesPerMs: number): boolean {
  const showsPace = hasLost || restBytes >= REST_PART * inFlightBytes
  const isFaster = restMs * (bytesPerMs + sharedBytesPerMs) <= TOGETHER_PART * restBytes

  return showsPace && (isFaster || (sharedBytesPerMs === 0 && restMs <= TOGETHER_MS))
}

/** A gap is weighted by the bytes that arrived in it, so a clump of pongs does not shorten it. It fades as this many times the bytes in flight arrive. */
const REMEMBERED = 2

/**
 * The time from one pong to the next while data is held. Data that arrives in between still counts as in flight, so the bound must be larger by
 * as much. Otherwise a peer that answers few marks, or a program of this node with long turns, leaves the path empty in between. The measured
 * rate would fall, and the bound would follow it down.
 */
export class PongGap {
  /** The mean over bytes, not over pongs */
  ms = 0

  /** `gapMs`: since the pong before, or since data was first written; `arrivedBytes` in that time */
  learn (gapMs: number, arrivedBytes: number, inFlightBytes: number): void {
    if (gapMs <= LONGEST_MS) {
      this.ms += (gapMs - this.ms) * Math.min(1, arrivedBytes / (REMEMBERED * inFlightBytes))
    }
  }
}
