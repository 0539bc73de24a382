/**
 * What is due to a connection on a line that others of this node fill: as much as each of them, and as long a queue as any of them makes.
 * Without it the connection with the shortest path has the least under way, is crowded out by the queue of the others, takes what is left
 * for what the path carries, and allows itself even less. No more is due than what the path has carried lately: that the others share its
 * line is likely and never certain.
 */
import { GROWTH } from './known-rate.ts'
import { RecentHighest } from './recent-highest.ts'
import type { NodePath, NodePaths, Share } from './node-paths.ts'

const LATELY_MS = 60_000

export class FairShare {
  readonly #path: NodePath
  readonly #nodePaths: NodePaths
  readonly #carriedLately = new RecentHighest()
  #share: Share | undefined

  constructor (path: NodePath, nodePaths: NodePaths) {
    this.#path = path
    this.#nodePaths = nodePaths
  }

  /** 0 where no other fills the line */
  get bytesPerMs (): number {
    return Math.min(GROWTH * this.#carriedLately.value, this.#share?.bytesPerMs ?? 0)
  }

  get queueMs (): number {
    return this.#share?.queueMs ?? 0
  }

  /** A sample has come */
  learn (isAppLimited: boolean, nowMs: number): void {
    this.#carriedLately.learn(this.#path.bytesPerMs, isAppLimited, nowMs, LATELY_MS)
  }

  /** Once a round: it looks at all paths of the node */
  look (nowMs: number): void {
    this.#share = this.#nodePaths.shareOf(this.#path, nowMs)
  }

  /** Pongs wait behind the peer's own data, which is no queue of this line */
  forget (): void {
    this.#share = undefined
  }
}
