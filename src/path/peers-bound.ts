/**
 * Bounds what the peer may have in flight, whatever muxer it runs, so that its urgent messages and its pongs do not wait behind its bulk.
 *
 * The law: credit in flight <= rate * (1.25 * the shortest round trip + slack) + the largest chunk. The rate is what arrives, and the highest of
 * the last seconds counts. The slack is `maxPeerQueueDelayMs`, and more while data does not come steadily: a program that works for 100 ms in
 * each turn, at either end, needs credit for 100 ms. A chunk is a record, which can be read, and earn credit, only when complete.
 *
 * Windows grow by the same time, creditMs, whether credit is bound or not: they need not hold the queue at the peer.
 *
 * Nothing is bounded until two pongs in a row have waited 50 ms behind 12 KiB or more of uninterrupted data, and nothing from 100 Mbit/s on. The
 * bound is lifted after two seconds in which no credit had to wait. What else was tried is in docs/notebook/receive.md#credit-that-is-withheld.
 *
 * Without the option, credit is bounded only while both ends send bulk. Then pongs wait for seconds, and neither end knows its own queue. If the
 * rate of the link varies, as on mobile links, each end would need a bound that the other takes for its own queue, and none is bound for a while.
 * If the rate is even, the first pong that is late is enough, as more credit would make the first queue longer.
 *
 * Invariant: creditMs is finite once a round has ended, unless the bound was given up.
 */
import { ArrivalRate } from './arrival-rate.ts'
import { PeersPath } from './peers-path.ts'
import type { PeerControl } from '../core/peer-control.ts'

/** The slack if the option is not set */
const USUAL_SLACK_MS = 25
/** This side's bound allows for so many times the smallest slack: with more, each end would make room for the queue that the other makes */
const ALLOWED_SLACKS = 2

/** The bound covers this many round trips: the excess keeps the link busy, and shows when the link has become faster */
const ROUND_TRIP_GAIN = 1.25

/** A pong that waits this long was queued. Credit is bounded after this many of them in a row. */
const QUEUE_MS = 50
const QUEUED_PONGS = 2
/** A pong that is late by this much is not waited for */
const LATE_MS = 100
/** The bound is lifted after this time without need */
const NEEDLESS_MS = 2000

/** 100 Mbit/s. From there on queues are short. */
const FAST_BYTES_PER_MS = 12_500
/** Three portions of credit, or a slow path would be idle now and then. If fewer bytes come in a round, no bound could make it shorter. */
const MIN_BOUND_BYTES = 12_288

/** How often pings are sent while data comes */
const PING_EVERY_MS = 100
const BOUND_PING_EVERY_MS = 25

/** The slack grows by at most this much in a round, as a gap may be an exception, and to at most this much and the shortest round trip */
const MAX_SLACK_STEP_MS = 50
const MAX_SLACK_MS = 275
/** A link whose rate has varied within STEADY_MS is not bounded both ways for UNBOUND_MS. The rate must also be known for STEADY_MS. */
const STEADY_MS = 1500
const UNBOUND_MS = 120_000
/** Nor is a link that needs the largest slack for this time */
const UNSTEADY_MS = 1000
/** So many even rates in a row show a link that is not mobile */
const EVEN_RATES = 2
/** The part of the additional slack that is given up after each round */
const SLACK_DECAY = 1 / 32
/** A link that carries this much less than it can is busy enough */
const TOLERATED_PART = 0.03

export class PeersBound implements PeerControl {
  boundBytes = Infinity
  creditMs = Infinity
  /** While data of this side is held: Infinity; otherwise when it last was */
  heldUntilMs = -Infinity
  /** The peer bounds what it has in flight: its queue is short, or soon will be. A second bound would starve it. */
  boundsItself = false
  /** When the slack was last far from its limit */
  #steadyMs = 0
  #unboundUntilMs = -Infinity
  readonly #binds: 'always' | 'bothWays' | 'never'
  readonly #minSlackMs: number
  #slackMs: number
  readonly #rate = new ArrivalRate()
  readonly #path = new PeersPath()
  #receivedBytes = 0
  #chunkMs = 0
  #askedMs = -Infinity

