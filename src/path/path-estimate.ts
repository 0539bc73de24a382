/**
 * How many bytes may be in flight: what the path carries in a round trip, and a little more. Learns the path's rate and its smallest
 * round trip from marks, as BBR does from segments (draft-ietf-ccwg-bbr), and how long programs at both ends leave it without news.
 *
 * The law: data is held back only while the path is slower than the programs. When all that was in flight has come back behind a
 * silence, the path had nothing to do, and more is allowed.
 *
 * Invariants: the bound leaves room for two writes, but while a line is drained; it is Infinity while no pong comes, and on fast paths.
 */
import { MIN_WRITE_BYTES } from '../core/path-control.ts'
import { Bound } from './bound.ts'
import { FairShare, SHARED_PART } from './node-paths.ts'
import { OwnRoundTrip, Probes } from './own-round-trip.ts'
import { PeersData } from './peers-data.ts'
import { FastPath, GROWTH, KnownRate, MARK_INTERVAL_MS, RecentHighest } from './rate.ts'
import { PongGap, SlowPrograms } from './silences.ts'
import type { NodePath, NodePaths } from './node-paths.ts'
import type { PathSample } from './samples.ts'
import type { CatchUp } from './silences.ts'

/** A path that is only just full runs empty when a pong comes late */
const ROUND_TRIP_GAIN = 1.25
/** While the rate is looked for it may double with each round trip, which is as fast as TCP begins */
const START_UP_GAIN = 2.89
/** Where a mark has waited for less than half a round trip the path has room. More is allowed there, to make up for a start with 64 KiB. */
const UNQUEUED_GAIN = 4
const UNQUEUED_PART = 1 / 2
/** The first bytes need one round trip, and what comes in the next ones shows the rate */
const FILLED_ROUND_TRIPS = 4
/** Before anything was measured, and while the rate is looked for: TCP sends as much in its first two round trips. 262 ms at 2 Mbit/s. */
export const FIRST_BYTES = 65_536

/** With less than this part of what the path holds nothing of ours queues, and a round trip is the path's own */
const PROBE_PART = 3 / 4
/** Or with so many of the smallest writes */
const PROBE_WRITES = 2

const VALID_ROUND_TRIPS = 10
const VALID_MS = 500
/** A mark that finds the path empty has a short round trip, and the ones before and behind it may be half a second apart */
const VALID_SAMPLES = 4
const VALID_SILENCES = 4

/** Beyond the longest silence */
const SILENCE_GAIN = 1.1
/** A peer that answers few marks, and none for so long, says next to nothing of what has arrived */
const FEW_SILENT_MS = 100

/** Between two marks. The 12 bytes of one are 0.3 % of it. */
export const MIN_MARK_EVERY_BYTES = 4096
export const MARKS_IN_FLIGHT = 8
/** Pongs are rare that come so many times less often than marks are written. On a line that connections share they come in bursts, and are not. */
const RARE_PONGS = 2

/** With such a round trip to learn of the rate one later costs more than a write */
const FAR_START_MS = 20

/**
 * What the bound is while the path is not a fast one. The example in bytes-in-flight.ts has three of them.
 *
 * | phase   | begins when                                          | the bound                               | ends when                                     |
 * | startUp | the connection does, or a pong comes behind `lifted` | 2.89 or 4 round trips, 64 KiB at least  | three rounds have not raised the rate         |
 * | steady  | the rate is found, or a probe ends                   | what the path needs, not to run empty   | a probe is due                                |
 * | probing | less arrives, 2 min have passed, or others want to   | 3/4 of what it holds, 0 to empty a line | a mark found it empty, or 3 rounds found none |
 * | lifted  | no pong comes, or few, or the kernel is full first   | none                                    | a pong comes, and the peer answers enough     |
 */
type Phase = 'lifted' | 'startUp' | 'steady' | 'probing'

