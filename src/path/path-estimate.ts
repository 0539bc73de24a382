/**
 * How many bytes may be in flight: what the path carries in a round trip, and a little more. The rate and the path's own round trip are learned
 * from marks, as BBR learns them from segments (draft-ietf-ccwg-bbr). Silences show how long programs at both ends leave pongs unread.
 *
 * The law: data is held only while the path is slower than the programs. If everything in flight is confirmed at once after a silence, the path
 * had nothing to carry, and more is allowed.
 *
 * Invariants: the bound leaves room for two writes, except while a link is emptied. It is Infinity while no pong comes, and on fast paths.
 */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'
import { Bound } from './bound.ts'
import { FairShare } from './fair-share.ts'
import { SHARED_PART } from './node-paths.ts'
import { LongerPath } from './longer-path.ts'
import { OwnRoundTrip } from './own-round-trip.ts'
import { PeersData } from './peers-data.ts'
import { PeersDelay } from './peers-delay.ts'
import { coveredSilenceMs, FIRST_BYTES, MARK_INTERVAL_MS, MIN_MARK_EVERY_BYTES, ownQueueRoundTripMs, PROBE_WRITES, probeBytes, startUpBytes, steadyBytes } from './phase-bytes.ts'
import { Probes } from './probes.ts'
import { GROWTH, KnownRate, RecentHighest } from './rate.ts'
import { PongGap, SlowPrograms } from './silences.ts'
import type { NodePath, NodePaths } from './node-paths.ts'
import type { PeersBound } from './peers-bound.ts'
import type { LearnedPath } from './phase-bytes.ts'
import type { PathSample } from './samples.ts'
import type { CatchUp } from './silences.ts'

/** A sample over this many round trips shows the rate of the path: the first bytes take one, and the next ones show the rate */
const FILLED_ROUND_TRIPS = 4

/** A sample of the rate counts for this many of the path's own round trips, as with BBR, and for VALID_MS at least */
const VALID_ROUND_TRIPS = 10
const VALID_MS = 2600

/** A path is fast if the bytes in a kernel's buffer pass it within this time: then holding data gains nothing */
const FAST_MS = 20
const KERNEL_BYTES = 4_194_304
/** On a fast path a rare mark shows whether the path stays fast */
const FAST_MARK_INTERVAL_MS = 100

/**
 * Beyond a round trip, the peer's mean delay counts up to this. Each end's queue is the other's delay, so after a stall of seconds both would keep
 * each other's queue that long.
 */
const LONGEST_MEAN_DELAY_MS = 500
/** With less than this part of its rate this side may be starved by the bound for the peer */
const STARVED_PART = 1 / 2
/** With a longer round trip it costs more to learn the rate one round trip later than to split a write */
const FAR_START_MS = 20

/**
 * The phases of the bound, unless the path is fast. The example in bytes-in-flight.ts has three of them.
 *
 * | phase   | begins when                                           | bound                                        | ends when                                              |
 * | startUp | the connection begins, or a pong comes in `lifted`    | 2.89 or 4 round trips, at least 64 KiB       | three round trips have not raised the rate             |
 * | steady  | the rate is known, or a probe ends                    | what keeps the path from running empty       | a probe is due                                         |
 * | probing | the rate has fallen, after 2 min, or to empty a link  | 3/4 of what the path holds, or 0 for that    | a mark finds it empty, or three round trips do not     |
 * | lifted  | no pongs come, or the kernel's buffer is small        | none                                         | a pong comes                                           |
 */
type Phase = 'lifted' | 'startUp' | 'steady' | 'probing'

export class PathEstimate implements NodePath {
  readonly learned: LearnedPath
  /** How much may be in flight, and how long a write is */
  readonly bound: Bound
  /** How long pongs wait with the data of a peer that bounds it */
  readonly peersDelay = new PeersDelay()
  /** How long the last mark took, and how much of that exceeds the path's own round trip */
  lastRoundTripMs = 0
  queueMs = 0
  sampledMs = 0
  /** Bytes in flight that have probably arrived, as their pongs wait behind the peer's data */
  arrivedBytes = 0
  /** When the oldest unanswered mark was written; Infinity if there is none */
  waitsSinceMs = Infinity
  #known = new KnownRate()
  readonly #probes = new Probes()
  readonly #nodePaths: NodePaths
  #isPeerBound = false
  readonly #longerPath = new LongerPath()
  #phase: Phase
  /** The rate of the newest round trip. It may be too high, so it counts only during start-up. */
  #latestBytesPerMs = 0
  /** The first ping may have waited in the queue of the node's other connections, so the measured round trip may contain that queue */
  #beganInQueue = false
  /** A sample has shown what the path carries, and not only what the application sent */
  #isRateKnown = false