  #isInRound = false
  #roundFromMs = 0
  #roundFromBytes = 0
  /** In flight when the round began */
  #roundCreditBytes = 0
  /** Credit waited when the round began */
  #wasWithheld = false
  /** The longest time in this round for which the link has carried nothing */
  #idleMs = 0
  /** The largest chunk of this round and of the last */
  #largestBytes = 0
  #lastLargestBytes = 0
  #queuedPongs = 0
  /** When credit last had to wait */
  #withheldMs = 0

  /** Undefined: credit is bound only while both ends send bulk. Infinity: credit is never bound, and measurements affect only the size of windows. */
  constructor (maxPeerQueueDelayMs: number | undefined) {
    this.#binds = maxPeerQueueDelayMs === undefined ? 'bothWays' : maxPeerQueueDelayMs < Infinity ? 'always' : 'never'
    this.#minSlackMs = this.#binds === 'always' ? maxPeerQueueDelayMs as number : USUAL_SLACK_MS
    this.#slackMs = this.#minSlackMs
  }

  get shortestMs (): number {
    return this.#path.shortestMs
  }

  /** How long a round trip takes with as much in flight at the peer as its bound allows; 0 while it has none */
  get roundTripMs (): number {
    const slackMs = Math.min(this.#slackMs, ALLOWED_SLACKS * this.#minSlackMs)

    return this.#isBound ? ROUND_TRIP_GAIN * this.shortestMs + slackMs + this.#chunkBytes / this.#busyBytesPerMs : 0
  }

  /** Data of this side is held, and its pongs wait for seconds behind bulk of the peer. Returns whether credit is bound now. */
  bindBothWays (nowMs: number): boolean {
    if (!this.#isBound && this.#binds !== 'never' && this.#isSlow && nowMs - this.#rate.beganMs >= STEADY_MS) {
      if (nowMs - this.#rate.unsteadyMs < STEADY_MS) {
        this.#leave(nowMs)
      } else {
        this.#bind(nowMs)
      }
    }

    return this.#isBound
  }

  /** The start-up of this side is over. It has less in flight from now on, so credit waits for less time behind it. */
  onStartUpOver (): void {
    this.#slackMs = Math.min(this.#slackMs, ALLOWED_SLACKS * this.#minSlackMs)
  }

  onReceived (byteLength: number, nowMs: number): boolean {
    const { lastBytesPerMs } = this.#rate
    this.#receivedBytes += byteLength
    this.#largestBytes = Math.max(this.#largestBytes, byteLength)

    // by the last rate: a link that has become slower is not idle
    if (lastBytesPerMs > 0) {
      this.#idleMs = Math.max(this.#idleMs, nowMs - this.#chunkMs - byteLength / lastBytesPerMs)
    }

    this.#chunkMs = nowMs
    this.#rate.learn(this.#receivedBytes, this.shortestMs, this.#isInRound ? this.#roundFromMs : Infinity, nowMs)

    if (!this.#isBound && this.#isInRound && this.#mayBindEarly && this.#isQueue(nowMs - this.#roundFromMs, LATE_MS)) {
      this.#bind(nowMs)
    }

    const isDue = nowMs - this.#askedMs >= (this.#isBound ? BOUND_PING_EVERY_MS : PING_EVERY_MS)
    this.#askedMs = isDue ? nowMs : this.#askedMs

    return isDue
  }

  onRoundBegun (creditBytes: number, isWithheld: boolean, nowMs: number): void {
    this.#isInRound = true
    this.#roundFromMs = nowMs
    this.#roundFromBytes = this.#receivedBytes
    this.#roundCreditBytes = creditBytes
    this.#wasWithheld = isWithheld
    this.#chunkMs = nowMs
    this.#idleMs = 0
  }

  onRoundEnded (roundTripMs: number, nowMs: number): void {
    this.#isInRound = false
    this.#lastLargestBytes = this.#largestBytes
    this.#largestBytes = 0
    this.#idleMs = Math.max(this.#idleMs, nowMs - this.#chunkMs)
    this.#path.learn(roundTripMs, this.#receivedBytes, this.#wasWithheld ? this.#roundCreditBytes : undefined, nowMs)
    this.#learnSlack(roundTripMs, nowMs)
    const isQueue = this.#isQueue(roundTripMs, QUEUE_MS)
    this.#queuedPongs = isQueue ? this.#queuedPongs + 1 : 0

    if (this.#isBound) {
      this.#withheldMs = this.#wasWithheld || isQueue ? nowMs : this.#withheldMs
      this.#setBound()
    } else if (this.#binds === 'always' && this.#queuedPongs >= QUEUED_PONGS) {
      this.#bind(nowMs)
    }

    if (!this.#isBound || !this.#isHeld || this.#slackMs < this.#maxSlackMs - MAX_SLACK_STEP_MS) {
      this.#steadyMs = nowMs
    }

    if (this.#isBound && this.#isHeld && nowMs - this.#steadyMs >= UNSTEADY_MS) {
      this.#leave(nowMs)
    }

    const neededUntilMs = this.#binds === 'bothWays' ? Math.min(this.#withheldMs, this.heldUntilMs) : this.#withheldMs

    if (!this.#isSlow || nowMs - neededUntilMs >= NEEDLESS_MS) {
      this.#lift()
    }
  }

  onSilence (): void {
    this.#lift()
  }

  /** Credit may be bounded before a late pong has arrived */
  get #mayBindEarly (): boolean {
    return this.#binds === 'always' || (this.#binds === 'bothWays' && !this.boundsItself && this.#isHeld && this.#rate.evenRates >= EVEN_RATES)
  }