export class PathEstimate implements NodePath {
  /** How much may be in flight, and in one write */
  readonly bound: Bound
  /** Whether anything is to be gained by holding data back */
  readonly fast = new FastPath()
  /** What the peer has in flight itself */
  readonly peer = new PeersData()
  /** The peer answers few marks */
  answersFew = false
  /** How long the last mark took, and how much of that it waited beyond the path's own round trip */
  lastRoundTripMs = 0
  queueMs = 0
  sampledMs = 0
  /** When the first mark was written that has had no pong yet */
  waitsSinceMs = Infinity
  /** How long it is from one pong to the next while data waits */
  readonly pongGap = new PongGap()
  readonly #own = new OwnRoundTrip()
  readonly #rate = new RecentHighest()
  #known = new KnownRate()
  readonly #probes = new Probes()
  readonly #slowPrograms = new SlowPrograms()
  readonly #fairShare = new FairShare()
  readonly #nodePaths: NodePaths
  /** How long what is handed down may wait below the muxer */
  readonly #maxQueueDelayMs: number
  #phase: Phase
  /** What the newest round trip has shown. Too high at times, so it counts only while the rate is looked for. */
  #latestBytesPerMs = 0
  /** The first ping may have stood in the queue of the node's other connections: what was taken for the path's own round trip may be that */
  #beganInQueue = false
  /** A sample has shown what the path carries, not only what was asked of it */
  #isRateKnown = false

  constructor (maxQueueDelayMs: number, recordBytes: number, nodePaths: NodePaths) {
    this.#nodePaths = nodePaths
    this.#maxQueueDelayMs = maxQueueDelayMs
    this.bound = new Bound(recordBytes)
    this.#phase = maxQueueDelayMs === Infinity ? 'lifted' : 'startUp'
    this.#setBound()
  }

  /** The path's own; undefined until it was measured */
  get roundTripMs (): number | undefined {
    return this.#own.isMeasured ? this.#own.ms : undefined
  }

  /** What the path carries; 0 until it was measured */
  get bytesPerMs (): number {
    return this.#rate.value
  }

  /**
   * How long the first writes are over a far path of which nothing is known; 0 elsewhere. TCP sends 14.6 kB at once there. So a mark behind 8 KiB
   * is answered in the first round trip, and one behind 32 KiB late in the third, when all that may be in flight has long been sent.
   */
  get farStartBytes (): number {
    const isFarStart = this.#phase === 'startUp' && this.bytesPerMs === 0 && this.#own.ms >= FAR_START_MS

    return isFarStart ? Math.floor(this.bound.writeBytes / 2) : 0
  }

  /** Less is allowed than the path needs: that it is idle says nothing */
  get isProbing (): boolean {
    return this.#phase === 'probing'
  }

  get ownQueueMs (): number {
    return this.coveredSilenceMs - this.#own.ms
  }

  /** What may be in flight anyway lasts for a silence of this length: a shorter one needs no more */
  get coveredSilenceMs (): number {
    return ROUND_TRIP_GAIN * this.#own.ms + this.#maxQueueDelayMs
  }

  /** Marks are in flight, the first since then; Infinity for none */
  onWaiting (sinceMs: number, nowMs: number): void {
    this.waitsSinceMs = sinceMs
    this.#nodePaths.note(this, nowMs)
  }

  /** A ping was answered that is no mark. Where credit ends before a mark is due it alone says what has arrived. */
  onRoundTrip (roundTripMs: number, arrivedBytes: number, nowMs: number): void {
    this.#restart()
    this.#slowPrograms.onArrived(arrivedBytes, nowMs)

    if (!this.#own.isMeasured) {
      this.#beganInQueue = this.othersQueueMs(nowMs) >= SHARED_PART * roundTripMs
    }

    this.#own.learn(roundTripMs)
    this.#setBound()
  }

