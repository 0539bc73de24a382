/**
 * How many bytes may be under way: what the path carries in a round trip, and a little more. Learns the path's rate and its smallest
 * round trip from marks, as BBR does from segments (draft-ietf-ccwg-bbr).
 *
 * Invariants: the bound leaves room for two writes; it is Infinity while no pong comes, else every figure is finite.
 */
import { PongClumps } from './pong-clumps.ts'
import { RecentHighest } from './recent-highest.ts'

/** A path that is only just full runs empty when a pong comes late */
const ROUND_TRIP_GAIN = 1.25
/** While the rate is looked for it may double with each round trip, which is as fast as TCP begins */
const START_UP_GAIN = 2.89
/** The first bytes need one round trip, and what comes in the next ones shows the rate */
const FILLED_ROUND_TRIPS = 4
/** The rate is found when so many rounds in a row have not raised it by a quarter */
const ROUNDS_WITHOUT_GROWTH = 3
const GROWTH = 1.25

/** Before anything was measured: more than TCP sends in three round trips */
export const FIRST_BYTES = 262_144
/** While the rate is looked for, however low the first samples are: TCP's first round trips are no measure of the path */
const START_UP_BYTES = 65_536

/** With less than this part of what the path holds nothing of ours queues, and a round trip is the path's own */
const PROBE_PART = 3 / 4
/** Or with so many of the smallest writes */
const PROBE_WRITES = 2
/** A shorter one counts so much: one that was lucky is no measure of the others */
const SHORTER_WEIGHT = 1 / 4
/** A rate below this part of what it was says that the path has changed: it carries less, or its round trip is longer */
const FALLEN_PART = 0.75

/** A round trip is not longer if the marks of another connection wait for so much of the difference: both share a line, and its queue */
const SHARED_PART = 1 / 2

/** Of another that carries less than this part the queue is no measure: it may be its own, on a slow path */
const SHARING_PART = 1 / 4
/** What it has seen counts for so long */
const SEEN_MS = 2000

/** A probe that finds no empty path so soon has not emptied it: others fill it */
const MAX_PROBE_ROUNDS = 3
/** A path that has become faster and longer at once may look as it did: now and then its round trip is measured anew */
const PROBE_EVERY_MS = 120_000
const PROBE_EVERY_ROUND_TRIPS = 1000
/** One that has changed is measured again so much sooner: others may have made it longer, and a part of that comes off each time */
const CHANGED_PROBE_PART = 1 / 12

const VALID_ROUND_TRIPS = 10
const VALID_MS = 500
/** A mark that finds the path empty has a short round trip, and the ones before and behind it may be half a second apart */
const VALID_SAMPLES = 4

/** Between two marks. The 12 bytes of one are less than 0.1 % of it. */
export const MIN_MARK_EVERY_BYTES = 16_384
export const MARKS_UNDER_WAY = 8
/** There are no more marks than one in so many milliseconds */
export const MARK_INTERVAL_MS = 5

/** A record of 64 KiB takes 262 ms at 2 Mbit/s */
const WRITES_PER_BOUND = 8
export const MIN_WRITE_BYTES = 4096

/** What connections of a node know of their paths. Some may share a line. */
export type NodePaths = Set<PathEstimate>

export interface PathSample {
  nowMs: number
  /** From when the mark was written until its pong came */
  roundTripMs: number
  /** So much has arrived in so long */
  deliveredBytes: number
  intervalMs: number
  /** What was under way when the mark was written */
  markedBytes: number
  /** What has arrived since the pong before */
  arrivedBytes: number
  /** Nothing came from the peer for so long before this pong, or before those with which it came */
  silentMs: number
  /** There was no more to send: the path may carry more than this */
  isAppLimited: boolean
  /** The bound has held data back */
  isBoundLimited: boolean
  /** The mark was written when the one that began the last round had been answered */
  isNewRound: boolean
  /** What is under way now */
  underWayBytes: number
}

