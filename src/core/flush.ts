/**
 * Decides when to flush, by `coalesce.strategy`. Urgent data, control frames and answers to the last chunk are delayed least.
 * Owns no timer and no bytes. Hot: runs for each send that finds no flush scheduled.
 */
import type { PathControl } from './path-control.ts'
import type { ControlLane } from './scheduler/control.ts'
import type { DataLanes } from './scheduler/lanes.ts'
import type { RoundTrip } from './window/round-trip.ts'

/*
 * What made the output. It leaves within the call that made it, ahead of other work such as libp2p's on a new stream, if this turn of the event
 * loop has had fewer flushes than this number.
 */

/** The application, libp2p or time */
export const ON_WRITE = 0
/** An inbound chunk was handled, and its streams were told */
export const ON_CHUNK = 1
/**
 * This side has opened its first stream of this turn. When requests follow one another, the FIN of the previous one has already been flushed in
 * this turn.
 */
export const ON_OPENING = 2

/* When to flush: more is sooner. A new decision replaces the scheduled flush only if it is sooner. */

/** The scheduled flush stays */
export const KEEP = 0
/** After a delay */
export const LATER = 1
/** In the turn after the next, when the event loop has polled timers, sockets and files once more */
export const TURN_AFTER_NEXT = 2
/** In the next turn of the event loop */
export const NEXT_TURN = 3
/** After a microtask without further output */
export const SOON = 4
/** Inside the current call */
export const NOW = 5

/**
 * The reason for a flush:
 *
 * - `urgent`: urgent data
 * - `control`: control frames
 * - `acks`: only ACKs, or updates that give new streams a head start, with nothing to ride on
 * - `turn`: the running code has made all its output
 * - `chunk`: an inbound chunk was handled
 * - `next-turn`: the turn before had enough flushes
 * - `rest`: bytes that full writes left over, and nothing joined
 * - `delay`: the delay is over
 * - `watermark`: enough data is queued
 * - `off`: coalescing is off
 * - `drain`: the transport takes more again
 * - `forced`: none of these could be waited for
 */
export type FlushReason = 'urgent' | 'control' | 'acks' | 'turn' | 'chunk' | 'next-turn' | 'rest' | 'delay' | 'watermark' | 'off' | 'drain' | 'forced'

/** The parts of a session that a decision depends on */
export interface FlushSubject {
  readonly isClosing: boolean
  readonly receivedMs: number
  readonly lanes: Pick<DataLanes<never>, 'queuedBytes' | 'hasUrgent'>
  readonly control: Pick<ControlLane<never>, 'cannotWait'>
  readonly path: Pick<PathControl, 'isMarkDue'>
  readonly roundTrip: Pick<RoundTrip, 'shorterMs'>
}

/** What this turn of the event loop has written so far */
export interface Turn {
  /** The number of flushes */
  readonly flushes: number
  /** Enough for one turn: all but urgent data waits for the next */
  readonly isSpent: boolean
  /** Too much even for urgent data: everything waits for the next turn */
  readonly isExhausted: boolean
  /** The answer to a chunk that arrived at `receivedMs` does not wait for the next turn, despite the flushes so far */
  takesAnswer (receivedMs: number): boolean
}

export interface FlushDecision {
  /** From KEEP to NOW */
  readonly promptness: number
  readonly reason: FlushReason
  /** For LATER */
  readonly delayMs: number
}

export interface FlushInit {
  strategy: 'turn' | 'delay' | 'adaptive' | 'off'
  /** How long data waits, counted from the first byte of a write: with `delay`, and at most with `adaptive` */
  delayMs: number
  maxDelayMs: number
  /** With this much data queued, the flush does not wait */
  watermarkBytes: number
}

/**
 * libp2p answers a new stream in two steps of one turn: it agrees on the protocol, then the handler writes. The second step must not wait for
 * the next turn. With more flushes per turn, a loop that awaits each send would make one write per message.
 */
const MAX_FLUSHES_PER_TURN = 3

/** The part of the round trip: a delay that is short compared with the time that the bytes travel */
const ADAPTIVE_DELAY_PART = 1 / 4

