/**
 * The strategies of `coalesce.strategy`, and what none of them delays: urgent data, control frames, and answers to what has just come
 * in.
 */
import type { FlushDecision, FlushOccasion, FlushPolicy, Moment, Output } from './policy.ts'

/**
 * Answering a new stream takes libp2p two steps in one turn: the protocol is agreed on, then the
 * handler writes. Held back to the next turn, the second cost a request on a new stream a quarter
 * of its time; more than three flushes would bring back a write a message for loops that await each send.
 */
const MAX_FLUSHES_PER_TURN = 3

/**
 * Output leaves inside the call when this turn has flushed fewer times: ahead of what the layers below, or libp2p with a new stream,
 * have to do in it. When requests follow each other, the end of one is a flush before the SYN of the next.
 */
const AT_ONCE_BELOW_FLUSHES: Record<FlushOccasion, number> = { write: 0, chunk: 1, opening: 2 }

const URGENT_AT_ONCE: FlushDecision = { time: 'now', reason: 'urgent' }
const URGENT_SOON: FlushDecision = { time: 'soon', reason: 'urgent' }
const CONTROL_AT_ONCE: FlushDecision = { time: 'now', reason: 'control' }
const CONTROL_SOON: FlushDecision = { time: 'soon', reason: 'control' }
/**
 * Nobody waits for an ACK. The first bytes of the stream come a round of the loop later, and the answer to them takes it along: a record
 * less for a request on a new stream.
 */
const ACKS: FlushDecision = { time: 'next-round', reason: 'acks' }

/** The writer knows it by identity: once it is decided, only urgent data leaves sooner */
export const NEXT_TURN: FlushDecision = { time: 'next-turn', reason: 'next-turn' }

/** What to do for control frames and urgent data; undefined when there is only data that is not urgent */
function decideFastLane (moment: Moment, output: Output): FlushDecision | undefined {
  if (output.lanes.hasUrgent) {
    if (moment.turn.isOver) {
      return NEXT_TURN
    }

    return moment.turn.flushes < AT_ONCE_BELOW_FLUSHES[moment.occasion] ? URGENT_AT_ONCE : URGENT_SOON
  }

  if (output.control.hasMoreThanAcks || output.underWay.isMarkOwed) {
    if (moment.turn.flushes >= MAX_FLUSHES_PER_TURN) {
      return NEXT_TURN
    }

    return moment.turn.flushes < AT_ONCE_BELOW_FLUSHES[moment.occasion] ? CONTROL_AT_ONCE : CONTROL_SOON
  }

  return output.lanes.queuedBytes === 0 ? ACKS : undefined
}

const TURN_AT_ONCE: FlushDecision = { time: 'now', reason: 'chunk' }
const TURN_SOON: FlushDecision = { time: 'soon', reason: 'turn' }

/**
 * A message of 64 KiB fills a record but for a few bytes. By themselves they cost a record and its writes; when
 * the next message comes with the next round of the loop, as from a file, they leave with it.
 */
const REST: FlushDecision = { time: 'next-round', reason: 'rest' }

/**
 * What a turn of the event loop produces leaves as soon as a microtask has brought no more, so nothing waits when there is little
 * to do; what answers an inbound chunk leaves right behind it. When a turn keeps producing, the rest leaves together in the next
 * one. No timers, and a bounded number of writes a turn.
 */
export const turn: FlushPolicy = {
  maxFramesPerWrite: Infinity,
  opensAtOnce: true,
  defersRest: true,
  interruptsListeners: false,
  decide (moment, output) {
    const fast = decideFastLane(moment, output)

    if (fast !== undefined) {
      return fast
    }

    if (moment.turn.flushes >= MAX_FLUSHES_PER_TURN) {
      return NEXT_TURN
    }

    if (moment.isRest) {
      return REST
    }

    return moment.turn.flushes < AT_ONCE_BELOW_FLUSHES[moment.occasion] ? TURN_AT_ONCE : TURN_SOON
  }
}

export interface DelayInit {
  /** How long data may wait, decided when the first byte of a write comes */
  delayMs (output: Output): number
  /** So much data does not wait */
  watermarkBytes: number
  /** A shorter delay than the clock's timers can measure ends with the turn */
  shortestTimerMs: number
}

const FULL: FlushDecision = { time: 'soon', reason: 'watermark' }
const TOO_SHORT: FlushDecision = { time: 'next-turn', reason: 'delay' }
const KEEP: FlushDecision = { time: 'keep', reason: 'delay' }

/** Data waits for more until a time, or until there is enough for a write; what waits rides along with what does not */
export function delay ({ delayMs, watermarkBytes, shortestTimerMs }: DelayInit): FlushPolicy {
  return {
    maxFramesPerWrite: Infinity,
    // libp2p writes the stream's protocol a few microtasks later: with the SYN it need not wait for the delay
    opensAtOnce: false,
    defersRest: true,
    interruptsListeners: false,
    decide (moment, output) {
      const fast = decideFastLane(moment, output)

      if (fast !== undefined) {
        return fast
      }

      if (output.lanes.queuedBytes >= watermarkBytes) {
        return moment.turn.flushes >= MAX_FLUSHES_PER_TURN ? NEXT_TURN : FULL
      }

      if (moment.isArranged) {
        return KEEP
      }

      const waitMs = delayMs(output)

      return waitMs < shortestTimerMs ? TOO_SHORT : { time: 'later', reason: 'delay', delayMs: waitMs }
    }
  }
}

/** Of the round trip */
const ADAPTIVE_DELAY_PART = 1 / 4

/**
 * `delay`, but for no longer than a quarter of the round trip, so that it hides in the time that the bytes travel anyway. Nothing
 * waits until the round trip was measured.
 */
export function adaptive ({ maxDelayMs, ...init }: Omit<DelayInit, 'delayMs'> & { maxDelayMs: number }): FlushPolicy {
  return delay({ ...init, delayMs: ({ roundTrip }) => Math.min(maxDelayMs, (roundTrip.shorterMs ?? 0) * ADAPTIVE_DELAY_PART) })
}

const NOW: FlushDecision = { time: 'now', reason: 'off' }

/** No coalescing: every frame is a write of its own, inside the call that made it. For comparison, and for peers that must see that. */
export const off: FlushPolicy = {
  maxFramesPerWrite: 1,
  opensAtOnce: true,
  defersRest: false,
  interruptsListeners: true,
  // each write decides on the next: when the turn is over that has to stop
  decide: ({ turn }) => turn.flushes === Infinity ? NEXT_TURN : NOW
}
