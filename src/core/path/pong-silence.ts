/**
 * Finds out that the path had nothing to do while data waited. Behind a silence a pong comes: if all that was under way follows at once,
 * or faster than the path carries it, it had long arrived, and what was slow are programs, or pongs, or a path that holds more than was
 * allowed. If the rest comes at the path's own pace, the path is what is slow.
 */

/** So many times what the path takes for the bytes between two marks: else that is what the silence was */
const UNUSUAL_SILENCE = 1.3
/** Urgent data goes on meanwhile: when this part of what was under way has come back, the path was empty */
const EMPTIED_PART = 15 / 16

/** What tells of less is no news: messages go on while data waits */
const PROGRESS_PART = 1 / 16
/** Of a silence, while nothing at all came */
const QUIET_PART = 1 / 3

/** A pong, before what it says is accounted for */
export interface PongBehindSilence {
  nowMs: number
  /** Marks in front of this one that have had no pong, and never will */
  lostMarks: number
  /** Where its mark stood */
  positionBytes: number
  acknowledgedBytes: number
  handedDownBytes: number
  /** Where the last mark stands */
  markedBytes: number
  /** 0 if it is not known */
  bytesPerMs: number
  /** One that is no longer needs no more under way */
  usualSilenceMs: number
}

/** All that was under way while data waited has come back */
export interface CameBack {
  nowMs: number
  /** All that has arrived so far */
  arrivedBytes: number
  /** Behind so long without a pong */
  silentMs: number
  /** And had been so much */
  byteLength: number
  /** So much of it came behind the first pong, in so long */
  restBytes: number
  restMs: number
  /** Marks in between have had no pong: it is the peer that was silent */
  hasLost: boolean
}

interface Silence {
  silentMs: number
  hasLost: boolean
  endedMs: number
  byteLength: number
  restBytes: number
  /** When so much has arrived, all has come back */
  untilBytes: number
}

export class PongSilence {
  /** When data was handed down and nothing was under way before. A field: a call would be one for each lone request. */
  beganMs = 0
  #silence: Silence | undefined
  /** When pongs last told of more than a little, and what had arrived then */
  #progressMs = 0
  #progressBytes = 0
  #receivedMs = 0
  /** The longest time since then in which nothing at all came */
  #quietMs = 0

  /** Something came from the peer, while marks are under way */
  onChunk (nowMs: number): void {
    if (this.beganMs > this.#progressMs) {
      this.#progressMs = this.beganMs
      this.#quietMs = 0
    }

    this.#quietMs = Math.max(this.#quietMs, nowMs - Math.max(this.#receivedMs, this.#progressMs))
    this.#receivedMs = nowMs
  }

  /** While data waits. `noteCameBack` follows when it is accounted for. */
  watch (pong: PongBehindSilence): void {
    const { nowMs, acknowledgedBytes, positionBytes, handedDownBytes } = pong
    const silentMs = this.#silentBefore(pong)

    if (silentMs > pong.usualSilenceMs && !isExplained(pong, silentMs)) {
      const untilBytes = acknowledgedBytes + EMPTIED_PART * (pong.markedBytes - acknowledgedBytes)

      this.#silence = {
        silentMs,
        hasLost: pong.lostMarks > 0,
        untilBytes,
        endedMs: nowMs,
        byteLength: handedDownBytes - acknowledgedBytes,
        restBytes: Math.max(0, untilBytes - positionBytes)
      }
    }
  }

  /** So much has arrived now, and so much is still under way */
  noteCameBack (arrivedBytes: number, leftBytes: number, nowMs: number): CameBack | undefined {
    const silence = this.#silence
    const newBytes = arrivedBytes - this.#progressBytes

    if (newBytes >= PROGRESS_PART * (newBytes + leftBytes)) {
      this.#progressMs = nowMs
      this.#progressBytes = arrivedBytes
      this.#quietMs = 0
    }

    if (silence === undefined || arrivedBytes < silence.untilBytes) {
      return undefined
    }

    this.#silence = undefined
    const { endedMs, untilBytes, ...behind } = silence

    return { ...behind, nowMs, arrivedBytes, restMs: nowMs - endedMs }
  }

  /** Without a pong; marks that were lost would have told sooner, else other bytes of the peer may have been in front of it */
  #silentBefore ({ nowMs, lostMarks }: PongBehindSilence): number {
    const silentMs = nowMs - this.#progressMs

    return lostMarks > 0 || this.#quietMs >= QUIET_PART * silentMs ? silentMs : 0
  }
}

/** The path needs so long for what stood in front of the mark */
function isExplained ({ lostMarks, bytesPerMs, positionBytes, acknowledgedBytes }: PongBehindSilence, silentMs: number): boolean {
  return lostMarks === 0 && bytesPerMs > 0 && silentMs * bytesPerMs <= UNUSUAL_SILENCE * (positionBytes - acknowledgedBytes)
}