  constructor (maxQueueDelayMs: number, recordBytes: number, nodePaths: NodePaths, peersBound: PeersBound) {
    this.#nodePaths = nodePaths
    this.learned = {
      maxQueueDelayMs,
      own: new OwnRoundTrip(),
      rate: new RecentHighest(),
      slowPrograms: new SlowPrograms(),
      pongGap: new PongGap(),
      peersData: new PeersData(),
      peersBound,
      fairShare: new FairShare()
    }
    this.bound = new Bound(recordBytes)
    this.#phase = maxQueueDelayMs === Infinity ? 'lifted' : 'startUp'
    this.#setBound()
  }

  /** The rate of the path; 0 until it was measured */
  get bytesPerMs (): number {
    return this.learned.rate.value
  }

  /**
   * The length of the first writes over a far path whose rate is unknown; otherwise 0. TCP sends 14.6 kB in its first flight. So a mark behind
   * 8 KiB is answered in the first round trip. One behind 32 KiB is answered late in the third, long after the first bound was used up.
   */
  get farStartBytes (): number {
    const isFarStart = this.#phase === 'startUp' && this.bytesPerMs === 0 && this.learned.own.ms >= FAR_START_MS

    return isFarStart ? Math.floor(this.bound.writeBytes / 2) : 0
  }

  /** Between two marks */
  get markIntervalMs (): number {
    return this.#isFast ? FAST_MARK_INTERVAL_MS : MARK_INTERVAL_MS
  }

  /** Less is allowed than the path carries, so an idle path shows nothing */
  get isProbing (): boolean {
    return this.#phase === 'probing'
  }

  get ownQueueMs (): number {
    return coveredSilenceMs(this.learned) - this.learned.own.ms
  }

  /** `sinceMs`: when the oldest unanswered mark was written; Infinity if there is none */
  onWaiting (sinceMs: number, nowMs: number): void {
    this.waitsSinceMs = sinceMs
    this.#nodePaths.note(this, nowMs)
  }

  /** The pong to a ping that is no mark. If credit ends before a mark is due, only this pong shows what has arrived. */
  onRoundTrip (roundTripMs: number, arrivedPositionBytes: number, nowMs: number): void {
    this.#restart()
    this.learned.slowPrograms.onArrived(arrivedPositionBytes, nowMs)

    this.#learnRoundTrip(roundTripMs, nowMs)
    this.#setBound()
  }

  onSample (sample: PathSample): void {
    const { nowMs, roundTripMs, peersDelayMs, inFlightBytes, deliveredBytes } = sample
    const tookMs = roundTripMs + peersDelayMs
    // whether the mark found the path empty, by what was known when it was written: before this sample. Writes are whole, hence half a write more.
    const isEmpty = inFlightBytes <= probeBytes(this.learned) + this.bound.writeBytes / 2 && nowMs - tookMs >= this.#probes.emptyFromMs
    this.#restart()

    // the first marks have too little in front of them to show a rate
    if (this.bytesPerMs > 0 || deliveredBytes >= MIN_MARK_EVERY_BYTES) {
      this.#learn(sample)
      this.#changePhase(sample, isEmpty)
    }

    // last, as the steps above compare the sample with the round trip that was known before
    this.#learnRoundTrip(tookMs, nowMs)
    this.#setBound()
  }

  #learnRoundTrip (roundTripMs: number, nowMs: number): void {
    const { own } = this.learned

    if (!own.isMeasured) {
      this.#beganInQueue = this.othersQueueMs(nowMs) >= SHARED_PART * roundTripMs
    }

