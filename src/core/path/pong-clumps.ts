/**
 * What comes at once beyond what the path's rate explains. A peer whose event loop is busy answers all marks of a turn together, and so
 * does a network that gathers packets: in between the path runs empty, unless that much more is under way.
 */
import { RecentHighest } from './recent-highest.ts'

/** Pongs that are further apart do not come together */
const LONGEST_GAP_MS = 1

export interface ClumpSample {
  nowMs: number
  /** What has arrived since the pong before */
  arrivedBytes: number
  isAppLimited: boolean
  /** The mark was written when the one that began the last round had been answered */
  isNewRound: boolean
}

export class PongClumps {
  readonly #highest = new RecentHighest()
  /** What has come behind the first pong of the clump */
  #bytes = 0
  #sinceMs = 0
  #lastMs = 0

  /** The most of the last while */
  get bytes (): number {
    return this.#highest.value
  }

  learn ({ nowMs, arrivedBytes, isAppLimited, isNewRound }: ClumpSample, bytesPerMs: number, validMs: number): void {
    const isApart = Math.abs(nowMs - this.#lastMs) > LONGEST_GAP_MS
    const excessBytes = this.#bytes + arrivedBytes - bytesPerMs * (nowMs - this.#sinceMs)
    this.#lastMs = nowMs

    if (isNewRound || isApart || excessBytes <= 0) {
      this.#bytes = 0
      this.#sinceMs = nowMs
    } else {
      this.#bytes += arrivedBytes
      this.#highest.learn(excessBytes, isAppLimited, nowMs, validMs)
    }
  }
}
