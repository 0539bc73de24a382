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
import { FairShare, SHARED_PART } from './node-paths.ts'
import { OwnRoundTrip, Probes } from './own-round-trip.ts'
import { PeersData } from './peers-data.ts'
import { PeersDelay } from './peers-delay.ts'
import { GROWTH, KnownRate, RecentHighest } from './rate.ts'
import { PongGap, SlowPrograms } from './silences.ts'
import type { NodePath, NodePaths } from './node-paths.ts'
import type { PeersBound } from './peers-bound.ts'
import type { PathSample } from './samples.ts'
import type { CatchUp } from './silences.ts'

/** With a single round trip of data in flight the path would run empty if a pong is late */
const ROUND_TRIP_GAIN = 1.25
/** During start-up the rate may double in each round trip, as fast as TCP starts */
const START_UP_GAIN = 2.89
/** If a mark has waited less than half a round trip the path has room: then more is allowed, to make up for the start with 64 KiB */
const UNQUEUED_GAIN = 4
const UNQUEUED_PART = 1 / 2
/** The first bound, and the least during start-up: about what TCP sends in its first two round trips, 262 ms at 2 Mbit/s */
export const FIRST_BYTES = 65_536

/** A sample over this many round trips shows the rate of the path: the first bytes take one, and the next ones show the rate */
const FILLED_ROUND_TRIPS = 4

/** A probe allows this part of what the path holds, so nothing queues, and a round trip is the path's own */
const PROBE_PART = 3 / 4
/** Or this many of the smallest writes, if they are more */
const PROBE_WRITES = 2

/** A sample of the rate counts for this many of the path's own round trips, as with BBR, and for VALID_MS at least */
const VALID_ROUND_TRIPS = 10
const VALID_MS = 2600

/** The bytes in flight last a little longer than the longest silence */
const SILENCE_GAIN = 1.1

/** The shortest distance between two marks: the 12 bytes of a mark are 0.3 % of it */
export const MIN_MARK_EVERY_BYTES = 4096
export const MARKS_IN_FLIGHT = 8
/** Pongs are rare if the gap between them is this many times that between marks. On a shared link they come in bursts, with shorter gaps. */
const RARE_PONGS = 2

/** A path is fast if the bytes in a kernel's buffer pass it within this time: then holding data gains nothing */
const FAST_MS = 20
const KERNEL_BYTES = 4_194_304
/** Between two marks. On a fast path a rare mark shows whether the path stays fast. */
const MARK_INTERVAL_MS = 5
const FAST_MARK_INTERVAL_MS = 100

/**
 * Beyond a round trip, the peer's mean delay counts up to this. Each end's queue is the other's delay, so after a stall of seconds both would keep
 * each other's queue that long.
 */