  onSample (sample: PathSample): void {
    // the mark found next to nothing of ours in front of it: writes are whole, and marks come on top
    // by what was known before the sample, as it was when the mark was written
    const isEmpty = sample.markedBytes <= this.#probeBytes + this.bound.writeBytes / 2 && sample.nowMs - sample.roundTripMs >= (this.#probes.drainedFromMs ?? 0)
    this.#restart()
    this.#learn(sample)
    this.#changePhase(sample, isEmpty)
    // last: how long the mark has waited, and what a probe has found, is beyond the round trip that was known before
    this.#own.learn(sample.roundTripMs)
    this.#setBound()
  }

  /** All that was in flight while data waited has come back */
  onCatchUp (catchUp: CatchUp): void {
    const sharedBytesPerMs = this.#nodePaths.sharedBytesPerMs(this, catchUp.silentMs, catchUp.nowMs)

    if (!this.#slowPrograms.onCatchUp(catchUp, this.bytesPerMs, sharedBytesPerMs, this.#own.ms, this.#phase === 'startUp')) {
      return
    }

    if (this.answersFew && catchUp.silentMs > FEW_SILENT_MS) {
      this.lift()
    } else {
      this.#setBound()
    }
  }

  /** Before anything was measured the transport's own "wait" is the bound: it has less room than is allowed here */
  onTransportFull (inFlightBytes: number): void {
    if (!this.#isRateKnown) {
      this.lift()
    } else {
      this.fast.onTransportFull(inFlightBytes)
    }
  }

  /** No pong comes, or few do: nothing is held back until that is over */
  lift (): void {
    this.#phase = 'lifted'
    this.#setBound()
  }

  /**
   * Hands nothing down until a mark has come back that was written when the line was empty, `drainMs` from now: also where the rate is still looked
   * for, or it would fill the line that the others measure.
   */
  drain (nowMs: number, drainMs: number): void {
    // nothing but the first bytes is in flight
    if (this.bytesPerMs === 0) {
      return
    }

    this.#probe(nowMs)
    this.#probes.drainedFromMs = nowMs + drainMs
    this.#setBound()
  }

  get isStarting (): boolean {
    return this.#phase === 'startUp'
  }

  /** How long the marks of the node's other connections wait: they may fill the same line */
  othersQueueMs (nowMs: number): number {
    return this.#nodePaths.othersQueueMs(this, nowMs)
  }

  /** The connection is over */
  end (): void {
    this.#nodePaths.forget(this)
  }

  #learn (sample: PathSample): void {
    const { nowMs, roundTripMs, isAppLimited } = sample
    // as many round trips as BBR takes, of the path's own: those that wait in a queue would keep a rate for minutes that has fallen to a hundredth
    const validRoundTripsMs = VALID_ROUND_TRIPS * Math.min(roundTripMs, this.#own.knownMs)
    const validMs = Math.max(VALID_MS, validRoundTripsMs, VALID_SAMPLES * (nowMs - this.sampledMs), VALID_SILENCES * this.#slowPrograms.longest.ms)
    this.#rate.learn(sample.deliveredBytes / sample.intervalMs, isAppLimited, nowMs, validMs)
    this.#latestBytesPerMs = sample.latestBytesPerMs
    this.sampledMs = nowMs
    this.lastRoundTripMs = roundTripMs
    this.queueMs = roundTripMs - this.#own.knownMs
    // it looks at the three above, of this path and of others
    this.#fairShare.learn(this, this.#nodePaths, sample, this.#isPeerFull)
    this.fast.learn(this.bytesPerMs, this.queueMs)
    this.#isRateKnown ||= !isAppLimited || sample.intervalMs >= FILLED_ROUND_TRIPS * this.#own.knownMs
    this.peer.learn(sample, GROWTH * this.#ownQueueRoundTripMs, GROWTH * sample.markedBytes / this.bytesPerMs)
    this.#slowPrograms.onArrived(sample.arrivedBytes, nowMs)
  }

  /** The longest round trip that a queue of our own makes. While the rate is looked for not by the rate, which a queue of the peer's makes too low. */
  get #ownQueueRoundTripMs (): number {
    return this.#phase === 'startUp' ? UNQUEUED_GAIN * this.#own.ms + this.#maxQueueDelayMs : this.#steadyBytes / this.bytesPerMs
  }

  // How the phases follow each other

  #changePhase ({ nowMs, roundTripMs, isNewRoundTrip, isAppLimited, wasHeld }: PathSample, isEmpty: boolean): void {
    // with no credit, or all of it in the kernel, there is no more to send: but what queues shows that the path carries no more either
    const showsRate = !isAppLimited || this.queueMs > this.ownQueueMs

    if (this.#phase === 'startUp' && isNewRoundTrip && showsRate && !this.#known.grows(this.bytesPerMs, nowMs, this.#slowPrograms.longest.ms)) {
      this.#steady()
      this.#probes.begin(nowMs)
    } else if (this.#phase === 'steady' && wasHeld) {
      this.#known.bytesPerMs = Math.max(this.#known.bytesPerMs, this.#rate.confirmed)
      // where others wait too, this one may be what they wait for
      const hasFallen = this.#known.hasFallenTo(this.bytesPerMs) && (nowMs >= this.#probes.quietUntilMs || this.othersQueueMs(nowMs) > 0)

      // what a probe would measure behind a queue of the peer's is that
      if (this.peer.roundTripMs === 0 && this.#probes.isDue(nowMs, this.#own.ms, hasFallen, this.#nodePaths.mayDrain(nowMs))) {
        this.#probe(nowMs)
      }
    }

    // also the sample that has begun the probe: a mark may have found the path empty
    if (this.#phase === 'probing' && isEmpty) {
      this.#endProbe(roundTripMs, nowMs)
    } else if (this.#phase === 'probing' && isNewRoundTrip && !this.#probes.countRoundTrip()) {
      this.#steady()
    }
  }

