/**
 * What the connections of a node tell each other of their paths, and what is due to each on a line that they share. Several over one line
 * each see the queue of the others, which looks like a longer path, or like a peer that is slow. What others say makes a path that seems
 * longer wait until all fall silent, and never refuses it for good: they may share no line.
 */
import { GROWTH, RecentHighest } from './rate.ts'
import type { PathBound } from '../core/path-control.ts'
import type { PathSample } from './samples.ts'

/** The queue that the marks of one wait in is that of another if the other's wait for so much of it */
export const SHARED_PART = 1 / 2
/** And if it has so much of that queue in flight, together with all that wait as long */
const EXPLAINED_PART = 1 / 4
/** What a path has seen counts for so long */
const RECENT_MS = 2000
/** And what it waits for: its peer may never answer */
const WAITS_MS = 10_000

/** To fall silent costs all others something: it is so rare, and rarer each time */
const FIRST_DRAIN_INTERVAL_MS = 8000
const LONGEST_DRAIN_INTERVAL_MS = 60_000
const DRAIN_INTERVAL_ROUND_TRIPS = 100

/**
 * A path is due no longer queue than this because others make one: they may have lines of their own. A peer whose answers came 8 s late made the queue of an
 * honest one on another line 2.1 s long, for as long as it stayed.
 */
const LONGEST_SHARED_QUEUE_MS = 100

/** A line is empty after so many times what a mark waited: what was written behind the mark has joined its queue */
const EMPTIED_WAITS = 2

export interface NodePath {
  readonly bytesPerMs: number
  /** How much it may have in flight */
  readonly bound: Pick<PathBound, 'bytes'>
  /** How long its last mark took, and how much of that it waited */
  readonly lastRoundTripMs: number
  readonly queueMs: number
  readonly sampledMs: number
  /** How long what it has in flight may make marks wait */
  readonly ownQueueMs: number
  /** When the first mark was written that has had no pong yet */
  readonly waitsSinceMs: number
  /** It looks for its rate */
  readonly isStarting: boolean
  /** Hands nothing down until the line must be empty, `drainMs` from now, and it is known how long it then is */
  drain (nowMs: number, drainMs: number): void
}

interface Share {
  bytesPerMs: number
  queueMs: number
}

export class NodePaths {
  readonly #paths = new Set<NodePath>()
  /** When all may fall silent again, and for how long that is put off the next time */
  #nextDrainMs = 0
  #drainIntervalMs = FIRST_DRAIN_INTERVAL_MS