    own.learn(roundTripMs)
  }

  /** After a silence everything that was in flight is confirmed */
  onCatchUp (catchUp: CatchUp): void {
    // pongs that have waited behind the peer's bulk come together as well
    if (this.learned.peersData.isQueued || this.#isPeerBound) {
      return
    }

    const sharedBytesPerMs = this.#nodePaths.sharedBytesPerMs(this, catchUp.silentMs, catchUp.nowMs)
    this.learned.slowPrograms.onCatchUp(catchUp, this.bytesPerMs, sharedBytesPerMs, this.learned.own.ms, this.#phase === 'startUp')
    this.#setBound()
  }

  /** Until the rate is known, "wait" shows that the transport has less room than the bound allows, so no bound is needed */
  onTransportFull (): void {
    if (!this.#isRateKnown) {
      this.lift()
    }
  }

  /** No pongs come: nothing is held until one does */
  lift (): void {
    this.#phase = 'lifted'
    this.#setBound()
  }

  /**
   * Holds data until a mark is answered that was written when the link was empty, `emptyInMs` from now. This applies during start-up too, or this
   * connection would fill the link that the others measure.
   */
  emptyLink (nowMs: number, emptyInMs: number): void {
    // only the first bytes are in flight
    if (this.bytesPerMs === 0) {
      return
    }

    this.#probe(nowMs, nowMs + emptyInMs)
    this.#setBound()
  }

  get isStarting (): boolean {
    return this.#phase === 'startUp'
  }

  /** How long the marks of the node's other connections wait: they may fill the same link */
  othersQueueMs (nowMs: number): number {
    return this.#nodePaths.othersQueueMs(this, nowMs)
  }

  /** The connection is over */
  end (): void {
    this.#nodePaths.forget(this)
  }

  get #isFast (): boolean {
    return this.bytesPerMs * FAST_MS >= KERNEL_BYTES
  }

  #learn (sample: PathSample): void {
    const { nowMs, roundTripMs, peersDelayMs, isAppLimited } = sample
    const { own, rate, fairShare, peersData, peersBound, slowPrograms } = this.learned
    // the path's own round trips: longer ones, of marks in a queue, would keep the old rate for minutes after a fall to a hundredth
    const validMs = Math.max(VALID_MS, VALID_ROUND_TRIPS * Math.min(roundTripMs, own.knownMs))
    rate.learn(sample.deliveredBytes / sample.intervalMs, isAppLimited, nowMs, validMs)
    this.#latestBytesPerMs = sample.latestBytesPerMs
    this.sampledMs = nowMs
    this.lastRoundTripMs = roundTripMs + peersDelayMs
    this.queueMs = roundTripMs - own.knownMs
    this.peersDelay.learn(peersDelayMs, nowMs)
    // more arrives until its pong has waited as long, but no more than is in flight
    const meanMs = Math.min(this.peersDelay.meanMs, own.knownMs + LONGEST_MEAN_DELAY_MS)
    this.arrivedBytes = Math.max(Math.min(sample.unacknowledgedBytes, this.bytesPerMs * peersDelayMs), this.bytesPerMs * meanMs)
    // after the assignments above: it reads these fields, of this path and of others
    fairShare.learn(this, this.#nodePaths, sample)
    this.#isRateKnown ||= !isAppLimited || sample.intervalMs >= FILLED_ROUND_TRIPS * own.knownMs
    peersBound.boundsItself = this.peersDelay.isMarked(nowMs)
    peersData.learn(sample, GROWTH * ownQueueRoundTripMs(this.learned, this.isStarting), peersBound.boundsItself)

    this.#learnPeersBound(nowMs)

    slowPrograms.onArrived(sample.arrivedPositionBytes, nowMs)
  }

  /** While its credit is bound, the peer's queue is short. Afterwards this side starts anew, as the rate until then does not show what the path carries. */
  #learnPeersBound (nowMs: number): void {
    const { own, peersBound, peersData, maxQueueDelayMs } = this.learned
    const wasBound = this.#isPeerBound

    if (wasBound && peersBound.isSlowed) {
      // a slower link explains a lower rate
      this.#known.bytesPerMs = this.bytesPerMs
    }

    if (!wasBound || this.bytesPerMs >= STARVED_PART * this.#known.bytesPerMs) {
      this.#longerPath.onRecovered(nowMs)
    } else if (this.lastRoundTripMs <= peersBound.roundTripMs + maxQueueDelayMs) {
      this.#longerPath.onExplained(nowMs)
    } else if (this.#longerPath.onStarved(own, this.lastRoundTripMs, peersBound.roundTripMs - peersBound.shortestMs, this.bytesPerMs, nowMs)) {
      this.#known.bytesPerMs = this.bytesPerMs
    }

    this.#isPeerBound = peersBound.roundTripMs > 0 || (peersData.roundTripMs > 0 && peersBound.bindBothWays(nowMs))

    if (this.#isPeerBound) {
      peersData.forget()
    } else if (wasBound) {
      this.#startUp()
    }
  }

  // How the phases follow each other

  #changePhase ({ nowMs, roundTripMs, isNewRoundTrip, isAppLimited, wasHeld }: PathSample, isEmpty: boolean): void {
    // without credit, or with all data in the kernel, there is no more to send; but a queue shows that the path carries no more either
    const showsRate = !isAppLimited || this.queueMs > this.ownQueueMs

    if (this.#phase === 'startUp' && isNewRoundTrip && showsRate && !this.#known.grows(this.bytesPerMs)) {
      this.#steady()
      this.#probes.begin(nowMs)
      this.learned.peersBound.onStartUpOver()
    } else if (this.#phase === 'steady' && wasHeld) {
      this.#known.bytesPerMs = Math.max(this.#known.bytesPerMs, this.learned.rate.confirmed)

      // behind a queue of the peer a probe would measure that queue
      if (this.learned.peersData.roundTripMs === 0 && !this.#isPeerBound && this.#probes.isDue(nowMs, this.#known.hasFallenTo(this.bytesPerMs), this.#nodePaths.mayEmptyLink(nowMs))) {
        this.#probe(nowMs)
      }
    }

    if (this.#phase === 'probing' && isEmpty) {
      this.#endProbe(roundTripMs, nowMs)
    } else if (this.#phase === 'probing' && isNewRoundTrip && !this.#probes.countRoundTrip()) {
      this.#steady()
    }
  }

  #restart (): void {
    if (this.#phase === 'lifted') {
      this.#startUp()
    }
  }

  #startUp (): void {
    this.#phase = 'startUp'
    this.#known = new KnownRate()
  }

  /** The round trip of a mark with almost nothing in flight is the path's own, whether longer or shorter than before */
  #endProbe (roundTripMs: number, nowMs: number): void {
    // less the time of two writes, at the known rate: at the present one, which may be far lower, they would be most of the round trip
    const writesMs = PROBE_WRITES * MIN_WRITE_BYTES / this.#known.bytesPerMs
    const { ms: beforeMs } = this.learned.own
    const ownRoundTripMs = Math.max(beforeMs, roundTripMs - writesMs)
    const longerMs = ownRoundTripMs - beforeMs

    // the difference may be a queue of others: an empty link shows the round trip without it
    if (longerMs > 0 && !this.#probes.isEmptying) {
      const answer = this.#nodePaths.requestEmptyLink(this, longerMs, this.#probes.waitsForStartUps(nowMs), nowMs)

      if (answer === 'postponed') {
        // unlike #steady(), this leaves the known rate as it was before the fall
        this.#probes.postpone(nowMs)
        this.#phase = 'steady'
      }

      // 'emptying': `emptyLink` was called on all of them, this one too, and the probe goes on with nothing in flight
      if (answer !== 'alone') {
        return
      }
    }

    const foundMs = Math.min(roundTripMs, ownRoundTripMs)
    this.#probes.end(Math.max(foundMs, beforeMs) > Math.min(foundMs, beforeMs) * GROWTH)
    this.learned.own.ms = foundMs
    this.#beganInQueue = false
    this.#steady()
  }

  #steady (): void {
    this.#phase = 'steady'
    this.#known.bytesPerMs = this.learned.rate.confirmed
  }

  #probe (nowMs: number, emptyFromMs = nowMs): void {
    this.#phase = 'probing'
    this.#probes.begin(nowMs, emptyFromMs)
  }

  // The bound of each

  #setBound (): void {
    this.bound.set(this.#isFast ? Infinity : this.#chooseBound() + this.arrivedBytes, this.#phase === 'startUp')
  }

  #chooseBound (): number {
    switch (this.#phase) {
      case 'lifted':
        return Infinity
      case 'probing':
        return this.#probes.isEmptying ? 0 : probeBytes(this.learned)
      case 'startUp':
        // doubling would make the queue longer, and the next connection would take it for a part of its own round trip
        if (this.#beganInQueue) {
          return Math.max(FIRST_BYTES, steadyBytes(this.learned))
        }

        return startUpBytes(this.learned, this.#latestBytesPerMs, this.queueMs)
      default:
        return steadyBytes(this.learned)
    }
  }
}
