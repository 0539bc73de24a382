/**
 * Pongs that come late: whether the path is slow then, or programs are, and how much more has to be in flight.
 *
 * Behind a silence a pong comes. If all that was in flight follows at once, or faster than the path carries it, it had long arrived, and
 * what was slow are programs, or pongs, or a path that holds more than was allowed. If the rest comes at the path's own pace, the path is
 * what is slow.
 */
import { LONGEST_MS } from '../core/window/round-trip.ts'
import type { Positions } from '../core/positions.ts'
import type { Mark } from './marks.ts'

/** Urgent data goes on meanwhile: when this part of what was in flight has come back, the path was empty */
const EMPTIED_PART = 15 / 16

/** What tells of less is no news: messages go on while data waits */
const PROGRESS_PART = 1 / 16
/** Of a silence, while nothing at all came */
const QUIET_PART = 1 / 3

type AnsweredMark = Pick<Mark, 'positionBytes' | 'lostMarks'>

/** No pong came for so long, and then one did */
interface Silence {
  silentMs: number
  endedMs: number
  /** So much was in flight */
  byteLength: number
  /** And so much of it came behind the first pong, or is to come */
  restBytes: number
  /** When so much has arrived, all has come back */
  untilBytes: number
  /** Marks in between have had no pong: it is the peer that was silent */
  hasLost: boolean
}

/** All that was in flight while data waited has come back behind it */
export interface CatchUp extends Silence {
  nowMs: number
  /** All that has arrived so far */
  arrivedBytes: number
  /** The rest came in so long */
  restMs: number
}

/** Finds out that the path had nothing to do while data waited */
export class PongSilence {
  #silence: Silence | undefined
  /** When pongs last told of more than a little, and what had arrived then */
  #progressMs = 0
  #progressBytes = 0
  #receivedMs = 0
  /** The longest time since then in which nothing at all came */
  #quietMs = 0

  /** Something came from the peer, while marks are in flight. Nothing was before `beganMs`. */
  onChunk (nowMs: number, beganMs: number): void {
    if (beganMs > this.#progressMs) {
      this.#progressMs = beganMs
      this.#quietMs = 0
    }

    this.#quietMs = Math.max(this.#quietMs, nowMs - Math.max(this.#receivedMs, this.#progressMs))
    this.#receivedMs = nowMs
  }