  /** It has measured something. Those that have not for long make room. */
  note (path: NodePath, nowMs: number): void {
    if (!this.#paths.has(path)) {
      this.#paths.forEach(other => {
        if (!isRecent(other, nowMs) && !isWaiting(other, nowMs)) {
          this.#paths.delete(other)
        }
      })
      this.#paths.add(path)
    }
  }

  /** Its connection has ended */
  forget (path: NodePath): void {
    this.#paths.delete(path)
  }

  /**
   * A path that carried so much before seems to be so much longer. When others wait in a queue like that, and have enough in flight to be that
   * queue, all of them fall silent until the line must be empty, and then measure it: unless they have done so lately, or one of them looks
   * for its rate and `waitsForStartUps`. Behind that it falls silent too, or it would fill the line meanwhile. A peer may delay its pongs for as
   * long as it likes, but no queue is longer than what any of those in it has waited.
   */
  requestDrain (path: NodePath, longerMs: number, bytesPerMs: number, waitsForStartUps: boolean, nowMs: number): 'alone' | 'draining' | 'postponed' {
    const sharing = this.#sharing(path, longerMs, nowMs)
    const queuedBytes = sharing.reduce((sum, other) => sum + mostInFlightBytes(other, nowMs), 0)

    if (sharing.length === 0 || queuedBytes < EXPLAINED_PART * longerMs * bytesPerMs) {
      return 'alone'
    }

    if (!this.mayDrain(nowMs) || (waitsForStartUps && sharing.some(({ isStarting }) => isStarting))) {
      return 'postponed'
    }

    const drainMs = Math.min(path.lastRoundTripMs, ...sharing.map(other => EMPTIED_WAITS * waitedMs(other, nowMs)))

    for (const each of [path, ...sharing]) {
      each.drain(nowMs, drainMs)
    }

    this.#nextDrainMs = nowMs + Math.min(LONGEST_DRAIN_INTERVAL_MS, Math.max(this.#drainIntervalMs, DRAIN_INTERVAL_ROUND_TRIPS * path.lastRoundTripMs))
    this.#drainIntervalMs *= 2

    return 'draining'
  }

  mayDrain (nowMs: number): boolean {
    return nowMs >= this.#nextDrainMs
  }

  /** How long the marks of others wait in a queue, which a new connection may have to wait in too; 0 if there is none */
  othersQueueMs (path: NodePath, nowMs: number): number {
    return this.#sharing(path, 0, nowMs).reduce((longestMs, other) => Math.max(longestMs, other.queueMs, isWaiting(other, nowMs) ? nowMs - other.waitsSinceMs : 0), 0)
  }

  /** What all others carry that wait for as long. One of which that is not known carries next to nothing yet. */
  sharedBytesPerMs (path: NodePath, queueMs: number, nowMs: number): number {
    return this.#sharing(path, queueMs, nowMs).reduce((sum, { bytesPerMs }) => sum + bytesPerMs, 0)
  }

  /**
   * What a path is due of a line whose queue is longer than the path itself makes it: as much as each of the others that wait there, and as long a queue
   * as any of them makes, up to LONGEST_SHARED_QUEUE_MS. Undefined if there are none.
   */
  shareOf (path: NodePath, nowMs: number): Share | undefined {
    const sharing = path.queueMs > path.ownQueueMs ? this.#sharing(path, path.queueMs, nowMs) : []

    return sharing.length === 0
      ? undefined
      : {
          bytesPerMs: sharing.reduce((sum, { bytesPerMs }) => sum + bytesPerMs, path.bytesPerMs) / (sharing.length + 1),
          queueMs: sharing.reduce((longest, { ownQueueMs }) => Math.max(longest, Math.min(LONGEST_SHARED_QUEUE_MS, ownQueueMs)), 0)
        }
  }

  /** Others whose marks have waited for so long, or still do. One that nothing holds back says nothing: its peer may answer what it likes. */
  #sharing (path: NodePath, queueMs: number, nowMs: number): NodePath[] {
    const leastMs = queueMs * SHARED_PART

    return Array.from(this.#paths).filter(other => other !== path && other.bound.bytes !== Infinity &&
      ((other.queueMs >= leastMs && isRecent(other, nowMs)) || (isWaiting(other, nowMs) && nowMs - other.waitsSinceMs >= leastMs)))
  }
}

function isWaiting ({ waitsSinceMs }: NodePath, nowMs: number): boolean {
  const waitedMs = nowMs - waitsSinceMs

  return waitedMs >= 0 && waitedMs < WAITS_MS
}

/** How long its marks take: those that came back, and the one that has not */
function waitedMs ({ lastRoundTripMs, waitsSinceMs }: NodePath, nowMs: number): number {
  return Math.max(lastRoundTripMs, nowMs - waitsSinceMs)
}

function mostInFlightBytes (path: NodePath, nowMs: number): number {
  return path.bytesPerMs === 0 ? path.bound.bytes : Math.min(path.bound.bytes, path.bytesPerMs * waitedMs(path, nowMs))
}

function isRecent ({ sampledMs }: NodePath, nowMs: number): boolean {
  return Math.abs(nowMs - sampledMs) < RECENT_MS
}

/** What a path has carried for so long it may be due */
const LATELY_MS = 60_000

/**
 * What is due to a connection on a line that others of this node fill: as much as each of them, and as long a queue as any of them makes.
 * Without it the connection with the shortest path has the least in flight, is crowded out by the queue of the others, takes what is left
 * for what the path carries, and allows itself even less. No more is due than what the path has carried lately: that the others share its
 * line is likely and never certain.
 */
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
  learn (path: NodePath, nodePaths: NodePaths, { nowMs, isAppLimited, isNewRoundTrip }: Pick<PathSample, 'nowMs' | 'isAppLimited' | 'isNewRoundTrip'>, isPeerFull: boolean): void {
    this.#carriedLately.learn(path.bytesPerMs, isAppLimited, nowMs, LATELY_MS)

    if (isPeerFull) {
      this.#share = undefined
    } else if (isNewRoundTrip) {
      this.#share = nodePaths.shareOf(path, nowMs)
    }
  }
}
