/**
 * When to write: the strategies of `coalesce.strategy`, and what they delay least: urgent data, control frames, and answers to what has
 * just come in. Owns no timer and no bytes. Hot: decides for each send that finds nothing arranged.
 */
import type { PathControl } from './path-control.ts'
import type { ControlLane } from './scheduler/control.ts'
import type { DataLanes } from './scheduler/lanes.ts'
import type { RoundTrip } from './window/round-trip.ts'

/* What has made output */

/** The application, libp2p or time */
export const ON_WRITE = 0
/** An inbound chunk has just been dealt with, and its streams were told */
export const ON_CHUNK = 1
/** This side has opened a stream, the first of this turn. When requests follow each other, the end of one is a flush before the SYN of the next. */
export const ON_OPENING = 2

/**
 * Output of each leaves inside the call, ahead of what the layers below, or libp2p with a new stream, have to do, if this turn of the event
 * loop has flushed fewer times than this
 */
const AT_ONCE_BEFORE_FLUSHES = [0, 1, 2]

/* When to write, the latest first. A new decision replaces what is arranged only if it is earlier. */

/** Nothing to arrange; what is arranged stays */
export const KEEP = 0
/** After a time */
export const LATER = 1
/** When the event loop has come round, and has also looked for what timers, sockets and files have brought */
export const TURN_AFTER_NEXT = 2
/** Once, when the event loop comes round */
export const NEXT_TURN = 3
/** When a microtask has brought no more */
export const SOON = 4
/** Inside the call that made the output */
export const NOW = 5

/**
 * Why bytes were written when they were:
 *
 * - `urgent`: there was urgent data
 * - `control`: there were control frames
 * - `acks`: there were only acknowledgements, or the head start of a new stream's window, and nothing came to take them along
 * - `turn`: what the running code had to say was complete
 * - `chunk`: an inbound chunk had just been dealt with
 * - `next-turn`: the turn before had seen enough flushes
 * - `rest`: nothing came to join what full writes had left behind
 * - `delay`: the delay was over
 * - `watermark`: enough had gathered
 * - `off`: coalescing is off
 * - `drain`: the transport took more again
 * - `forced`: it could not wait for any of this
 */
export type FlushReason = 'urgent' | 'control' | 'acks' | 'turn' | 'chunk' | 'next-turn' | 'rest' | 'delay' | 'watermark' | 'off' | 'drain' | 'forced'

/** What is to be flushed: a session */
export interface FlushSubject {
  readonly isClosing: boolean
  readonly receivedMs: number
  readonly lanes: Pick<DataLanes<never>, 'queuedBytes' | 'hasUrgent'>
  readonly control: Pick<ControlLane<never>, 'hasMoreThanAcks'>
  readonly path: Pick<PathControl, 'isMarkOwed'>
  readonly roundTrip: Pick<RoundTrip, 'shorterMs'>
}

/** What this turn of the event loop has written */
export interface Turn {
  /** How many flushes it has seen */
  readonly flushes: number
  /** It has written so much that all but urgent data waits for the next */
  readonly isSpent: boolean
  /** It has written all that a turn may, urgent data included */
  readonly isOver: boolean
  /** What answers a chunk that came at `receivedMs` does not wait for the next, however many flushes there were */
  takesAnswer (receivedMs: number): boolean
}

export interface FlushDecision {
  readonly time: number
  readonly reason: FlushReason
  /** With LATER */
  readonly delayMs: number
}

export interface FlushInit {
  strategy: 'turn' | 'delay' | 'adaptive' | 'off'
  /** How long data may wait with `delay`, and at most with `adaptive`, decided when the first byte of a write comes */
  delayMs: number
  maxDelayMs: number
  /** So much data does not wait */
  watermarkBytes: number
}

/**
 * Answering a new stream takes libp2p two steps in one turn: the protocol is agreed on, then the
 * handler writes. Held back to the next turn, the second cost a request on a new stream a quarter
 * of its time; more than three flushes would bring back a write a message for loops that await each send.
 */
const MAX_FLUSHES_PER_TURN = 3

/** Of the round trip: so the delay hides in the time that the bytes travel anyway */
const ADAPTIVE_DELAY_PART = 1 / 4

/** Once it is decided, only urgent data leaves sooner, and what answers a chunk that has just come */
const ENOUGH = decision(NEXT_TURN, 'next-turn')
const URGENT_NOW = decision(NOW, 'urgent')
const URGENT_SOON = decision(SOON, 'urgent')
const CONTROL_NOW = decision(NOW, 'control')
const CONTROL_SOON = decision(SOON, 'control')
/**
 * Nobody waits for an ACK. The first bytes of the stream come a round of the loop later, and the answer to them takes it along: a record
 * less for a request on a new stream.
 */