  /** Much less arrives than usual, so the link may have become slower */
  get isSlowed (): boolean {
    return this.#path.isSlowedTo(this.#rate.bytesPerMs)
  }

  get #isHeld (): boolean {
    return this.heldUntilMs === Infinity
  }

  get #maxSlackMs (): number {
    return MAX_SLACK_MS + this.shortestMs
  }

  get #chunkBytes (): number {
    return Math.max(this.#largestBytes, this.#lastLargestBytes)
  }

  get #isBound (): boolean {
    return this.boundBytes < Infinity
  }

  get #isSlow (): boolean {
    const { bytesPerMs } = this.#rate

    return bytesPerMs > 0 && bytesPerMs < FAST_BYTES_PER_MS
  }

  /** The rate at which the link is busy */
  get #busyBytesPerMs (): number {
    return this.#path.busyBytesPerMs(this.#rate.bytesPerMs)
  }

  /** A pong that took so long has waited behind data, and not for a program or a radio */
  #isQueue (roundTripMs: number, leastMs: number): boolean {
    const hasMuch = this.#receivedBytes - this.#roundFromBytes >= MIN_BOUND_BYTES

    return this.#isSlow && hasMuch && roundTripMs - this.shortestMs > Math.max(leastMs, this.shortestMs / 2) && this.#idleMs < roundTripMs / 2
  }

  #bind (nowMs: number): void {
    if (nowMs < this.#unboundUntilMs) {
      return
    }

    this.#withheldMs = nowMs
    this.#steadyMs = nowMs
    this.#slackMs = this.#minSlackMs
    this.#setBound()
  }

  #leave (nowMs: number): void {
    this.#unboundUntilMs = nowMs + UNBOUND_MS
    this.#lift()
  }

  #setBound (): void {
    this.creditMs = ROUND_TRIP_GAIN * this.shortestMs + this.#slackMs
    this.boundBytes = Math.max(MIN_BOUND_BYTES, this.#rate.bytesPerMs * this.creditMs + this.#chunkBytes)
  }

  #lift (): void {
    this.boundBytes = Infinity
    this.#queuedPongs = 0
  }

  /**
   * While credit waits, an idle link shows that the bound is too low. Otherwise it shows for how long at least windows must last. If data of this
   * side is held, credit waits behind it, and less arrives without a gap.
   */
  #learnSlack (roundTripMs: number, nowMs: number): void {
    const moreMs = this.#slackMs - this.#minSlackMs

    if (this.#isBound && this.#wasWithheld) {
      const lostMs = roundTripMs * (1 - TOLERATED_PART) - (this.#receivedBytes - this.#roundFromBytes) / this.#busyBytesPerMs
      this.#slackMs += Math.max(0, Math.min(MAX_SLACK_STEP_MS, lostMs, this.#isHeld ? Infinity : this.#idleMs))
    } else if (!this.#isBound) {
      this.#slackMs = this.#minSlackMs + Math.max(moreMs, this.#idleMs)
    }

    this.#slackMs = Math.min(this.#maxSlackMs, this.#slackMs) - SLACK_DECAY * moreMs
    // once the bound is given up, queues are long at both ends, and smaller windows would not fill the link
    this.creditMs = nowMs < this.#unboundUntilMs ? Infinity : ROUND_TRIP_GAIN * this.shortestMs + this.#slackMs
  }
}
