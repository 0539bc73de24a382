/**
 * Finds out that the path had nothing to do while data waited. Behind a silence a pong comes: if all that was under way follows at once,
 * or faster than the path carries it, it had long arrived, and what was slow are programs, or pongs, or a path that holds more than was
 * allowed. If the rest comes at the path's own pace, the path is what is slow.
 */
import type { BytesUnderWay } from './bytes-under-way.ts'
import type { Mark } from './marks.ts'
import type { PathEstimate } from './path-estimate.ts'

/** So many times what the path takes for the bytes between two marks: else that is what the silence was */
const UNUSUAL_SILENCE = 1.3
/** Urgent data goes on meanwhile: when this part of what was under way has come back, the path was empty */
const EMPTIED_PART = 15 / 16

/** What tells of less is no news: messages go on while data waits */
const PROGRESS_PART = 1 / 16
/** Of a silence, while nothing at all came */
const QUIET_PART = 1 / 3

type AnsweredMark = Pick<Mark, 'positionBytes' | 'lostMarks'>
/** Before what the pong says is accounted for */
type UnderWay = Pick<BytesUnderWay, 'acknowledgedBytes' | 'handedDownBytes' | 'markedBytes'>
type Pace = Pick<PathEstimate, 'bytesPerMs' | 'usualSilenceMs'>

/** No pong came for so long, and then one did */
interface Silence {
  silentMs: number
  endedMs: number
  /** So much was under way */
  byteLength: number
  /** And so much of it came behind the first pong, or is to come */
  restBytes: number
  /** When so much has arrived, all has come back */
  untilBytes: number
  /** Marks in between have had no pong: it is the peer that was silent */
  hasLost: boolean
}

/** All that was under way while data waited has come back behind it */
export interface CameBack extends Silence {
  nowMs: number
  /** All that has arrived so far */
  arrivedBytes: number
  /** The rest came in so long */
  restMs: number
}

export class PongSilence {
  #silence: Silence | undefined
  /** When pongs last told of more than a little, and what had arrived then */
  #progressMs = 0
  #progressBytes = 0
  #receivedMs = 0
  /** The longest time since then in which nothing at all came */
  #quietMs = 0

  /** Something came from the peer, while marks are under way. Nothing was before `beganMs`. */
  onChunk (nowMs: number, beganMs: number): void {
    if (beganMs > this.#progressMs) {
      this.#progressMs = beganMs
      this.#quietMs = 0
    }

    this.#quietMs = Math.max(this.#quietMs, nowMs - Math.max(this.#receivedMs, this.#progressMs))
    this.#receivedMs = nowMs
  }

  /** A mark was answered. There is no `path` to look at while no data waits, or less is allowed than the path needs: that it is idle says nothing then. */
  onPong ({ positionBytes, lostMarks }: AnsweredMark, { acknowledgedBytes, handedDownBytes, markedBytes }: UnderWay, path: Pace | undefined, nowMs: number): CameBack | undefined {
    const silentMs = nowMs - this.#progressMs
    const hasLost = lostMarks > 0

    if (path !== undefined && silentMs > path.usualSilenceMs && (hasLost || (this.#quietMs >= QUIET_PART * silentMs && !isExplained(path, silentMs, positionBytes - acknowledgedBytes)))) {
      const untilBytes = acknowledgedBytes + EMPTIED_PART * (markedBytes - acknowledgedBytes)

      this.#silence = {
        silentMs,
        hasLost,
        untilBytes,
        endedMs: nowMs,
        byteLength: handedDownBytes - acknowledgedBytes,
        restBytes: Math.max(0, untilBytes - positionBytes)
      }
    }

    if (positionBytes - this.#progressBytes >= PROGRESS_PART * (handedDownBytes - this.#progressBytes)) {
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

/** The path needs so long for what stood in front of the mark */
function isExplained ({ bytesPerMs }: Pace, silentMs: number, arrivedBytes: number): boolean {
  return bytesPerMs > 0 && silentMs * bytesPerMs <= UNUSUAL_SILENCE * arrivedBytes
}