const ACKS = decision(TURN_AFTER_NEXT, 'acks')
const CHUNK_NOW = decision(NOW, 'chunk')
const TURN_SOON = decision(SOON, 'turn')
/**
 * A message of 64 KiB fills a record but for a few bytes. By themselves they cost a record and its writes; when
 * the next message comes with the next round of the loop, as from a file, they leave with it.
 */
const REST = decision(TURN_AFTER_NEXT, 'rest')
const FULL = decision(SOON, 'watermark')
const TOO_SHORT = decision(NEXT_TURN, 'delay')
const KEPT = decision(KEEP, 'delay')
const OFF_NOW = decision(NOW, 'off')

/**
 * - `turn`: what a turn of the event loop produces leaves as soon as a microtask has brought no more, so nothing waits when there is little
 *   to do; what answers an inbound chunk leaves right behind it. When a turn keeps producing, the rest leaves together in the next
 *   one. No timers, and a bounded number of writes a turn.
 * - `delay`: data waits for more until a time, or until there is enough for a write; what waits rides along with what does not
 * - `adaptive`: the same for no longer than a quarter of the round trip. Nothing waits until that was measured.
 * - `off`: every frame is a write of its own, inside the call that made it. For comparison, and for peers that must see that.
 */
export class FlushPolicy {
  /** Each frame is a write of its own. What a listener sends leaves while it runs; otherwise when all listeners have been told. */
  readonly isOff: boolean
  /** Data waits for more. So does the SYN of a stream that is opened: it takes along libp2p's protocol, a few microtasks later, which then need not wait for that. */
  readonly isDelaying: boolean
  readonly #init: FlushInit
  readonly #shortestTimerMs: number

  /** A shorter delay than `shortestTimerMs` ends with the turn */
  constructor (init: FlushInit, shortestTimerMs: number) {
    this.isOff = init.strategy === 'off'
    this.isDelaying = init.strategy === 'delay' || init.strategy === 'adaptive'
    this.#init = init
    this.#shortestTimerMs = shortestTimerMs
  }

  /** There is output and the transport takes it: when should it leave? `isRest`: it is what the last flush left behind its full writes. */
  decide (occasion: number, turn: Turn, isRest: boolean, isArranged: boolean, session: FlushSubject): FlushDecision {
    const isNow = !turn.isSpent && turn.flushes < AT_ONCE_BEFORE_FLUSHES[occasion]
    const isEnough = turn.isSpent || turn.flushes >= MAX_FLUSHES_PER_TURN
    const enough = isEnough && occasion === ON_CHUNK && turn.takesAnswer(session.receivedMs) ? CHUNK_NOW : ENOUGH

    if (this.isOff) {
      // each write decides on the next: when the turn is over that has to stop
      return turn.isSpent ? enough : OFF_NOW
    }

    if (session.lanes.hasUrgent) {
      return turn.isOver ? ENOUGH : isNow ? URGENT_NOW : URGENT_SOON
    }

    if (session.control.hasMoreThanAcks || session.path.isMarkOwed) {
      return isEnough ? enough : isNow ? CONTROL_NOW : CONTROL_SOON
    }

    if (session.lanes.queuedBytes === 0) {
      return ACKS
    }

    if (this.isDelaying && !session.isClosing) {
      return this.#delay(session, isEnough ? enough : FULL, isArranged)
    }

    return isEnough ? enough : isRest ? REST : isNow ? CHUNK_NOW : TURN_SOON
  }

  #delay ({ lanes, roundTrip }: FlushSubject, full: FlushDecision, isArranged: boolean): FlushDecision {
    const { strategy, watermarkBytes, delayMs, maxDelayMs } = this.#init

    if (lanes.queuedBytes >= watermarkBytes) {
      return full
    }

    const waitMs = strategy === 'delay' ? delayMs : Math.min(maxDelayMs, (roundTrip.shorterMs ?? 0) * ADAPTIVE_DELAY_PART)

    return isArranged ? KEPT : waitMs < this.#shortestTimerMs ? TOO_SHORT : decision(LATER, 'delay', waitMs)
  }
}

function decision (time: number, reason: FlushReason, delayMs = 0): FlushDecision {
  return { time, reason, delayMs }
}
