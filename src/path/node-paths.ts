/**
 * What the connections of a node know of each other's paths. On a shared link each sees the queue of the others, which looks like a longer path
 * or a slow peer. So before a path counts as longer, all of them empty the link. This is only postponed, and never refused, as the others may be
 * on other links.
 */
import type { Bound } from './bound.ts'

/** Two connections seem to share a queue if the marks of the other wait at least this part of the time */
export const SHARED_PART = 1 / 2
/** What a path has measured counts for this long */
const RECENT_MS = 2000
/** An unanswered mark counts for this long, as the peer may never answer */
const WAITS_MS = 10_000

/** An empty link costs each of the connections a little, so the time to the next one is long, and doubles */
const FIRST_EMPTYING_INTERVAL_MS = 8000
const LONGEST_EMPTYING_INTERVAL_MS = 60_000
const EMPTYING_INTERVAL_ROUND_TRIPS = 100

/**
 * Other connections lengthen a path's queue by no more than this, because they may be on other links, with peers that answer late
 * (docs/notebook/shared-links.md#peers-that-harm-other-connections).
 */
const LONGEST_SHARED_QUEUE_MS = 100

/** A link is empty after this many times the time of a mark: data behind the mark has joined the queue since */
const EMPTIED_WAITS = 2

export interface NodePath {
  readonly bytesPerMs: number
  /** How much it may have in flight */
  readonly bound: Pick<Bound, 'bytes'>
  /** How long its last mark took, and how much of that the mark waited */
  readonly lastRoundTripMs: number
  readonly queueMs: number
  readonly sampledMs: number
  /** How long marks may wait behind the data that it may have in flight */
  readonly ownQueueMs: number
  /** When the oldest unanswered mark was written; Infinity if there is none */
  readonly waitsSinceMs: number
  /** It is in start-up */
  readonly isStarting: boolean
  /** Holds data until a mark that is written when the link must be empty, `emptyInMs` from now, has shown the round trip */
  emptyLink (nowMs: number, emptyInMs: number): void
}

export interface Share {
  bytesPerMs: number
  queueMs: number
}

export class NodePaths {
  readonly #paths = new Set<NodePath>()
  /** When a link may be emptied again, and how long the next time postpones the one after it */
  #nextEmptyingMs = 0
  #emptyingIntervalMs = FIRST_EMPTYING_INTERVAL_MS

  /** Adds a path that has measured something. Those that have measured nothing for long are removed. */
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
   * A path seems to be longer by `longerMs`. If others wait in such a queue, all of them empty the link and then measure it. This is postponed
   * soon after the last time, or, with `waitsForStartUps`, while one of them is in start-up and has measured something. Otherwise that one pauses too,
   * or it would fill the link that the others measure. The shortest wait limits the pause, so a peer that delays its pongs cannot prolong it.
   */
  requestEmptyLink (path: NodePath, longerMs: number, waitsForStartUps: boolean, nowMs: number): 'alone' | 'emptying' | 'postponed' {
    const sharing = this.#sharing(path, longerMs, nowMs)

    if (sharing.length === 0) {
      return 'alone'
    }

    if (!this.mayEmptyLink(nowMs) || (waitsForStartUps && sharing.some(({ isStarting, bytesPerMs }) => isStarting && bytesPerMs > 0))) {
      return 'postponed'
    }

    const emptyInMs = Math.min(path.lastRoundTripMs, ...sharing.map(other => EMPTIED_WAITS * waitedMs(other, nowMs)))

    for (const each of [path, ...sharing]) {
      each.emptyLink(nowMs, emptyInMs)
    }

    this.#nextEmptyingMs = nowMs + Math.min(LONGEST_EMPTYING_INTERVAL_MS, Math.max(this.#emptyingIntervalMs, EMPTYING_INTERVAL_ROUND_TRIPS * path.lastRoundTripMs))
    this.#emptyingIntervalMs *= 2

    return 'emptying'
  }

  mayEmptyLink (nowMs: number): boolean {
    return nowMs >= this.#nextEmptyingMs
  }

  /** How long the marks of others wait in a queue, in which a new connection may have to wait too; 0 if there is none */
  othersQueueMs (path: NodePath, nowMs: number): number {
    return this.#sharing(path, 0, nowMs).reduce((longestMs, other) => Math.max(longestMs, other.queueMs, isWaiting(other, nowMs) ? nowMs - other.waitsSinceMs : 0), 0)
  }

  /** The rate of all others together whose marks wait as long. One without a known rate carries almost nothing yet. */
  sharedBytesPerMs (path: NodePath, queueMs: number, nowMs: number): number {
    return this.#sharing(path, queueMs, nowMs).reduce((sum, { bytesPerMs }) => sum + bytesPerMs, 0)
  }

  /**
   * The share of a path on a link whose queue is longer than the path itself makes it: the mean rate of all that wait there, and as long a queue as
   * any of the others makes, up to LONGEST_SHARED_QUEUE_MS. Undefined if no other waits there.
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

  /** Others whose marks have waited nearly `queueMs`, or still do. One without a bound shows nothing, as its peer may not answer marks at all. */
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

/** How long its marks take: the last answered one, or the oldest unanswered one */
function waitedMs ({ lastRoundTripMs, waitsSinceMs }: NodePath, nowMs: number): number {
  return Math.max(lastRoundTripMs, nowMs - waitsSinceMs)
}

function isRecent ({ sampledMs }: NodePath, nowMs: number): boolean {
  return nowMs - sampledMs < RECENT_MS
}
