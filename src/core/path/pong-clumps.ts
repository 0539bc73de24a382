/**
 * What comes at once, behind a silence of the peer. A peer whose event loop is busy answers all marks of a turn together, and so does a
 * network that gathers packets: in between the path runs empty, unless as much is under way as it carries meanwhile.
 */
import { RecentHighest } from './recent-highest.ts'

/** What comes within it comes together */
export const TOGETHER_MS = 1

export interface ClumpSample {
  nowMs: number
  /** What has arrived since the pong before */
  arrivedBytes: number
  /** Nothing came from the peer for so long before */
  silentMs: number
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
  #silentMs = 0

  /** The most of the last while */
  get bytes (): number {
    return this.#highest.value
  }

  learn ({ nowMs, arrivedBytes, silentMs, isAppLimited, isNewRound }: ClumpSample, bytesPerMs: number, validMs: number): void {
    const isApart = Math.abs(nowMs - this.#lastMs) > TOGETHER_MS
    const excessBytes = this.#bytes + arrivedBytes - bytesPerMs * (nowMs - this.#sinceMs)
    this.#lastMs = nowMs

    if (isNewRound || isApart || excessBytes <= 0) {
      this.#bytes = 0
      this.#sinceMs = nowMs
      this.#silentMs = silentMs
      // the last clump grows old
      this.#highest.learn(0, isAppLimited, nowMs, validMs)
    } else {
      this.#bytes += arrivedBytes
      // pongs that were stuck between other bytes of the peer come in clumps too, and more under way would only make them wait longer
      this.#highest.learn(Math.min(excessBytes, bytesPerMs * this.#silentMs), isAppLimited, nowMs, validMs)
    }
  }
}
