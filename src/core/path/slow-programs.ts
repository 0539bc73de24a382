/**
 * What more may be under way because programs, or pongs, are slow and the path is not: what the path carries in the longest silence of
 * late, and for a moment a multiple of what came back at once, to see whether the path carries that too.
 */
import { LongestSilence } from './longest-silence.ts'
import type { CameBack } from './pong-silence.ts'

/** So much more is tried while the rate is looked for, and later */
const START_UP_BOOST = 4
const BOOST = 2
/** The longer a silence is the more it costs to find in steps how much is needed */
const LONG_SILENCE_MS = 25
const MOST_BOOST = 8
/** What comes twice as fast as the path carries, or at once, did not come from its queue */
const TOGETHER_PART = 1 / 2
const TOGETHER_MS = 1
/** Less of what was under way says nothing of its pace */
const REST_PART = 1 / 4

export class SlowPrograms {
  /** What is tried until so much has arrived */
  boostBytes = 0
  /** How long what is under way must last */
  readonly longest = new LongestSilence()
  #boostUntilBytes = 0

  onArrived (arrivedBytes: number, nowMs: number): void {
    this.longest.fade(nowMs)

    if (arrivedBytes >= this.#boostUntilBytes) {
      this.boostBytes = 0
    }
  }

  /** The path carries so much, and others that may share its line. Returns whether programs, or pongs, were slow. */
  onCameBack (cameBack: CameBack, bytesPerMs: number, sharedBytesPerMs: number, roundTripMs: number, isRateLookedFor: boolean): boolean {
    const { nowMs, arrivedBytes, silentMs, byteLength } = cameBack

    if (!isEmptied(cameBack, bytesPerMs, sharedBytesPerMs) || this.longest.forgives(silentMs, nowMs)) {
      return false
    }

    const startUpBoost = Math.min(MOST_BOOST, START_UP_BOOST * Math.max(1, silentMs / LONG_SILENCE_MS))
    this.longest.learn(silentMs + roundTripMs, nowMs)
    this.boostBytes = byteLength * (isRateLookedFor ? startUpBoost : BOOST)
    this.#boostUntilBytes = arrivedBytes + this.boostBytes

    return true
  }
}

/** The path had nothing left to do. What stood together in the queue of a shared line comes together too, but at the pace of all. */
function isEmptied ({ byteLength, restBytes, restMs, hasLost }: CameBack, bytesPerMs: number, sharedBytesPerMs: number): boolean {
  const isFaster = restMs * (bytesPerMs + sharedBytesPerMs) <= TOGETHER_PART * restBytes

  return sharedBytesPerMs === 0 ? isFaster || restMs <= TOGETHER_MS : isFaster && (hasLost || restBytes >= REST_PART * byteLength)
}
