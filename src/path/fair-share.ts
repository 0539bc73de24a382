/**
 * The share of a connection on a link that others of this node fill: as much as each of them, and as long a queue as any of them makes.
 * Otherwise the connection with the shortest path has the least in flight, the queue of the others lowers its rate, and its bound follows the
 * rate down. The share is limited by what the path has carried recently, as the others may be on other links after all.
 */
import { GROWTH, RecentHighest } from './rate.ts'
import type { NodePath, NodePaths, Share } from './node-paths.ts'
import type { PathSample } from './samples.ts'

/** What a path has carried in this time limits its share */
const LATELY_MS = 60_000

export class FairShare {
  readonly #carriedLately = new RecentHighest()
  #share: Share | undefined

  /** 0 if no other connection fills the link */
  get bytesPerMs (): number {
    return Math.min(GROWTH * this.#carriedLately.value, this.#share?.bytesPerMs ?? 0)
  }

  get queueMs (): number {
    return this.#share?.queueMs ?? 0
  }

  learn (path: NodePath, nodePaths: NodePaths, { nowMs, isAppLimited, isNewRoundTrip }: Pick<PathSample, 'nowMs' | 'isAppLimited' | 'isNewRoundTrip'>): void {
    this.#carriedLately.learn(path.bytesPerMs, isAppLimited, nowMs, LATELY_MS)

    if (isNewRoundTrip) {
      this.#share = nodePaths.shareOf(path, nowMs)
    }
  }
}
