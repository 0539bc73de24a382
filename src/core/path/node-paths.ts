/**
 * What the connections of a node tell each other of their paths. Several over one line each see the queue of the others, which looks
 * like a longer path, or like a peer that is slow. What others say makes a path that wants more under way wait for an experiment, and
 * never refuses it for good: they may share no line.
 */

/** The queue that the marks of one wait in is that of another if the other's wait for so much of it */
const SHARED_PART = 1 / 2
/** Of another that carries less than this part the queue is no measure: it may be its own, on a slow path */
const SHARING_PART = 1 / 4
/** What a path has seen counts for so long */
const SEEN_MS = 2000
/** And what it waits for: its connection may have ended */
const WAITS_MS = 10_000

/** An experiment costs all others something: they are so far apart, and the farther the less they find */
const FIRST_PUT_OFF_MS = 4000
const LONGEST_PUT_OFF_MS = 60_000
const PUT_OFF_ROUND_TRIPS = 100

/** A trial is judged after so long, when what others carried before it is forgotten */
const TRIAL_MS = 1500
const TRIAL_ROUND_TRIPS = 4
/** It has found something if the path carries so much more, and others have lost less than this part of that */
const WON_GROWTH = 1.25
const LOST_PART = 1 / 2

export interface NodePath {
  readonly bytesPerMs: number
  /** How long its last mark took, and how much of that it waited */
  readonly lastRoundTripMs: number
  readonly queueMs: number
  readonly sampledMs: number
  /** When the first mark was written that has had no pong yet */
  readonly waitsSinceMs: number
  /** It seemed to be longer, and was told to wait */
  readonly awaitsDrain: boolean
  /** It has lost rate, and nobody has taken it */
  readonly hasFallen: boolean
  /** It is not one that looks for its rate, and would fill the line meanwhile */
  readonly canDrain: boolean
  /** Hands nothing down until the line must be empty, `inMs` from now, and it is known how long it then is */
  drain (nowMs: number, inMs: number): void
  /** That no pong came for long was no reason to have more under way */
  forgetSilence (): void
}

/** One path has more under way than it would have without others */
interface Trial {
  path: NodePath
  sinceMs: number
  bytesPerMs: number
  othersBytesPerMs: number
}

class PutOff {
  #forMs = FIRST_PUT_OFF_MS
  #untilMs = 0

  get hasBegun (): boolean {
    return this.#untilMs > 0
  }

  isOver (nowMs: number): boolean {
    return nowMs >= this.#untilMs
  }

  found (isFound: boolean, roundTripMs: number, nowMs: number): void {
    this.#forMs = isFound ? FIRST_PUT_OFF_MS : Math.min(LONGEST_PUT_OFF_MS, Math.max(2 * this.#forMs, PUT_OFF_ROUND_TRIPS * roundTripMs))
    this.#untilMs = nowMs + this.#forMs
  }
}

export class NodePaths {
  readonly #paths = new Set<NodePath>()
  readonly #drains = new PutOff()
  readonly #trials = new PutOff()
  #trial: Trial | undefined

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