const LONGEST_MEAN_DELAY_MS = 500
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
  /** How much may be in flight, and how long a write is */
  readonly bound: Bound
  /** Bulk of a peer that bounds nothing */
  readonly peersData = new PeersData()
  /** How long pongs wait with the data of a peer that bounds it */
  readonly peersDelay = new PeersDelay()
  /** How long the last mark took, and how much of that exceeds the path's own round trip */
  lastRoundTripMs = 0
  queueMs = 0
  sampledMs = 0
  /** When the oldest unanswered mark was written; Infinity if there is none */
  waitsSinceMs = Infinity
  /** The time from one pong to the next while data is held */
  readonly pongGap = new PongGap()
  readonly #own = new OwnRoundTrip()
  readonly #rate = new RecentHighest()
  #known = new KnownRate()
  readonly #probes = new Probes()
  readonly #slowPrograms = new SlowPrograms()
  readonly #fairShare = new FairShare()
  readonly #nodePaths: NodePaths
  readonly #peersBound: PeersBound
  #isPeerBound = false
  /** How long data may be queued below the muxer */
  readonly #maxQueueDelayMs: number
  #phase: Phase
  /** The rate of the newest round trip. It may be too high, so it counts only during start-up. */
  #latestBytesPerMs = 0
  /** The first ping may have waited in the queue of the node's other connections, so the measured round trip may contain that queue */
  #beganInQueue = false
  /** A sample has shown what the path carries, and not only what the application sent */
  #isRateKnown = false
  /** What had probably arrived when the last pong came, although no pong had confirmed it */
  #arrivedBytes = 0

  constructor (maxQueueDelayMs: number, recordBytes: number, nodePaths: NodePaths, peersBound: PeersBound) {
    this.#nodePaths = nodePaths
    this.#peersBound = peersBound
    this.#maxQueueDelayMs = maxQueueDelayMs
    this.bound = new Bound(recordBytes)
    this.#phase = maxQueueDelayMs === Infinity ? 'lifted' : 'startUp'
    this.#setBound()
  }

  /** The path's own round trip; undefined until it was measured */
  get roundTripMs (): number | undefined {
    return this.#own.isMeasured ? this.#own.ms : undefined
  }

  /** Infinity until it was measured */
  get shortestRoundTripMs (): number {
    return this.#own.shortestMs
  }

  /** The rate of the path; 0 until it was measured */
  get bytesPerMs (): number {
    return this.#rate.value
  }

  /**
   * The length of the first writes over a far path whose rate is unknown; otherwise 0. TCP sends 14.6 kB in its first flight. So a mark behind
   * 8 KiB is answered in the first round trip. One behind 32 KiB is answered late in the third, long after the first bound was used up.
   */
  get farStartBytes (): number {
    const isFarStart = this.#phase === 'startUp' && this.bytesPerMs === 0 && this.#own.ms >= FAR_START_MS

    return isFarStart ? Math.floor(this.bound.writeBytes / 2) : 0
  }

  /** Between two marks */
  get markIntervalMs (): number {
    return this.#isFast ? FAST_MARK_INTERVAL_MS : MARK_INTERVAL_MS
  }

  /** How much of what is in flight has probably arrived, as pongs wait with the peer's data */
  get arrivedBytes (): number {
    return this.#arrivedBytes
  }

  /** Less is allowed than the path carries, so an idle path shows nothing */
  get isProbing (): boolean {
    return this.#phase === 'probing'
  }

  get ownQueueMs (): number {
    return this.coveredSilenceMs - this.#own.ms
  }

  /** The bytes in flight last for a silence of this length anyway, so a shorter one requires no more */
  get coveredSilenceMs (): number {
    return ROUND_TRIP_GAIN * this.#own.ms + this.#maxQueueDelayMs
  }

  /** `sinceMs`: when the oldest unanswered mark was written; Infinity if there is none */
  onWaiting (sinceMs: number, nowMs: number): void {
    this.waitsSinceMs = sinceMs
    this.#nodePaths.note(this, nowMs)
  }

  /** The pong to a ping that is no mark. If credit ends before a mark is due, only this pong shows what has arrived. */
  onRoundTrip (roundTripMs: number, arrivedPositionBytes: number, nowMs: number): void {
    this.#restart()
    this.#slowPrograms.onArrived(arrivedPositionBytes, nowMs)

    this.#learnRoundTrip(roundTripMs, nowMs)
    this.#setBound()
  }

  onSample (sample: PathSample): void {
    const { nowMs, roundTripMs, peersDelayMs, inFlightBytes, deliveredBytes } = sample
    const tookMs = roundTripMs + peersDelayMs
    // whether the mark found the path empty, by what was known when it was written: before this sample. Writes are whole, hence half a write more.
    const isEmpty = inFlightBytes <= this.#probeBytes + this.bound.writeBytes / 2 && this.#probes.isEmptyAt(nowMs - tookMs)
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
    if (!this.#own.isMeasured) {
      this.#beganInQueue = this.othersQueueMs(nowMs) >= SHARED_PART * roundTripMs
    }

    this.#own.learn(roundTripMs)
  }

  /** After a silence everything that was in flight is confirmed */
  onCatchUp (catchUp: CatchUp): void {
    // pongs that have waited behind the peer's bulk come together as well
    if (this.peersData.isQueued || this.#isPeerBound) {
      return
    }

    const sharedBytesPerMs = this.#nodePaths.sharedBytesPerMs(this, catchUp.silentMs, catchUp.nowMs)
    this.#slowPrograms.onCatchUp(catchUp, this.bytesPerMs, sharedBytesPerMs, this.#own.ms, this.#phase === 'startUp')
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
    // the path's own round trips: longer ones, of marks in a queue, would keep the old rate for minutes after a fall to a hundredth
    const validMs = Math.max(VALID_MS, VALID_ROUND_TRIPS * Math.min(roundTripMs, this.#own.knownMs))
    this.#rate.learn(sample.deliveredBytes / sample.intervalMs, isAppLimited, nowMs, validMs)
    this.#latestBytesPerMs = sample.latestBytesPerMs
    this.sampledMs = nowMs
    this.lastRoundTripMs = roundTripMs + peersDelayMs
    this.queueMs = roundTripMs - this.#own.knownMs
    this.peersDelay.learn(peersDelayMs, nowMs)
    // more arrives until its pong has waited as long, but no more than is in flight
    const meanMs = Math.min(this.peersDelay.meanMs, this.#own.knownMs + LONGEST_MEAN_DELAY_MS)
    this.#arrivedBytes = Math.max(Math.min(sample.unacknowledgedBytes, this.bytesPerMs * peersDelayMs), this.bytesPerMs * meanMs)
    // after the assignments above: it reads these fields, of this path and of others
    this.#fairShare.learn(this, this.#nodePaths, sample)
    this.#isRateKnown ||= !isAppLimited || sample.intervalMs >= FILLED_ROUND_TRIPS * this.#own.knownMs
    this.peersData.learn(sample, GROWTH * this.#ownQueueRoundTripMs, this.peersDelay.isMarked(nowMs))

    this.#learnPeersBound(nowMs)

    this.#slowPrograms.onArrived(sample.arrivedPositionBytes, nowMs)
  }

  /** While its credit is bound, the peer's queue is short. Afterwards this side starts anew, as the rate until then does not show what the path carries. */
  #learnPeersBound (nowMs: number): void {
    const wasBound = this.#isPeerBound
    this.#isPeerBound = this.#peersBound.roundTripMs > 0 || (this.peersData.roundTripMs > 0 && this.#peersBound.bindBothWays(nowMs))

    if (this.#isPeerBound) {
      this.peersData.forget()
    } else if (wasBound) {
      this.#startUp()
    }
  }

  /** The longest round trip that this side's own data explains. During start-up it does not depend on the rate, which a queue of the peer makes too low. */
  get #ownQueueRoundTripMs (): number {
    return this.#phase === 'startUp' ? UNQUEUED_GAIN * this.#own.ms + this.#maxQueueDelayMs : this.#steadyBytes / this.bytesPerMs
  }

  // How the phases follow each other

  #changePhase ({ nowMs, roundTripMs, isNewRoundTrip, isAppLimited, wasHeld }: PathSample, isEmpty: boolean): void {
    // without credit, or with all data in the kernel, there is no more to send; but a queue shows that the path carries no more either
    const showsRate = !isAppLimited || this.queueMs > this.ownQueueMs

    if (this.#phase === 'startUp' && isNewRoundTrip && showsRate && !this.#known.grows(this.bytesPerMs)) {
      this.#steady()
      this.#probes.begin(nowMs)
      this.#peersBound.onStartUpOver()
    } else if (this.#phase === 'steady' && wasHeld) {
      this.#known.bytesPerMs = Math.max(this.#known.bytesPerMs, this.#rate.confirmed)

      // behind a queue of the peer a probe would measure that queue
      if (this.peersData.roundTripMs === 0 && !this.#isPeerBound && this.#probes.isDue(nowMs, this.#known.hasFallenTo(this.bytesPerMs), this.#nodePaths.mayEmptyLink(nowMs))) {
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
    const { ms: beforeMs } = this.#own
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
    this.#own.ms = foundMs
    this.#beganInQueue = false
    this.#steady()
  }

  #steady (): void {
    this.#phase = 'steady'
    this.#known.bytesPerMs = this.#rate.confirmed
  }

  #probe (nowMs: number, emptyFromMs = nowMs): void {
    this.#phase = 'probing'
    this.#probes.begin(nowMs, emptyFromMs)
  }

  // The bound of each

  #setBound (): void {
    this.bound.set(this.#isFast ? Infinity : this.#chooseBound() + this.#arrivedBytes, this.#phase === 'startUp')
  }

  #chooseBound (): number {
    switch (this.#phase) {
      case 'lifted':
        return Infinity
      case 'probing':
        return this.#probes.isEmptying ? 0 : this.#probeBytes
      case 'startUp':
        // doubling would make the queue longer, and the next connection would take it for a part of its own round trip
        if (this.#beganInQueue) {
          return Math.max(FIRST_BYTES, this.#steadyBytes)
        }

        // The link may carry as much in this direction as in the other (peersData.roundTripBytes). Doubling up to that would take many round trips of
        // several seconds.
        return Math.max(this.#slowPrograms.boostBytes, FIRST_BYTES, this.#neededBytes, this.#carriedBytes(START_UP_GAIN), this.#nextRoundTripBytes, this.peersData.roundTripBytes)
      default:
        return this.#steadyBytes
    }
  }

  get #steadyBytes (): number {
    return Math.max(this.#slowPrograms.boostBytes, this.#neededBytes + this.#unconfirmedBytes + MIN_WRITE_BYTES, this.bytesPerMs * this.#peersBound.roundTripMs)
  }

  /** What a path that carries more in each round trip may carry in the next one */
  get #nextRoundTripBytes (): number {
    const gain = this.queueMs < UNQUEUED_PART * this.#own.ms ? UNQUEUED_GAIN : START_UP_GAIN

    return this.#carriedBytes(gain, this.#latestBytesPerMs)
  }

  /** With so little in flight nothing queues */
  get #probeBytes (): number {
    return Math.max(PROBE_WRITES * MIN_WRITE_BYTES, PROBE_PART * this.bytesPerMs * this.#own.ms)
  }

  /** What the path carries in so many round trips, and in the time that data may be queued below the muxer */
  #carriedBytes (roundTrips: number, bytesPerMs = this.bytesPerMs): number {
    return bytesPerMs * (roundTrips * Math.max(this.#own.ms, this.peersData.roundTripMs) + this.#maxQueueDelayMs)
  }

  /** What the path carries in a round trip, and until late pongs come: with less in flight it runs empty */
  get #neededBytes (): number {
    return Math.max(this.bytesPerMs, this.#fairShare.bytesPerMs) * this.#neededMs
  }

  get #neededMs (): number {
    const sharedMs = this.#own.ms + this.#fairShare.queueMs

    return Math.max(this.coveredSilenceMs, sharedMs, SILENCE_GAIN * this.#slowPrograms.longestMs, ROUND_TRIP_GAIN * this.peersData.roundTripMs)
  }

  /** Data that has arrived since the last mark, and still counts as in flight. Without room for it a slow path would run empty before a pong comes. */
  get #unconfirmedBytes (): number {
    const markMs = Math.max(MARK_INTERVAL_MS, this.coveredSilenceMs / MARKS_IN_FLIGHT)
    const gapMs = this.pongGap.ms > RARE_PONGS * markMs ? this.pongGap.ms : MARK_INTERVAL_MS

    return Math.max(MIN_MARK_EVERY_BYTES, this.#carriedBytes(ROUND_TRIP_GAIN) / MARKS_IN_FLIGHT, this.bytesPerMs * gapMs)
  }
}
