/**
 * What no strategy holds back: urgent data, control frames, and answers to what has just come in.
 */
import type { FlushDecision, FlushOccasion, FlushSnapshot } from './flush-policy.ts'

/**
 * Answering a new stream takes libp2p two steps in one turn: the protocol is agreed on, then the
 * handler writes. Held back to the next turn, the second cost a request on a new stream a quarter
 * of its time; more than three flushes would bring back a write a message for loops that await each send.
 */
const MAX_FLUSHES_PER_TURN = 3

/**
 * After fewer flushes in its turn output goes ahead of what others have to do in it: the layers below, or libp2p with a
 * stream that is open. When requests follow each other, the end of one is a flush before the SYN of the next.
 */
const FLUSHES_BEFORE: Record<FlushOccasion, number> = { write: 0, chunk: 1, opening: 2 }

const URGENT_AT_ONCE: FlushDecision = { time: 'now', reason: 'urgent' }
const URGENT: FlushDecision = { time: 'soon', reason: 'urgent' }
const CONTROL_AT_ONCE: FlushDecision = { time: 'now', reason: 'control' }
const CONTROL: FlushDecision = { time: 'soon', reason: 'control' }
/**
 * Nobody waits for them. The bytes of a new stream, on the way when its SYN came, are there a round later, and what
 * answers them takes the ACK along: a record less for a request on a new stream.
 */
const ACKS: FlushDecision = { time: 'next-round', reason: 'acks' }

/** Once decided, only urgent data leaves before it: no other output of this turn need be decided on */
export const NEXT_TURN: FlushDecision = { time: 'next-turn', reason: 'next-turn' }

/** This turn has seen so many flushes that what is not urgent leaves together in the next */
export function isTurnSpent (snapshot: FlushSnapshot): boolean {
  return snapshot.flushesThisTurn >= MAX_FLUSHES_PER_TURN
}

/** Not later in the turn, when more has come */
export function leavesAtOnce (snapshot: FlushSnapshot): boolean {
  return snapshot.flushesThisTurn < FLUSHES_BEFORE[snapshot.occasion]
}

/** What to do for control frames and urgent data; undefined when there is only data that is not urgent */
export function decideFastLane (snapshot: FlushSnapshot): FlushDecision | undefined {
  if (snapshot.hasUrgent) {
    if (snapshot.isTurnOver) {
      return NEXT_TURN
    }

    return leavesAtOnce(snapshot) ? URGENT_AT_ONCE : URGENT
  }

  if (snapshot.hasControl) {
    if (isTurnSpent(snapshot)) {
      return NEXT_TURN
    }

    return leavesAtOnce(snapshot) ? CONTROL_AT_ONCE : CONTROL
  }

  if (snapshot.queuedBytes === 0) {
    return ACKS
  }

  return undefined
}