  /** A mark was answered. Silences longer than `coveredSilenceMs` count: none, while no data waits or less is allowed than the path needs, for an idle path says nothing then. */
  onPong ({ positionBytes, lostMarks }: AnsweredMark, acknowledgedBytes: number, { writtenBytes, markedBytes }: Pick<Positions, 'writtenBytes' | 'markedBytes'>, coveredSilenceMs: number, nowMs: number): CatchUp | undefined {
    const silentMs = nowMs - this.#progressMs
    const hasLost = lostMarks > 0

    if (silentMs > coveredSilenceMs && (hasLost || this.#quietMs >= QUIET_PART * silentMs)) {
      const untilBytes = acknowledgedBytes + EMPTIED_PART * (markedBytes - acknowledgedBytes)

      this.#silence = {
        silentMs,
        hasLost,
        untilBytes,
        endedMs: nowMs,
        byteLength: writtenBytes - acknowledgedBytes,
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

    return { ...silence, nowMs, arrivedBytes: positionBytes, restMs: nowMs - silence.endedMs }
  }
}

/** So much more is tried while the rate is looked for, and later */
const START_UP_BOOST = 4
const BOOST = 2
/** The longer a silence is the more it costs to find in steps how much is needed */
const LONG_SILENCE_MS = 25
const MAX_BOOST = 8
/** What comes twice as fast as the path carries, or at once, did not come from its queue */
const TOGETHER_PART = 1 / 2
const TOGETHER_MS = 1
/** Less of what was in flight says nothing of its pace: the first pong may have waited for all of it on the path */
const REST_PART = 1 / 4

/**
 * What more may be in flight because programs, or pongs, are slow and the path is not: what the path carries in the longest silence of
 * late, and for a moment a multiple of what came back at once, to see whether the path carries that too.
 */
export class SlowPrograms {
  /** What is tried until so much has arrived */
  boostBytes = 0
  /** How long what is in flight must last */
  readonly longest = new LongestSilence()
  #boostUntilBytes = 0

  onArrived (arrivedBytes: number, nowMs: number): void {
    this.longest.fade(nowMs)

    if (arrivedBytes >= this.#boostUntilBytes) {
      this.boostBytes = 0
    }
  }

  /** The path carries so much, and others that may share its line. Returns whether programs, or pongs, were slow. */
  onCatchUp (catchUp: CatchUp, bytesPerMs: number, sharedBytesPerMs: number, roundTripMs: number, isStartUp: boolean): boolean {
    const { nowMs, arrivedBytes, silentMs, byteLength } = catchUp

    if (!ranEmpty(catchUp, bytesPerMs, sharedBytesPerMs) || this.longest.tryForgive(silentMs, nowMs)) {
      return false
    }

    const startUpBoost = Math.min(MAX_BOOST, START_UP_BOOST * Math.max(1, silentMs / LONG_SILENCE_MS))
    this.longest.learn(silentMs + roundTripMs, nowMs)
    this.boostBytes = byteLength * (isStartUp ? startUpBoost : BOOST)
    this.#boostUntilBytes = arrivedBytes + this.boostBytes

    return true
  }
}

/** The path had nothing left to do. What stood together in the queue of a shared line comes together too, but at the pace of all. */
function ranEmpty ({ byteLength, restBytes, restMs, hasLost }: CatchUp, bytesPerMs: number, sharedBytesPerMs: number): boolean {
  const showsPace = hasLost || restBytes >= REST_PART * byteLength
  const isFaster = restMs * (bytesPerMs + sharedBytesPerMs) <= TOGETHER_PART * restBytes

  return showsPace && (isFaster || (sharedBytesPerMs === 0 && restMs <= TOGETHER_MS))
}

const FADES_MS = 10_000
const FORGIVEN_PART = 0.01
const MAX_FORGIVEN_MS = 1000

/**
 * How long a path had nothing to do because no pong came, lately: so long what is in flight must last. Fades slowly, so that little is
 * lost when it was forgotten too soon; and a program that stood still once in a while is forgiven, or a second of it would be queued for.
 */
export class LongestSilence {
  ms = 0
  #atMs = 0
  #forgivenMs = 0
  #forgivenAtMs: number | undefined

  fade (nowMs: number): void {
    this.ms *= Math.exp(-Math.abs(nowMs - this.#atMs) / FADES_MS)
    this.#atMs = nowMs
  }

  learn (silentMs: number, nowMs: number): void {
    this.fade(nowMs)
    this.ms = Math.max(this.ms, silentMs)
  }

  /** Returns whether it is within the part of the time that may be lost, and takes it off that */
  tryForgive (silentMs: number, nowMs: number): boolean {
    this.#forgivenMs = Math.min(MAX_FORGIVEN_MS, this.#forgivenMs + FORGIVEN_PART * Math.abs(nowMs - (this.#forgivenAtMs ?? nowMs)))
    this.#forgivenAtMs = nowMs
    const isForgiven = silentMs <= this.#forgivenMs
    this.#forgivenMs -= isForgiven ? silentMs : 0

    return isForgiven
  }
}

/** A gap counts by what arrived in it, until so many times what is in flight has come behind it: pongs in a clump make it no shorter */
const REMEMBERED = 2

/**
 * How long it is from one pong to the next while data waits. Until the next one comes nobody knows what has arrived, so that much more has to
 * be in flight: with less a peer that answers few marks, or a program of this node that looks for pongs only now and then, leaves the path
 * empty in between, the rate that is seen falls, and what is allowed follows it down.
 */
export class PongGap {
  /** The mean that a byte has seen */
  ms = 0

  /** `gapMs` before this pong there was another, or data began to be handed down; so much has arrived since */
  learn (gapMs: number, arrivedBytes: number, inFlightBytes: number): void {
    if (gapMs >= 0 && gapMs <= LONGEST_MS) {
      this.ms += (gapMs - this.ms) * Math.min(1, arrivedBytes / (REMEMBERED * inFlightBytes))
    }
  }
}