    if (this.#trial?.path === path) {
      this.#judge(this.#trial, nowMs)
    }
  }

  /**
   * A path seems to be so much longer. When others wait in a queue like that, all of them fall silent until the line must be empty, and then
   * measure it: unless they have done so lately. When they have lost rate too it is the line that is longer.
   */
  drain (path: NodePath, longerMs: number, nowMs: number): 'alone' | 'drained' | 'put-off' {
    const sharing = this.#sharing(path, longerMs, nowMs)

    if (sharing.length === 0) {
      return 'alone'
    }

    for (const other of this.#paths) {
      if (other.awaitsDrain && other.canDrain && isRecent(other, nowMs) && other !== path && !sharing.includes(other)) {
        sharing.push(other)
      }
    }

    if (!this.#drains.isOver(nowMs) || sharing.some(({ canDrain }) => !canDrain)) {
      return 'put-off'
    }

    for (const each of [path, ...sharing]) {
      each.drain(nowMs, path.lastRoundTripMs)
    }

    this.#drains.found(false, path.lastRoundTripMs, nowMs)

    return 'drained'
  }

  mayDrain (nowMs: number): boolean {
    return this.#drains.isOver(nowMs)
  }

  /** One that fell silent with others has found its path another */
  hasFound (nowMs: number): void {
    this.#drains.found(true, 0, nowMs)
  }

  /**
   * No pong came for so long, and then all: may the path have more under way? When others wait for as long it may be their queue, and who
   * has more in it only takes from them: then one path tries it.
   */
  mayGrow (path: NodePath, silentMs: number, nowMs: number): boolean {
    if (this.#trial !== undefined && !isRecent(this.#trial.path, nowMs)) {
      this.#trial = undefined
    }

    if (this.#trial?.path === path || this.#sharing(path, silentMs, nowMs).length === 0) {
      return true
    }

    if (this.#trial !== undefined || !this.#trials.isOver(nowMs)) {
      return false
    }

    // not in the first moments, in which all look for their rates
    if (!this.#trials.hasBegun) {
      this.#trials.found(true, 0, nowMs)
      return false
    }

    this.#trial = { path, sinceMs: nowMs, bytesPerMs: path.bytesPerMs, othersBytesPerMs: this.#othersBytesPerMs(path, nowMs) }

    return true
  }

  /** What all others carry that wait for as long; Infinity if it is not known of one */
  sharedBytesPerMs (path: NodePath, queueMs: number, nowMs: number): number {
    return this.#sharing(path, queueMs, nowMs).reduce((sum, { bytesPerMs }) => sum + (bytesPerMs === 0 ? Infinity : bytesPerMs), 0)
  }

  #judge ({ path, sinceMs, bytesPerMs, othersBytesPerMs }: Trial, nowMs: number): void {
    if (nowMs - sinceMs < Math.max(TRIAL_MS, TRIAL_ROUND_TRIPS * path.lastRoundTripMs)) {
      return
    }

    const wonBytesPerMs = path.bytesPerMs - bytesPerMs
    const lostBytesPerMs = othersBytesPerMs - this.#othersBytesPerMs(path, nowMs)
    const isFound = path.bytesPerMs >= WON_GROWTH * bytesPerMs && lostBytesPerMs <= LOST_PART * wonBytesPerMs
    this.#trial = undefined
    this.#trials.found(isFound, path.lastRoundTripMs, nowMs)

    if (!isFound) {
      path.forgetSilence()
    }
  }

  /** Others whose marks have waited for so long, or still do */
  #sharing (path: NodePath, queueMs: number, nowMs: number): NodePath[] {
    const leastMs = queueMs * SHARED_PART

    return Array.from(this.#paths).filter(other => {
      const isAlike = other.queueMs >= leastMs && isRecent(other, nowMs) && other.bytesPerMs >= path.bytesPerMs * SHARING_PART

      return other !== path && !other.hasFallen && (isAlike || (isWaiting(other, nowMs) && nowMs - other.waitsSinceMs >= leastMs))
    })
  }

  #othersBytesPerMs (path: NodePath, nowMs: number): number {
    let bytesPerMs = 0

    for (const other of this.#paths) {
      if (other !== path && isRecent(other, nowMs)) {
        bytesPerMs += other.bytesPerMs
      }
    }

    return bytesPerMs
  }
}

function isWaiting ({ waitsSinceMs }: NodePath, nowMs: number): boolean {
  const waitedMs = nowMs - waitsSinceMs

  return waitedMs >= 0 && waitedMs < WAITS_MS
}

function isRecent ({ sampledMs }: NodePath, nowMs: number): boolean {
  return Math.abs(nowMs - sampledMs) < SEEN_MS
}
