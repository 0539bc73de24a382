/**
 * What is due to a connection on a line that others of this node fill: as much as each of them, and as long a queue as any of them makes.
 * Without it the connection with the shortest path has the least under way, is crowded out by the queue of the others, takes what is left
 * for what the path carries, and allows itself even less. No more is due than what the path has carried lately: that the others share its
 * line is likely and never certain.
 */
import { GROWTH, RecentHighest } from './rate.ts'
import type { NodePath, NodePaths, Share } from './node-paths.ts'
import type { PathSample } from './rounds.ts'

const LATELY_MS = 60_000

export class FairShare {
  readonly #carriedLately = new RecentHighest()
  #share: Share | undefined

  /** 0 where no other fills the line */
  get bytesPerMs (): number {
    return Math.min(GROWTH * this.#carriedLately.value, this.#share?.bytesPerMs ?? 0)
  }

  get queueMs (): number {
    return this.#share?.queueMs ?? 0
  }

  /** A peer that bounds its own data makes pongs wait behind that, which is no queue of this line */
  learn (path: NodePath, nodePaths: NodePaths, { nowMs, isAppLimited, isNewRound }: Pick<PathSample, 'nowMs' | 'isAppLimited' | 'isNewRound'>, isPeerBounded: boolean): void {
    this.#carriedLately.learn(path.bytesPerMs, isAppLimited, nowMs, LATELY_MS)

    if (isPeerBounded) {
      this.#share = undefined
    } else if (isNewRound) {
      this.#share = nodePaths.shareOf(path, nowMs)
    }
  }
}