/**
 * - `first`: no ping was answered yet
 * - `lifted`: the peer answers none
 * - `startUp`: the rate may be higher than all that was measured
 * - `steady`: the bound is what the path needs
 * - `probing`: less than that, until a mark finds the path empty and measures its round trip
 */
type Phase = 'first' | 'lifted' | 'startUp' | 'steady' | 'probing'

export class PathEstimate {
  boundBytes = FIRST_BYTES
  /** From here on data waits: another write would go beyond the bound */
  holdsFromBytes = FIRST_BYTES
  /** What one write may hold */
  writeBytes: number
  /** Undefined until it was measured */
  roundTripMs: number | undefined
  /** The peer sends marks of its own */
  isPeerBounded = false
  /** The shortest that was ever seen */
  #shortestRoundTripMs = Infinity
  /** How long what is handed down may wait below the muxer */
  readonly #maxQueueDelayMs: number
  readonly #maxWriteBytes: number
  readonly #rate = new RecentHighest()
  readonly #clumps = new PongClumps()
  /** Of all connections of this node that have lately measured something, this one among them */
  readonly #nodePaths: NodePaths
  /** How long the last mark waited beyond the path's own round trip */
  #queueMs = 0
  #phase: Phase = 'first'
  /** A sample has shown what the path carries, not only what was asked of it */
  #isRateKnown = false
  /** Until the rate is known so much may be under way: 256 KiB, or twice what a transport that said "wait" had taken when the first pong came */
  #floorBytes = FIRST_BYTES
  /** The rate when it last grew, or when the path was last found to be as it was */
  #referenceBytesPerMs = 0
  #roundsWithoutGrowth = 0
  #probeRounds = 0
  /** The last probe has found another round trip */
  #hasChanged = false
  #sampledMs = 0
  #probedMs = 0

  constructor (maxQueueDelayMs: number, maxWriteBytes: number, nodePaths: NodePaths = new Set()) {
    this.#nodePaths = nodePaths
    this.#maxQueueDelayMs = maxQueueDelayMs
    this.#maxWriteBytes = maxWriteBytes
    this.writeBytes = maxWriteBytes
  }

  /** What the path carries; 0 until it was measured */
  get bytesPerMs (): number {
    return this.#rate.value
  }

  /** A ping was answered that is no mark */
  onRoundTrip (roundTripMs: number): void {
    this.#shortestRoundTripMs = Math.min(this.#shortestRoundTripMs, roundTripMs)
    this.#beginAnew()

    if (roundTripMs <= this.#knownRoundTripMs) {
      this.#shortenRoundTrip(roundTripMs)
    }

    this.#setBound()
  }

  onSample (sample: PathSample): void {
    const { nowMs, roundTripMs, isAppLimited } = sample
    this.#shortestRoundTripMs = Math.min(this.#shortestRoundTripMs, roundTripMs)
    // writes are whole, and marks come on top
    const isEmpty = sample.markedBytes <= this.#probeBytes + this.writeBytes / 2

    if (!this.#isRateKnown && this.#phase === 'lifted') {
      this.#floorBytes = Math.max(FIRST_BYTES, 2 * sample.underWayBytes)
    }

    this.#beginAnew()
    const validMs = this.#chooseValidMs(sample)
    this.#rate.learn(sample.deliveredBytes / sample.intervalMs, isAppLimited, nowMs, validMs)
    this.#clumps.learn(sample, this.bytesPerMs, validMs)
    this.#sampledMs = nowMs
    this.#note(roundTripMs - this.#knownRoundTripMs, nowMs)
    this.#isRateKnown ||= !isAppLimited || sample.intervalMs >= FILLED_ROUND_TRIPS * this.#knownRoundTripMs

    if (this.#phase === 'startUp' && sample.isNewRound && !isAppLimited) {
      this.#lookForGrowth(nowMs)
    } else if (this.#phase === 'steady' && sample.isBoundLimited) {
      this.#lookForChange(nowMs)
    }

    if (this.#phase === 'probing' && isEmpty) {
      this.#endProbe(roundTripMs, nowMs)
    } else if (this.#phase === 'probing' && sample.isNewRound && ++this.#probeRounds > MAX_PROBE_ROUNDS) {
      this.#steady()
    } else if (roundTripMs <= this.#knownRoundTripMs) {
      this.#shortenRoundTrip(roundTripMs)
    }

    this.#setBound()
  }