  #restart (): void {
    if (this.#phase === 'lifted' && !this.answersFew) {
      this.#phase = 'startUp'
      this.#known = new KnownRate()
    }
  }

  /** The round trip of a mark with next to nothing of ours in flight is the path's own, longer or shorter than it was */
  #endProbe (roundTripMs: number, nowMs: number): void {
    // what two writes took when the path was last found to be as it was: at a low rate they, not the path, would be most of a round trip
    const writesMs = PROBE_WRITES * MIN_WRITE_BYTES / this.#known.bytesPerMs
    const { ms: beforeMs } = this.#own
    const ownRoundTripMs = Math.max(beforeMs, roundTripMs - writesMs)
    const longerMs = ownRoundTripMs - beforeMs

    // the queue may be that of others: an empty line shows how long it is
    if (longerMs > 0 && this.#probes.drainedFromMs === undefined && this.#probes.mayBePostponed(nowMs)) {
      const answer = this.#nodePaths.requestDrain(this, longerMs, this.#known.bytesPerMs, this.#probes.waitsForStartUps(nowMs), nowMs)

      if (answer === 'postponed') {
        // what was is remembered: a rate that falls meanwhile is no news
        this.#probes.postpone(nowMs)
        this.#phase = 'steady'
      }

      // 'draining': all of them have been told, this one too, and the probe goes on with nothing in flight
      if (answer !== 'alone') {
        return
      }
    }

    const foundMs = Math.min(roundTripMs, ownRoundTripMs, this.#longestRoundTripMs)
    this.#probes.end(Math.max(foundMs, beforeMs) > Math.min(foundMs, beforeMs) * GROWTH, foundMs <= this.#neededMs, nowMs)
    this.#own.ms = foundMs
    this.#beganInQueue = false
    this.#steady()
  }

  #steady (): void {
    this.#phase = 'steady'
    this.#probes.drainedFromMs = undefined
    this.#known.bytesPerMs = this.#rate.confirmed
  }

  #probe (nowMs: number): void {
    this.#phase = 'probing'
    this.#probes.begin(nowMs)
  }

  // The bound of each

  #setBound (): void {
    this.bound.set(this.fast.isFast ? Infinity : this.#chooseBound(), this.#phase === 'startUp')
  }

  #chooseBound (): number {
    switch (this.#phase) {
      case 'lifted':
        return Infinity
      case 'probing':
        return this.#probes.drainedFromMs === undefined ? this.#probeBytes : 0
      case 'startUp':
        // to double what is in flight would make the queue longer, and the next that begins in it would take that for its own round trip
        if (this.#beganInQueue) {
          return Math.max(FIRST_BYTES, this.#steadyBytes)
        }

        // the line there may carry as much as the line back: to double it would take round trips of seconds
        return Math.max(this.#slowPrograms.boostBytes, FIRST_BYTES, this.#neededBytes, this.#carriedBytes(START_UP_GAIN), this.#nextRoundTripBytes, this.peer.byteLength)
      default:
        return this.#steadyBytes
    }
  }

  get #steadyBytes (): number {
    return Math.max(this.#slowPrograms.boostBytes, this.#neededBytes + this.#unconfirmedBytes + MIN_WRITE_BYTES)
  }

  /** What a path that carries more with each round trip may carry in the next */
  get #nextRoundTripBytes (): number {
    const gain = this.queueMs < UNQUEUED_PART * this.#own.ms ? UNQUEUED_GAIN : START_UP_GAIN

    // where the peer has data in flight too, each would make the other's queue longer
    return this.#isPeerFull ? 0 : this.#carriedBytes(gain, this.#latestBytesPerMs)
  }

  /** With so little in flight nothing of ours queues */
  get #probeBytes (): number {
    return Math.max(PROBE_WRITES * MIN_WRITE_BYTES, PROBE_PART * this.bytesPerMs * this.#own.ms)
  }

  /** Its data is in flight as well, and pongs wait behind it for as long as ours may make its wait */
  get #isPeerFull (): boolean {
    return this.peer.isFull(this.sampledMs)
  }

  /**
   * A peer that bounds what it has in flight makes pongs wait for as long as we may make its. To take more for a longer path would make each
   * end give way to the other's queue, and both grow.
   */
  get #longestRoundTripMs (): number {
    return this.#isPeerFull ? this.#own.shortestMs * (1 + ROUND_TRIP_GAIN) + this.#maxQueueDelayMs + 2 * MIN_WRITE_BYTES / this.bytesPerMs : Infinity
  }

  /** In so many round trips, and in the time that what is handed down may wait */
  #carriedBytes (roundTrips: number, bytesPerMs = this.bytesPerMs): number {
    return bytesPerMs * (roundTrips * Math.max(this.#own.ms, this.peer.roundTripMs) + this.#maxQueueDelayMs)
  }

  /** With less the path runs empty: what it carries in a round trip and until pongs come that come late */
  get #neededBytes (): number {
    return Math.max(this.bytesPerMs, this.#fairShare.bytesPerMs) * this.#neededMs
  }

  get #neededMs (): number {
    const sharedMs = this.#own.ms + this.#fairShare.queueMs
    const neededMs = Math.max(this.coveredSilenceMs, sharedMs, SILENCE_GAIN * this.#slowPrograms.longest.ms, ROUND_TRIP_GAIN * this.peer.roundTripMs)

    return this.#isPeerFull && this.bytesPerMs > 0 ? Math.max(neededMs, ROUND_TRIP_GAIN * this.#longestRoundTripMs) : neededMs
  }

  /** What has arrived since the last mark, and still counts as in flight. With no more than that a slow path would be empty when a pong comes. */
  get #unconfirmedBytes (): number {
    const markMs = Math.max(MARK_INTERVAL_MS, this.coveredSilenceMs / MARKS_IN_FLIGHT)
    const gapMs = this.pongGap.ms > RARE_PONGS * markMs ? this.pongGap.ms : MARK_INTERVAL_MS

    return Math.max(MIN_MARK_EVERY_BYTES, this.#carriedBytes(ROUND_TRIP_GAIN) / MARKS_IN_FLIGHT, this.bytesPerMs * gapMs)
  }
}