/** The turn has had enough flushes: only urgent data, and answers to the last chunk, leave before the next */
const ENOUGH = decision(NEXT_TURN, 'next-turn')
const URGENT_NOW = decision(NOW, 'urgent')
const URGENT_SOON = decision(SOON, 'urgent')
const CONTROL_NOW = decision(NOW, 'control')
const CONTROL_SOON = decision(SOON, 'control')
/**
 * The peer does not wait for an ACK. The first bytes of the stream arrive a turn later, and the ACK rides on the answer to them, which saves
 * a record.
 */
const ACKS = decision(TURN_AFTER_NEXT, 'acks')
const CHUNK_NOW = decision(NOW, 'chunk')
const TURN_SOON = decision(SOON, 'turn')
/**
 * The last bytes of a message of 64 KiB do not fit into its record. If the next message comes in the next turn, as from a file, they leave
 * with it and need no record of their own.
 */
const REST = decision(TURN_AFTER_NEXT, 'rest')
const FULL = decision(SOON, 'watermark')
const TOO_SHORT = decision(NEXT_TURN, 'delay')
const KEPT = decision(KEEP, 'delay')
const OFF_NOW = decision(NOW, 'off')

/**
 * - `turn`: output leaves after a microtask without more of it, and answers to an inbound chunk right after the chunk. If a turn keeps making
 *   output, the rest leaves together in the next one. No timers, and a limited number of flushes per turn.
 * - `delay`: data waits for a time, or until enough is queued. It leaves earlier with output that does not wait.
 * - `adaptive`: as `delay`, for at most a quarter of the round trip. Nothing waits before a round trip was measured.
 * - `off`: every frame is a write of its own, inside the call that made it. For comparisons, and for peers that need it.
 */
export class FlushPolicy {
  /** Each frame is a write of its own. A message that a listener sends leaves while it runs; with other strategies after all listeners. */
  readonly isOff: boolean
  /** Data waits for more. So does a SYN: a few microtasks later it leaves with libp2p's protocol negotiation, which then need not wait. */
  readonly isDelaying: boolean
  readonly #init: FlushInit
  readonly #shortestTimerMs: number

  /** A delay below `shortestTimerMs` ends with the turn */
  constructor (init: FlushInit, shortestTimerMs: number) {
    this.isOff = init.strategy === 'off'
    this.isDelaying = init.strategy === 'delay' || init.strategy === 'adaptive'
    this.#init = init
    this.#shortestTimerMs = shortestTimerMs
  }

  /** When output leaves that the transport would take now. `isRest`: the last flush left it over after full writes. */
  decide (occasion: number, turn: Turn, isRest: boolean, isScheduled: boolean, session: FlushSubject): FlushDecision {
    const isNow = !turn.isSpent && turn.flushes < occasion
    const isEnough = turn.isSpent || turn.flushes >= MAX_FLUSHES_PER_TURN
    const whenEnough = isEnough && occasion === ON_CHUNK && turn.takesAnswer(session.receivedMs) ? CHUNK_NOW : ENOUGH

    if (this.isOff) {
      // each write leads to the next decision, until the turn is spent
      return turn.isSpent ? whenEnough : OFF_NOW
    }

    if (session.lanes.hasUrgent) {
      return turn.isExhausted ? ENOUGH : isNow ? URGENT_NOW : URGENT_SOON
    }

    if (session.control.cannotWait || session.path.isMarkDue) {
      return isEnough ? whenEnough : isNow ? CONTROL_NOW : CONTROL_SOON
    }

    if (session.lanes.queuedBytes === 0) {
      return ACKS
    }

    if (this.isDelaying && !session.isClosing) {
      return this.#delay(session, isEnough ? whenEnough : FULL, isScheduled)
    }

    return isEnough ? whenEnough : isRest ? REST : isNow ? CHUNK_NOW : TURN_SOON
  }

  #delay ({ lanes, roundTrip }: FlushSubject, full: FlushDecision, isScheduled: boolean): FlushDecision {
    const { strategy, watermarkBytes, delayMs, maxDelayMs } = this.#init

    if (lanes.queuedBytes >= watermarkBytes) {
      return full
    }

    const waitMs = strategy === 'delay' ? delayMs : Math.min(maxDelayMs, (roundTrip.shorterMs ?? 0) * ADAPTIVE_DELAY_PART)

    return isScheduled ? KEPT : waitMs < this.#shortestTimerMs ? TOO_SHORT : decision(LATER, 'delay', waitMs)
  }
}

function decision (promptness: number, reason: FlushReason, delayMs = 0): FlushDecision {
  return { promptness, reason, delayMs }
}