  /** Before anything was measured the transport's own "wait" is the bound: it has less room than is allowed here */
  onTransportFull (): void {
    if (!this.#isRateKnown) {
      this.lift()
    }
  }

  /** No pong comes: nothing is held back until one does */
  lift (): void {
    this.#phase = 'lifted'
    this.#setBound()
  }

  /** As many round trips of the path's own as BBR takes: those that wait in a queue would keep a rate for minutes that has fallen to a hundredth */
  #chooseValidMs ({ nowMs, roundTripMs }: PathSample): number {
    const ownRoundTripMs = Math.min(roundTripMs, this.#knownRoundTripMs)

    return Math.max(VALID_MS, VALID_ROUND_TRIPS * ownRoundTripMs, VALID_SAMPLES * (nowMs - this.#sampledMs))
  }

  get #knownRoundTripMs (): number {
    return this.roundTripMs ?? Infinity
  }

  /** With so little under way nothing of ours queues */
  get #probeBytes (): number {
    return Math.max(PROBE_WRITES * MIN_WRITE_BYTES, PROBE_PART * this.bytesPerMs * (this.roundTripMs ?? 0))
  }

  /** What two writes took when the path was last found to be as it was: at a low rate they, not the path, would be most of a round trip */
  get #probeMs (): number {
    return PROBE_WRITES * MIN_WRITE_BYTES / this.#referenceBytesPerMs
  }

  /** Less arrives than when the path was last found to be as it was */
  get #hasFallen (): boolean {
    return this.bytesPerMs < this.#referenceBytesPerMs * FALLEN_PART
  }

  #beginAnew (): void {
    if (this.#phase === 'lifted' || this.#phase === 'first') {
      this.#startUp()
    }
  }

  #startUp (): void {
    this.#phase = 'startUp'
    this.#referenceBytesPerMs = 0
    this.#roundsWithoutGrowth = 0
  }

  #lookForGrowth (nowMs: number): void {
    if (this.bytesPerMs >= this.#referenceBytesPerMs * GROWTH) {
      this.#referenceBytesPerMs = this.bytesPerMs
      this.#roundsWithoutGrowth = 0
    } else if (++this.#roundsWithoutGrowth >= ROUNDS_WITHOUT_GROWTH) {
      this.#steady()
      this.#probedMs = nowMs
    }
  }

  #lookForChange (nowMs: number): void {
    this.#referenceBytesPerMs = Math.max(this.#referenceBytesPerMs, this.#rate.confirmed)
    const probeAfterMs = Math.max(PROBE_EVERY_MS, PROBE_EVERY_ROUND_TRIPS * (this.roundTripMs ?? 0)) * (this.#hasChanged ? CHANGED_PROBE_PART : 1)
    const isProbeDue = Math.abs(nowMs - this.#probedMs) >= probeAfterMs

    if (isProbeDue || this.#hasFallen) {
      this.#probe(nowMs)
    }
  }

  #shortenRoundTrip (roundTripMs: number): void {
    this.roundTripMs = this.roundTripMs === undefined ? roundTripMs : this.roundTripMs + SHORTER_WEIGHT * (roundTripMs - this.roundTripMs)
  }

  /** The round trip of a mark with next to nothing of ours under way is the path's own, longer or shorter than it was */
  #endProbe (roundTripMs: number, nowMs: number): void {
    const ownRoundTripMs = Math.max(this.#knownRoundTripMs, roundTripMs - this.#probeMs)
    const isShared = this.#sharesQueue(ownRoundTripMs - this.#knownRoundTripMs, nowMs)
    const foundMs = Math.min(roundTripMs, isShared ? this.#knownRoundTripMs : ownRoundTripMs, this.#longestRoundTripMs)
    this.#hasChanged = Math.max(foundMs, this.#knownRoundTripMs) > Math.min(foundMs, this.#knownRoundTripMs) * GROWTH
    this.roundTripMs = foundMs
    this.#steady()
  }

  /**
   * The queue that a mark found, so much longer than the path, is that of another connection of this node on the same line: its marks wait
   * there as well. To take it for a longer path would make each give way to the others, and all queues grow. When all have lost rate, and
   * nobody has taken it, it is the line that has become longer.
   */
  #sharesQueue (queueMs: number, nowMs: number): boolean {
    for (const other of this.#nodePaths) {
      if (other !== this && !other.#hasFallen && other.#queueMs >= queueMs * SHARED_PART && other.bytesPerMs >= this.bytesPerMs * SHARING_PART &&
        Math.abs(nowMs - other.#sampledMs) < SEEN_MS) {
        return true
      }
    }

    return false
  }

  /** For others of this node. Those that have not measured anything for long make room. */
  #note (queueMs: number, nowMs: number): void {
    if (!this.#nodePaths.has(this)) {
      this.#nodePaths.forEach(path => {
        if (Math.abs(nowMs - path.#sampledMs) >= SEEN_MS) {
          this.#nodePaths.delete(path)
        }
      })
      this.#nodePaths.add(this)
    }

    this.#queueMs = queueMs
  }

  /**
   * A peer that bounds what it has under way makes pongs wait for as long as we may make its. To take more for a longer path would make each
   * end give way to the other's queue, and both grow.
   */
  get #longestRoundTripMs (): number {
    return this.isPeerBounded ? this.#shortestRoundTripMs * (1 + ROUND_TRIP_GAIN) + this.#maxQueueDelayMs + MIN_MARK_EVERY_BYTES / this.bytesPerMs : Infinity
  }

  #steady (): void {
    this.#phase = 'steady'
    this.#referenceBytesPerMs = this.#rate.confirmed
  }

  #probe (nowMs: number): void {
    this.#phase = 'probing'
    this.#probedMs = nowMs
    this.#probeRounds = 0
  }

  #setBound (): void {
    const boundBytes = this.#chooseBound()
    this.writeBytes = Math.min(this.#maxWriteBytes, Math.max(MIN_WRITE_BYTES, Math.floor(boundBytes / WRITES_PER_BOUND)))
    // writes are whole, so what is under way is within half a write of it
    this.holdsFromBytes = boundBytes - this.writeBytes / 2
    this.boundBytes = boundBytes
  }

  #chooseBound (): number {
    switch (this.#phase) {
      case 'lifted':
        return Infinity
      case 'startUp':
        return Math.max(this.#isRateKnown ? START_UP_BYTES : this.#floorBytes, this.#carriedBytes(START_UP_GAIN), START_UP_GAIN * this.#neededBytes)
      case 'probing':
        return this.#probeBytes
      default:
        return Math.max(this.#carriedBytes(ROUND_TRIP_GAIN), ROUND_TRIP_GAIN * this.#neededBytes) + this.#unknownBytes + MIN_WRITE_BYTES
    }
  }

  /** In so many round trips, and in the time that what is handed down may wait */
  #carriedBytes (roundTrips: number): number {
    return this.bytesPerMs * (roundTrips * (this.roundTripMs ?? 0) + this.#maxQueueDelayMs)
  }

  /** With less the path runs empty: what it carries in a round trip, and until pongs come that come together */
  get #neededBytes (): number {
    return this.bytesPerMs * (this.roundTripMs ?? 0) + this.#clumps.bytes
  }

  /** What has arrived since the last mark, and still counts as under way. With no more than that a slow path would be empty when a pong comes. */
  get #unknownBytes (): number {
    return Math.max(MIN_MARK_EVERY_BYTES, this.#carriedBytes(ROUND_TRIP_GAIN) / MARKS_UNDER_WAY, this.bytesPerMs * MARK_INTERVAL_MS)
  }
}
